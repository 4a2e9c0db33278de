package sockpath

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLongPaths(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 50))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "control.sock")
	open := func() string {
		t.Helper()
		short, release, err := Short(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(release)
		if len(short) > longest {
			t.Fatal(short)
		}
		return short
	}
	l, err := net.Listen("unix", open())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if st, err := os.Lstat(path); err != nil || st.Mode().Type() != fs.ModeSocket {
		t.Fatal(st, err)
	}
	c, err := net.Dial("unix", open())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}

func TestShortPathsStay(t *testing.T) {
	path := "/" + strings.Repeat("a", longest-1)
	if short, release, err := Short(path); err != nil || short != path {
		t.Fatal(short, err)
	} else {
		release()
	}
}

func TestUnreachable(t *testing.T) {
	if _, _, err := Short(filepath.Join(t.TempDir(), strings.Repeat("n", 100), "control.sock")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, _, err := Short(filepath.Join(t.TempDir(), strings.Repeat("n", 100))); err == nil {
		t.Error("a name that fits no address was taken")
	}
}
