package evidence

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"
)

// SessionID names a session's folder: UTC date, time, microseconds and eight random digits,
// as "20261130-184840-123456-9f3a21c4". Names sort by time. The zero value is no session.
type SessionID struct{ s string }

const sessionTime = "20060102-150405"

// newSessionID returns a fresh identity for the moment now.
func newSessionID(now time.Time) SessionID {
	now = now.UTC()
	var r [4]byte
	rand.Read(r[:])
	return SessionID{fmt.Sprintf("%s-%06d-%x", now.Format(sessionTime), now.Nanosecond()/1000, r)}
}

// ParseSessionID accepts exactly the form that NewSession makes.
func ParseSessionID(s string) (SessionID, error) {
	bad := func() (SessionID, error) {
		return SessionID{}, fmt.Errorf("%q is not a session (as 20261130-184840-123456-9f3a21c4)", s)
	}
	if len(s) != len(sessionTime)+1+6+1+8 || strings.Count(s, "-") != 3 {
		return bad()
	}
	stamp, micros, random := s[:15], s[16:22], s[23:]
	if s[15] != '-' || s[22] != '-' || !only(micros, "0123456789") || !only(random, "0123456789abcdef") {
		return bad()
	}
	t, err := time.Parse(sessionTime, stamp)
	if err != nil || t.Format(sessionTime) != stamp {
		return bad()
	}
	return SessionID{s}, nil
}

func only(s, set string) bool { return strings.Trim(s, set) == "" }

// IsZero says whether id is no session.
func (id SessionID) IsZero() bool { return id.s == "" }

func (id SessionID) String() string { return id.s }

// MarshalText writes the identity.
func (id SessionID) MarshalText() ([]byte, error) { return []byte(id.s), nil }

// UnmarshalText reads an identity strictly.
func (id *SessionID) UnmarshalText(b []byte) (err error) {
	*id, err = ParseSessionID(string(b))
	return err
}

// UtteranceID numbers the utterances of a session from 1, as "u000001". The zero value is no utterance.
type UtteranceID uint32

// MaxUtterances is the largest number of utterances in one session.
const MaxUtterances = 999_999

// ParseUtteranceID accepts "u" and six digits, from u000001 on.
func ParseUtteranceID(s string) (UtteranceID, error) {
	if len(s) != 7 || s[0] != 'u' || !only(s[1:], "0123456789") {
		return 0, fmt.Errorf("%q is not an utterance (as u000001)", s)
	}
	var n UtteranceID
	for _, c := range s[1:] {
		n = n*10 + UtteranceID(c-'0')
	}
	if n == 0 {
		return 0, fmt.Errorf("utterances are numbered from u000001")
	}
	return n, nil
}

func (id UtteranceID) String() string { return fmt.Sprintf("u%06d", uint32(id)) }

// MarshalText writes the identity.
func (id UtteranceID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads an identity strictly.
func (id *UtteranceID) UnmarshalText(b []byte) (err error) {
	*id, err = ParseUtteranceID(string(b))
	return err
}

// checkName accepts the name of an artefact: lower-case letters, digits, '.', '-' and '_', starting with a letter
// or digit, at most 64 bytes. So it has no separator, is no dot file, and is the same on every file system.
func checkName(name string) error {
	const first = "abcdefghijklmnopqrstuvwxyz0123456789"
	if name == "" || len(name) > 64 || !strings.Contains(first, name[:1]) || !only(name, first+".-_") || strings.HasSuffix(name, ".") {
		return &InvariantError{fmt.Sprintf("%q can't be the name of an evidence file", name)}
	}
	if name == receiptName || name == startedName || name == manifestName {
		return &InvariantError{fmt.Sprintf("%q is written by the evidence store alone", name)}
	}
	return nil
}
