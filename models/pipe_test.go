package models

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe is refused at once: nobody may ever write to it.
func TestResolveRefusesAPipe(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "pipe.bin")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Resolve(path); err == nil || !strings.Contains(err.Error(), "not a plain file") {
		t.Fatalf("a pipe: %v", err)
	}
}
