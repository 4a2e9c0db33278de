package grammar

import "unicode"

// charClass is what a character means outside the text of say.
type charClass uint8

const (
	charBad charClass = iota
	charLetter
	charDigit
	charSpace
	charIgnored   // zero-width, without meaning
	charMark      // an accent on its own
	charQuote     // falls away
	charPause     // . ! ? … and their like: falls away, ends a number
	charComma     // , ; : and their like: falls away, ends a number
	charSlash     // separates numbers
	charHyphen    // joins letters, or is a minus directly before a digit
	charDash      // en dash and minus sign: a minus directly before a digit
	charOpen      // [ ( *: may open a tag
	charEquals    // after a label
	charOrnament  // the note sign that stands for music
	charClassSize // the number of classes
)

var asciiClass = func() (t [128]charClass) {
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = charLetter, charLetter
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = charDigit
	}
	for _, c := range " \t\n\v\f\r" {
		t[c] = charSpace
	}
	for _, c := range "\"'`" {
		t[c] = charQuote
	}
	for _, c := range ".!?" {
		t[c] = charPause
	}
	for _, c := range ",;:" {
		t[c] = charComma
	}
	for _, c := range "[(*" {
		t[c] = charOpen
	}
	t['/'], t['-'], t['='] = charSlash, charHyphen, charEquals
	return t
}()

// classOf classifies a character; letters are those of the lexicon's alphabets.
func (l *lexicon) classOf(r rune) charClass {
	if r < 0x80 {
		return asciiClass[r]
	}
	if l.foldRune(r) != 0 {
		return charLetter
	}
	switch r {
	case 0x00A0, 0x202F, 0x3000, 0x205F, 0x1680, 0x2028, 0x2029, 0x0085:
		return charSpace
	case 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0x00AD:
		return charIgnored
	case '“', '”', '„', '‟', '‘', '’', '‚', '‛', '«', '»', '‹', '›', '＂', '＇':
		return charQuote
	case '…', '．', '。', '！', '？', '‼', '⁇':
		return charPause
	case '，', '、', '；', '：':
		return charComma
	case 0x2010, 0x2011, 0xFE63, 0xFF0D: // hyphen, non-breaking hyphen, small and full-width hyphen-minus
		return charHyphen
	case 0x2212, 0x2013: // minus sign, en dash
		return charDash
	case '♪', '♫':
		return charOrnament
	}
	switch {
	case r >= 0x2000 && r <= 0x200A:
		return charSpace
	case l.marks[r]:
		return charMark
	}
	return charBad
}

func upperRune(r rune) rune { return unicode.ToUpper(r) }
