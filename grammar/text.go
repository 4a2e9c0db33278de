package grammar

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxText is the longest text to say, in characters.
const MaxText = 256

// trimRounds bounds how deep quotes and full stops may be nested around a text.
const trimRounds = 8

var quotePairs = map[rune]string{
	'"': "\"", '\'': "'", '“': "”“", '”': "”", '„': "“”‟", '‚': "‘’", '‘': "’‘", '’': "’", '«': "»", '»': "«", '‹': "›", '›': "‹",
}

// say reads the text to say from byte offset from on.
func (s *scanner) say(from int) (Say, *Refusal) {
	start, end := from, len(s.text)
	if end-start > 64*MaxText {
		return Say{}, s.refuse(BadText, int32(start), int32(end), "the text is longer than 256 characters")
	}
	text, ok := trimText(s.text[start:end])
	if !ok {
		return Say{}, s.refuse(BadText, int32(start), int32(end), "the text is wrapped in too many quotes")
	}
	if at := strings.Index(s.text[start:end], text); at >= 0 && text != "" {
		start, end = start+at, start+at+len(text)
	}
	if text == "" {
		start = int(s.tokens[0].start) // nothing to point at but the command
	}
	text = strings.Join(strings.FieldsFunc(text, isSpace), " ")
	if why := checkText(text); why != "" {
		return Say{}, s.refuse(BadText, int32(start), int32(end), why)
	}
	return Say{text}, nil
}

// isSpace: the spaces that a text may have; each run becomes one plain space. Line breaks stay, to be refused.
func isSpace(r rune) bool {
	return r == ' ' || r == '\t' || unicode.Is(unicode.Zs, r)
}

// trimText takes away, from outside in, spaces, leading separators, pairs of quotes and one final full stop.
func trimText(text string) (string, bool) {
	for range trimRounds {
		before := len(text)
		text = strings.TrimFunc(text, isSpace)
		text = strings.TrimLeft(text, ",:;.…")
		text = strings.TrimFunc(text, isSpace)
		if strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "..") {
			text = text[:len(text)-1]
		}
		text = unquote(text)
		if len(text) == before {
			return text, true
		}
	}
	return "", false
}

// unquote removes one pair of outer quotes that has none of its own kind inside.
func unquote(text string) string {
	open, n := utf8.DecodeRuneInString(text)
	closers, ok := quotePairs[open]
	if !ok || len(text) <= n {
		return text
	}
	last, m := utf8.DecodeLastRuneInString(text)
	if len(text) < n+m || !strings.ContainsRune(closers, last) {
		return text
	}
	inner := text[n : len(text)-m]
	if strings.ContainsRune(inner, open) || strings.ContainsRune(inner, last) {
		return text
	}
	return inner
}

// CheckText says whether a text may be said: 1 to 256 characters in NFC, in one line, without control,
// format, private or unassigned characters and without the game's formatting sign, and not beginning
// with a slash in any disguise. It returns nil or a Refusal with reason BadText.
func CheckText(text string) error {
	if why := checkText(text); why != "" {
		return Refusal{Reason: BadText, Span: Span{0, len(text)}, Detail: why}
	}
	return nil
}

func checkText(text string) string {
	if text == "" {
		return "nothing to say"
	}
	if !utf8.ValidString(text) {
		return "the text is not UTF-8"
	}
	if utf8.RuneCountInString(text) > MaxText {
		return "the text is longer than 256 characters"
	}
	lead, visible := true, false
	for _, r := range text {
		switch {
		case r == '\n', r == '\r', r == '\v', r == '\f', r == 0x85, r == 0x2028, r == 0x2029:
			return "the text has a line break"
		case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r), unicode.Is(unicode.Variation_Selector, r), r == 0x2800:
			return "the text has an invisible character"
		case r == '§':
			return "the text has the game's formatting sign"
		case r != ' ' && !unicode.IsPrint(r):
			return "the text has a control character"
		}
		if lead && slashLike(r) {
			return "a text must not begin with a slash"
		}
		if lead && !leading(r) {
			lead = false
		}
		visible = visible || r != ' '
	}
	if !visible {
		return "nothing to say"
	}
	return ""
}

// leading: characters behind which a leading slash could hide.
func leading(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsMark(r) || unicode.Is(unicode.Sk, r) || unicode.Is(unicode.Lm, r)
}

// slashLike: a slash, what compatibility folding makes one, and what looks like one.
func slashLike(r rune) bool {
	switch r {
	case '/', '⁄', '∕', '⧸', '⟋', '╱', '／', '᜵', '⫽', '⫻', '〳', '⼃', '丿', 'ノ', 'ﾉ', '⌿', '∠', '𝈺', '\\', '＼', '﹨', '⧹', '∖', '╲', '㇓', 'Ⳇ', '⁁', '⧵', '⟍', '㇔', 0x1D20F, 0x1D23B, 0x0337, 0x0338, 0x20E5:
		return true
	}
	return r >= utf8.RuneSelf && strings.HasPrefix(norm.NFKD.String(string(r)), "/")
}
