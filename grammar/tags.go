package grammar

// maxTag is the longest tag, in bytes, that is removed.
const maxTag = 64

// skipTags returns where the text begins after leading tags such as "[BLANK_AUDIO]", "(wind)"
// and "*music*". Whatever holds a word of the grammar, a digit or another sign is no tag: no
// brackets may hide a part of a command.
func (s *scanner) skipTags() int {
	i := 0
	for {
		j := i
		for j < len(s.text) {
			c := s.classAt(j)
			if c != charSpace && c != charIgnored && c != charOrnament {
				break
			}
			_, n := s.runeAt(j)
			j += n
		}
		end := s.tag(j)
		if end < 0 {
			return i
		}
		i = end
	}
}

// tag returns the end of the tag at i, or -1.
func (s *scanner) tag(i int) int {
	if i >= len(s.text) {
		return -1
	}
	var closing byte
	switch s.text[i] {
	case '[':
		closing = ']'
	case '(':
		closing = ')'
	case '*':
		closing = '*'
	default:
		return -1
	}
	var word [maxTag]byte
	n := 0
	for j := i + 1; j < len(s.text) && j-i < maxTag; {
		r, size := s.runeAt(j)
		if f := s.lex.foldRune(r); r >= 0 && f != 0 {
			word[n] = f
			n++
			j += size
			continue
		}
		c := charBad
		if r >= 0 {
			c = s.lex.classOf(r)
		}
		if c == charIgnored || c == charMark {
			j += size
			continue
		}
		if s.forbidden(string(word[:n])) {
			return -1
		}
		n = 0
		switch {
		case s.text[j] == closing:
			return j + 1
		case c == charSpace, c == charQuote, c == charHyphen, r == '_', r == ',', r == '.':
			j += size
		default:
			return -1
		}
	}
	return -1
}

// negations may not stand in a tag either: no brackets turn a text into its opposite.
var negations = map[string]bool{"not": true, "don": true, "dont": true, "never": true, "nie": true, "nikdy": true}

// forbidden says whether a word may not stand in a tag.
func (s *scanner) forbidden(word string) bool {
	w := s.lex.words[word]
	if w == nil {
		return negations[word]
	}
	switch w.atom.class {
	case classZero, classUnit, classTeen, classTens, classHundred, classHundreds, classThousand, classMinus, classPoint:
		return true
	case 0, classOh, classAnd, classA, classDigits:
	}
	return w.first
}
