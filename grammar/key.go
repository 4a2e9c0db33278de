package grammar

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Key is what two commands have in common that sound alike: the canonical form, but what is said
// to others without its capitals, accents and punctuation, which are written and not heard.
func Key(c Command) string {
	say, ok := c.(Say)
	if !ok {
		return c.String()
	}
	return Say{Text: FoldText(say.Text)}.String()
}

// FoldText returns the words of a text in lower case and without accents, one space between them.
func FoldText(text string) string {
	return strings.Join(strings.FieldsFunc(strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			return unicode.ToLower(r)
		}
		return ' '
	}, norm.NFD.String(text)), unicode.IsSpace), " ")
}
