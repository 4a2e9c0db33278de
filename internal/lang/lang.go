// Package lang names the three languages that the program hears and speaks.
package lang

import "fmt"

// Language is one of SK, CS and EN. The zero value is None: no language.
type Language uint8

const (
	None Language = iota
	SK
	CS
	EN
)

var names = [...]string{None: "", SK: "sk", CS: "cs", EN: "en"}

// All lists the languages in the order in which reports show them.
func All() []Language { return []Language{SK, CS, EN} }

// String returns the ISO 639-1 code, or "" for None.
func (l Language) String() string {
	if int(l) < len(names) {
		return names[l]
	}
	return fmt.Sprintf("lang(%d)", uint8(l))
}

// Parse returns the language of an ISO 639-1 code: "sk", "cs" or "en".
func Parse(s string) (Language, error) {
	for _, l := range All() {
		if names[l] == s {
			return l, nil
		}
	}
	return None, fmt.Errorf("unknown language %q (sk, cs or en)", s)
}

// MarshalText writes the code.
func (l Language) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads a code; the empty string is None.
func (l *Language) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*l = None
		return nil
	}
	v, err := Parse(string(b))
	if err != nil {
		return err
	}
	*l = v
	return nil
}
