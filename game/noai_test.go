package game

import (
	"os"
	"path/filepath"
	"testing"
)

// Extras that are there and can't be read may forbid: they do.
// contract: A7
func TestUnreadableExtrasForbid(t *testing.T) {
	home := t.TempDir()
	if noAI(home) || noAI("") {
		t.Fatal("a home without extras forbids")
	}
	if err := os.Mkdir(filepath.Join(home, "horizon-extras.txt"), 0o700); err != nil {
		t.Fatal(err)
	}
	if !noAI(home) {
		t.Fatal("extras that can't be read allow")
	}
}
