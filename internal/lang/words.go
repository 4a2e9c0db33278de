package lang

import (
	"strings"
	"unicode"
)

// Words returns the words of a text in lower case: runs of letters and their accents.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.Is(unicode.Mn, r) })
}
