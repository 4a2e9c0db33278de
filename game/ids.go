package game

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
)

// RunID names one run: one attempt at one score. It is never used twice.
type RunID string

// newRun makes an identity that no other run has.
func newRun() RunID {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return RunID(hex.EncodeToString(b[:]))
}

// ParseRun reads 32 lower-case hexadecimal digits.
func ParseRun(s string) (RunID, error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != 16 || hex.EncodeToString(b) != s {
		return "", fmt.Errorf("%q is no run", s)
	}
	return RunID(s), nil
}
