package grammar

import (
	"golang.org/x/text/unicode/norm"
)

// buildFold derives from the tables' letters how a letter is matched: without case and accent.
// Every plain letter takes every accent that some language uses, so that a text means the same
// with its accents composed, decomposed or left out.
func (l *lexicon) buildFold() {
	l.fold = map[rune]byte{'ſ': 's'} // the one letter outside the alphabets whose upper case is a plain letter
	l.marks = map[rune]bool{}
	for c := 'a'; c <= 'z'; c++ {
		l.fold[c] = byte(c)
		l.fold[c-'a'+'A'] = byte(c)
	}
	for _, t := range l.tables {
		plain := []rune(t.plain)
		for i, r := range []rune(t.letters) {
			l.setFold(r, byte(plain[i]))
			for _, m := range []rune(norm.NFD.String(string(r)))[1:] {
				l.marks[m] = true
			}
		}
	}
	for m := range l.marks {
		for c := 'a'; c <= 'z'; c++ {
			for _, base := range [2]rune{c, c - 'a' + 'A'} {
				if r := []rune(norm.NFC.String(string([]rune{base, m}))); len(r) == 1 {
					l.fold[r[0]] = byte(c)
				}
			}
		}
	}
	for r, c := range l.fold {
		if int(r) < len(l.latin) {
			l.latin[r] = c
		}
	}
}

// setFold gives a letter of a table its plain letter, in both cases.
func (l *lexicon) setFold(r rune, plain byte) {
	l.fold[r] = plain
	if up := upperRune(r); up != r {
		l.fold[up] = plain
	}
}

// foldRune returns the plain lower-case letter of r, or 0.
func (l *lexicon) foldRune(r rune) byte {
	if uint32(r) < uint32(len(l.latin)) {
		return l.latin[r]
	}
	return l.fold[r]
}

// foldWord folds a spelling of a table.
func (l *lexicon) foldWord(s string) string {
	var b []byte
	for _, r := range norm.NFC.String(s) {
		if c := l.foldRune(r); c != 0 {
			b = append(b, c)
		}
	}
	return string(b)
}
