package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/qualify"
	"blockworld-voice/models"
	"blockworld-voice/transcribe"
)

// Every table that is built in is whole, says what it was made of, and is the one of a
// model of the catalogue.
func TestFittedTables(t *testing.T) {
	names, err := filepath.Glob("thresholds/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no table: %v", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := qualify.ReadThresholds(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if f.Clips == 0 || f.Corpus == (digest.Digest{}) || len(f.Command) == 0 || len(f.LeftOut) == 0 {
			t.Errorf("%s doesn't say what it was made of: %+v", name, f)
		}
		got, fitted, err := thresholdsFor(f.ModelSHA)
		if err != nil || !fitted || got.Name != f.Name {
			t.Errorf("%s is not used for its own model: %+v, %v, %v", name, got, fitted, err)
		}
		if bytes.Contains(data, []byte("/tmp/")) || bytes.Contains(data, []byte("/root")) {
			t.Errorf("%s names a path of one machine", name)
		}
	}
}

// An unknown model refuses more than a known one, in every figure.
func TestUnknownModelIsConservative(t *testing.T) {
	got, fitted, err := thresholdsFor(digest.Of([]byte("another model")))
	if err != nil || fitted || !strings.HasPrefix(got.Name, "conservative") {
		t.Fatalf("%+v, %v, %v", got, fitted, err)
	}
	base, fitted, err := thresholdsFor(baseDigest(t))
	if err != nil || !fitted {
		t.Fatalf("the default model has no table: %v", err)
	}
	for _, c := range []transcribe.Class{transcribe.Plain, transcribe.Coordinates, transcribe.Text} {
		g, b := got.Limit[c], base.Limit[c]
		if g.D <= b.D || g.Gap < b.Gap || g.End < b.End || g.Pace > b.Pace || g.CarefulGap < b.CarefulGap || g.WitnessD <= b.WitnessD || g.WitnessGap < b.WitnessGap || g.Language < b.Language {
			t.Errorf("%v: %+v is milder than %+v", c, g, b)
		}
	}
}

// baseDigest is the digest of the default model's weights in the catalogue.
func baseDigest(t *testing.T) digest.Digest {
	t.Helper()
	for _, e := range models.Catalogue() {
		if e.Name == "base" {
			return e.SHA256
		}
	}
	t.Fatal("the catalogue has no base model")
	return digest.Digest{}
}
