package models

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"blockworld-voice/internal/digest"
	"blockworld-voice/models/convert"
	"blockworld-voice/models/internal/weightstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newStore gives an empty store that is checked at the end: every named file is sound, and
// no file is left over but those that a download may leave to be continued.
func newStore(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "models"))
	if err != nil {
		t.Fatal(err)
	}
	s.retryWait = time.Millisecond
	return s
}

// intact is the integrity check at the end of a test.
func intact(t *testing.T, s *Store, names ...string) {
	t.Helper()
	all, err := s.Verify(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	files := map[string]bool{namesFile: true, lockFile: true}
	for _, c := range all {
		if c.State != Sound {
			t.Errorf("%s is %s: %s", c.Model.Name, c.State, c.Detail)
		}
		got = append(got, c.Model.Name)
		files[filepath.Base(c.Model.Path)] = true
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("the store has %v, want %v", got, names)
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !files[e.Name()] {
			t.Errorf("the file %s is left over", e.Name())
		}
		if st, err := e.Info(); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v", e.Name(), st.Mode(), err)
		}
	}
}

// tinyGGML is a file that the importer made.
func tinyGGML(t testing.TB, seed uint64) []byte {
	t.Helper()
	dir := t.TempDir()
	weightstest.Tiny(seed).WriteHF(t, dir, weightstest.F32, 1)
	var out bytes.Buffer
	if err := convert.Import(context.Background(), dir, &out, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func writeFile(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wantError holds an error to being one for people, with these words in the problem.
func wantError(t *testing.T, err error, is error, says string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("err = %v (%T), want a *models.Error", err, err)
	}
	if is != nil && !errors.Is(err, is) {
		t.Errorf("error %q is not %q", err, is)
	}
	if !strings.Contains(err.Error(), says) {
		t.Errorf("error %q does not say %q", err, says)
	}
	if e.Hint == "" {
		t.Errorf("error %q has no next step", err)
	}
}

var none digest.Digest
