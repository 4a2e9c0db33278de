package checkout

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func tree(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(f)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAround(t *testing.T) {
	dir := tree(t, "a/.git", "a/inner/go.mod", "b/go.mod", "c/readme")
	for path, want := range map[string]string{"a": "a", "a/inner/deep": "a", "b/x/y": "b"} {
		if got, ok := Around(filepath.Join(dir, path)); !ok || got != filepath.Join(dir, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
	if got, ok := Around(filepath.Join(dir, "c")); ok {
		t.Errorf("c lies in %s", got)
	}
}

// From outside a checkout the ones around the workspace and the program are still found.
func TestRoots(t *testing.T) {
	dir := tree(t, "a/.git", "c/readme")
	t.Chdir(filepath.Join(dir, "c"))
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(dir, "a")
	got := Roots(filepath.Join(want, "workspace"), filepath.Join(want, "other"))
	if got[0] != want || slices.Contains(got[1:], want) {
		t.Errorf("%v", got)
	}
	if got := Roots(); len(got) != 1 || got[0] != exe { // a test's program lies in no checkout
		t.Errorf("%v", got)
	}
	t.Chdir(filepath.Join(dir, "a"))
	if got := Roots(); len(got) != 1 || got[0] != want {
		t.Errorf("%v", got)
	}
}
