package models

import (
	"context"
	"testing"

	"blockworld-voice/models/internal/weightstest"
)

// basePath is the default model in the user's store, where the set-up puts it.
func basePath(t *testing.T) string {
	t.Helper()
	dir, err := DefaultDir()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Resolve(Default)
	if err != nil {
		t.Fatalf("%v; run: make setup", err)
	}
	return m.Path
}

// The weights of `base`, written in every published form, come back as the official bytes.
func TestOfficialDigestFromEveryForm(t *testing.T) {
	w := weightstest.FromGGML(t, basePath(t))
	want, ok := Lookup(Default)
	if !ok {
		t.Fatal("the default model is not in the catalogue")
	}
	forms := []struct {
		name  string
		write func(dir string)
	}{
		{"CTranslate2", func(dir string) { w.WriteCT2(t, dir, w.CT2(weightstest.F16)) }},
		{"safetensors", func(dir string) { w.WriteHF(t, dir, weightstest.F16, 1) }},
		{"safetensors in shards", func(dir string) { w.WriteHF(t, dir, weightstest.F32, 3) }},
	}
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			s, dir := newStore(t), t.TempDir()
			f.write(dir)
			m, err := s.Import(context.Background(), dir, "", none, nil)
			if err != nil {
				t.Fatal(err)
			}
			if m.SHA256 != want.SHA256 || m.Size != want.Size || m.Name != Default || m.Trust != TrustCatalogue {
				t.Errorf("Import = %+v", m)
			}
		})
	}

	t.Run("a flipped bit", func(t *testing.T) {
		s, dir := newStore(t), t.TempDir()
		c := w.CT2(weightstest.F16)
		c.Var("encoder/layer_3/ffn/linear_0/weight").Data[123456] ^= 1
		w.WriteCT2(t, dir, c)
		_, err := s.Import(context.Background(), dir, "base", none, nil)
		wantError(t, err, ErrDigest, "base")
		intact(t, s)
	})
}
