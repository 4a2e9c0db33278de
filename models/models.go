// Package models keeps speech recognition weights: a catalogue of what is known, and a store
// in which every file is named by its digest and has one or more readable names.
//
// Weights get into the store by Pull (https), Add (a file that is there) and Import
// (conversion); each puts a file there whole and verified, or leaves the store as it was.
// Several processes may use one store.
package models

import (
	"errors"
	"fmt"

	"blockworld-voice/internal/digest"
)

// Error is a failure for people: what is wrong and what to do next.
type Error struct {
	Problem string
	Hint    string // "" when there is no next step
	Err     error  // cause, or nil
	Misuse  bool   // what was asked for makes no sense here; nothing is broken
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Problem
	}
	return e.Problem + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// ErrNotInstalled is in the chain of an error about a model that the store does not hold.
var ErrNotInstalled = errors.New("not installed")

// ErrDigest is in the chain of an error about bytes that are not the ones asked for.
var ErrDigest = errors.New("wrong digest")

// misuse is failf for a wrong request.
func misuse(hint string, cause error, format string, args ...any) error {
	return &Error{Problem: fmt.Sprintf(format, args...), Hint: hint, Err: cause, Misuse: true}
}

func failf(hint string, cause error, format string, args ...any) error {
	return &Error{Problem: fmt.Sprintf(format, args...), Hint: hint, Err: cause}
}

// Trust says why the digest of a model is believed.
type Trust uint8

const (
	TrustCatalogue Trust = iota // it is the catalogue's
	TrustGiven                  // the user gave it
	TrustFirstUse               // recorded when the model was pulled for the first time
	TrustLocal                  // recorded when a local file was added or converted
)

var trustNames = [...]string{TrustCatalogue: "catalogue", TrustGiven: "given", TrustFirstUse: "first-use", TrustLocal: "local"}

func (t Trust) String() string { return trustNames[t] }

// MarshalText writes the name of t.
func (t Trust) MarshalText() ([]byte, error) {
	if int(t) >= len(trustNames) {
		return nil, fmt.Errorf("no kind of trust has the number %d", t)
	}
	return []byte(trustNames[t]), nil
}

// UnmarshalText is the inverse of MarshalText.
func (t *Trust) UnmarshalText(b []byte) error {
	for i, name := range trustNames {
		if name == string(b) {
			*t = Trust(i)
			return nil
		}
	}
	return fmt.Errorf("no kind of trust is called %q", b)
}

// Model is a file of weights that can be used.
type Model struct {
	Name   string // "base"; for a file outside the store its base name
	Path   string // absolute
	Size   int64
	SHA256 digest.Digest
	Origin string // where it came from
	Trust  Trust
	Stored bool // it is in the store
}

// Progress is told how many bytes are done, and of how many (0: unknown). It is called on
// the goroutine of the caller and should return at once.
type Progress func(done, total int64)
