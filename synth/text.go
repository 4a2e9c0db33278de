package synth

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxText is the longest text that a voice is given, in characters.
const MaxText = 400

// ErrNoText is a text of which nothing can be spoken.
var ErrNoText = errors.New("there is nothing to speak")

// Text makes a text fit for a speech engine: composed letters (NFC) with all their accents, plain punctuation and
// single spaces. Everything else is dropped: control and format characters, and what engines take for markup or
// phonemes, as brackets. A text that is too long is refused, since a cut one could say something else.
func Text(s string) (string, error) {
	var b strings.Builder
	space := false
	for _, r := range norm.NFC.String(strings.ToValidUTF8(s, " ")) {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			space = b.Len() > 0
			continue
		case !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r) && !strings.ContainsRune(".,:;!?'’…-–", r):
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	out := norm.NFC.String(b.String()) // what was dropped may have stood between a letter and its accent
	if !strings.ContainsFunc(out, unicode.IsLetter) && !strings.ContainsFunc(out, unicode.IsNumber) {
		return "", ErrNoText
	}
	if n := utf8.RuneCountInString(out); n > MaxText {
		return "", fmt.Errorf("the text has %d characters, at most %d are spoken", n, MaxText)
	}
	return out, nil
}
