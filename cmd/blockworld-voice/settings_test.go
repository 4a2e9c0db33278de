package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blockworld-voice/transcribe"
)

// A speech profile changes the limits that it names, and no others.
func TestSpeechProfileLimits(t *testing.T) {
	dir := t.TempDir()
	read := func(recognition string) (settings, error) {
		path := filepath.Join(dir, "speech.json")
		if err := os.WriteFile(path, []byte(`{"workspace":"`+dir+`"`+recognition+`}`), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := readSpeechProfile(path)
		s := settings{thresholds: transcribe.Provisional()}
		s.apply(d)
		return s, err
	}
	plain, err := read("")
	if err != nil || plain.thresholds.Name != transcribe.Provisional().Name {
		t.Fatalf("without limits: %+v, %v", plain.thresholds, err)
	}
	s, err := read(`,"recognition":{"coordinates":{"gap":7}}`)
	want := transcribe.Provisional().Limit
	if err != nil || !strings.HasPrefix(s.thresholds.Name, "speech profile") {
		t.Fatalf("%+v, %v", s.thresholds, err)
	}
	for class, l := range s.thresholds.Limit {
		w := want[class]
		if class == transcribe.Coordinates {
			w.Gap = 7
		}
		if l != w {
			t.Errorf("%v: %+v, want %+v", class, l, w)
		}
	}
	for _, bad := range []string{`{"coordinates":{"gap":1e9}}`, `{"coordinates":{"nearness":1}}`, `{"walks":{}}`} {
		if _, err := read(`,"recognition":` + bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
