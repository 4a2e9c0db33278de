// Package testmodel finds the weights that the tests run on. Set-up puts them into the
// model store; a test without them fails.
package testmodel

import (
	"os"
	"path/filepath"
	"testing"

	"blockworld-voice/internal/digest"
)

// SHA256 is the digest of the base weights.
const SHA256 = "60ed5bc3dd14eea856493d334349b405782ddcaf0028d4b5df4088345fba2efe"

// Base returns the path of the base weights in the model store of this user.
func Base(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("XDG_DATA_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(home, ".local", "share")
	}
	path := filepath.Join(dir, "blockworld-voice", "models", "sha256-"+SHA256)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("the base weights are not in the model store: %v\nrun: make test", err)
	}
	return path
}

// Digest returns the digest of the base weights.
func Digest(t testing.TB) digest.Digest {
	t.Helper()
	d, err := digest.Parse(SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
