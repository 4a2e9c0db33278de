package grammar

import (
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// No command has more tokens than this, nor as many number words; see TestLongestCommand.
const (
	maxTokens = 96
	maxItems  = 64
	maxWord   = 96 // bytes of a folded word
)

type tokenKind uint8

const (
	tokenWord tokenKind = iota
	tokenDigits
	tokenBad
)

// sep is what stands between two tokens.
type sep uint8

const (
	sepNone  sep = 0
	sepPause sep = 1 << iota
	sepComma
	sepSlash
	sepTight // a comma between digits without a space
	sepHyphen
	sepTwice // two commas with nothing between
)

const sepHard = sepPause | sepComma | sepSlash

type token struct {
	start, end int32 // in the normalised text
	kind       tokenKind
	before     sep
	why        string // for tokenBad
	number     bool   // a bad token that has digits in it
	info       *wordInfo
	wordStart  int32 // the folded letters, in scanner.letters
	wordEnd    int32
	digits     atom
}

// scanner holds one text while it is parsed. It is reused.
type scanner struct {
	lex     *lexicon
	text    string  // NFC
	starts  []int32 // offsets into the text as given, when it was not NFC
	ends    []int32
	tokens  []token
	letters []byte
	more    bool // there were more than maxTokens tokens
	tagged  bool // a leading tag was removed
	items   []item
	cuts    []cut
	index   [maxItems + 1]int32
	whole   [maxItems + 1]int32
}

var scanners = sync.Pool{New: func() any {
	return &scanner{
		tokens: make([]token, 0, maxTokens), letters: make([]byte, 0, 512),
		items: make([]item, 0, maxItems+1), cuts: make([]cut, 0, 256),
	}
}}

func newScanner(l *lexicon, text string) *scanner {
	s := scanners.Get().(*scanner)
	s.lex, s.text = l, text
	s.tokens, s.letters = s.tokens[:0], s.letters[:0]
	s.starts, s.ends = nil, nil
	s.more, s.tagged = false, false
	s.normalise()
	return s
}

func (s *scanner) release() {
	s.text, s.starts, s.ends = "", nil, nil
	scanners.Put(s)
}

// normalise brings the text to NFC and remembers where its parts came from.
func (s *scanner) normalise() {
	ascii := true
	for i := 0; i < len(s.text); i++ {
		if s.text[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii || norm.NFC.IsNormalString(s.text) {
		return
	}
	var it norm.Iter
	it.InitString(norm.NFC, s.text)
	out := make([]byte, 0, len(s.text)+16)
	for !it.Done() {
		from := int32(it.Pos())
		out = append(out, it.Next()...)
		to := int32(it.Pos())
		for len(s.starts) < len(out) {
			s.starts = append(s.starts, from)
			s.ends = append(s.ends, to)
		}
	}
	s.text = string(out)
}

// span turns a range of the normalised text into one of the text as given.
func (s *scanner) span(start, end int32) Span {
	if s.starts == nil || end <= start {
		return Span{int(start), int(end)}
	}
	return Span{int(s.starts[start]), int(s.ends[end-1])}
}

func (s *scanner) runeAt(i int) (rune, int) {
	if i >= len(s.text) {
		return -1, 0
	}
	if c := s.text[i]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	r, n := utf8.DecodeRuneInString(s.text[i:])
	if r == utf8.RuneError && n == 1 {
		return -2, 1 // not UTF-8
	}
	return r, n
}

func (s *scanner) classAt(i int) charClass {
	r, _ := s.runeAt(i)
	if r == -1 {
		return charSpace // the end is like a space
	}
	if r < 0 {
		return charBad
	}
	return s.lex.classOf(r)
}

// scan cuts the text into tokens. It reads every byte once.
func (s *scanner) scan() {
	i := s.skipTags()
	var before sep
	last := charSpace // class of the character before i
	for i < len(s.text) {
		r, n := s.runeAt(i)
		c := charBad
		if r >= 0 {
			c = s.lex.classOf(r)
		}
		from := i
		switch c {
		case charSpace, charOrnament:
			i += n
			if isThin(r) && last == charDigit && s.classAt(i) == charDigit {
				before = s.bad(from, i, before, true, whyThin)
			}
		case charIgnored:
			i += n
			if last == charDigit && s.classAt(i) == charDigit {
				before = s.bad(from, i, before, true, "an invisible character between digits")
			}
			continue
		case charQuote:
			i += n
			if (last == charLetter || last == charDigit) && (s.classAt(i) == charLetter || s.classAt(i) == charDigit) {
				before = s.bad(from, i, before, last == charDigit, "an apostrophe inside a word")
			}
		case charPause:
			i += n
			if r == '.' && last != charDigit && s.classAt(i) == charDigit {
				before = s.bad(from, i, before, true, "a decimal point with no digit before it")
				break
			}
			before |= sepPause
		case charComma:
			i += n
			next := s.classAt(i)
			switch {
			case r == ':' && last == charDigit && next == charDigit:
				before = s.bad(from, i, before, true, "a colon between digits")
			case before&(sepComma|sepTight|sepSlash) != 0:
				before |= sepTwice
			case r == ',' && last != charDigit && next == charDigit:
				before = s.bad(from, i, before, true, "a decimal comma with no digit before it")
			case r == ',' && last == charDigit && next == charDigit:
				before |= sepTight
			case r == ',' && last == charDigit && s.isMinus(i):
				before |= sepTight | sepComma
			default:
				before |= sepComma
			}
		case charSlash:
			i += n
			if len(s.tokens) == 0 || s.tokens[len(s.tokens)-1].kind != tokenDigits {
				before = s.bad(from, i, before, false, "a slash")
				break
			}
			if before&(sepComma|sepTight|sepSlash) != 0 {
				before |= sepTwice
			}
			before |= sepSlash
		case charHyphen, charDash:
			i, before, last = s.hyphen(i, n, c, last, before)
			continue
		case charEquals:
			i += n
			if !s.afterLabel() {
				before = s.bad(from, i, before, false, "a sign that belongs to no command")
			}
		case charLetter:
			i = s.scanWord(i, before)
			before = sepNone
		case charDigit:
			i = s.scanDigits(i, before, false)
			before = sepNone
		case charBad, charMark, charOpen, charClassSize:
			i += n
			before = s.bad(from, i, before, false, "a character that belongs to no command")
		}
		last = c
	}
}

// hyphen reads a hyphen or dash: a minus, a joint of two words, or nothing of ours. It returns
// where to go on, what stands before the next token, and the class of the last character read.
func (s *scanner) hyphen(i, n int, c, last charClass, before sep) (int, sep, charClass) {
	next := s.classAt(i + n)
	switch {
	case next == charDigit && last == charDigit:
		before = s.bad(i, i+n, before, true, whyRange)
		return i + n, before, charHyphen
	case next == charDigit && last != charHyphen && last != charDash && last != charBad && (last != charLetter || s.afterLabel()):
		return s.scanDigits(i+n, before, true), sepNone, charDigit
	case next == charLetter && last == charLetter && c == charHyphen && before == sepNone:
		return s.scanWord(i+n, sepHyphen), sepNone, charLetter
	}
	before = s.bad(i, i+n, before, true, "a dash that is neither a minus nor a joint")
	return i + n, before, charHyphen
}

const whyThin = "a thin space between digits: thousands or two numbers?"

// isThin: the spaces that typographers put between groups of three digits.
func isThin(r rune) bool { return r == 0x202f || r == 0x2009 || r == 0x2007 }

// isMinus says whether a hyphen or dash directly before a digit stands at i.
func (s *scanner) isMinus(i int) bool {
	c := s.classAt(i)
	_, n := s.runeAt(i)
	return (c == charHyphen || c == charDash) && s.classAt(i+n) == charDigit
}

const whyRange = "a dash between numbers: a range or a minus?"

func (s *scanner) afterLabel() bool {
	k := len(s.tokens)
	return k > 0 && s.tokens[k-1].kind == tokenWord && s.tokens[k-1].info.label != 0
}

// bad adds a token that no command has.
func (s *scanner) bad(start, end int, before sep, number bool, why string) sep {
	s.add(token{start: int32(start), end: int32(end), kind: tokenBad, before: before, number: number, why: why})
	return sepNone
}

func (s *scanner) add(t token) {
	if len(s.tokens) < maxTokens {
		s.tokens = append(s.tokens, t)
	} else {
		s.more = true
	}
}

var noWord = &wordInfo{}

// scanWord reads a run of letters.
func (s *scanner) scanWord(i int, before sep) int {
	start, mark := i, len(s.letters)
	long := mark + maxWord
	text := s.text
	for i < len(text) {
		c := text[i]
		if c < utf8.RuneSelf {
			f := s.lex.latin[c]
			if f == 0 {
				break
			}
			if len(s.letters) <= long {
				s.letters = append(s.letters, f)
			}
			i++
			continue
		}
		r, n := s.runeAt(i)
		if r < 0 {
			break
		}
		if f := s.lex.foldRune(r); f != 0 {
			if len(s.letters) <= long {
				s.letters = append(s.letters, f)
			}
		} else if k := s.lex.classOf(r); k != charIgnored && k != charMark {
			break
		}
		i += n
	}
	t := token{start: int32(start), end: int32(i), kind: tokenWord, before: before, info: noWord, wordStart: int32(mark), wordEnd: int32(len(s.letters))}
	if len(s.letters)-mark > maxWord {
		s.letters = s.letters[:mark]
		t.wordEnd = t.wordStart
	} else if w := s.lex.words[string(s.letters[mark:])]; w != nil {
		t.info = w
	}
	if len(s.tokens) >= maxTokens {
		s.letters = s.letters[:mark]
	}
	if next := s.classAt(i); next == charDigit && t.info.label == 0 {
		t.kind, t.number, t.why = tokenBad, true, "letters and digits in one word"
	}
	s.add(t)
	return i
}

// scanDigits reads a number written with digits; i is at its first digit.
func (s *scanner) scanDigits(i int, before sep, neg bool) int {
	start := i
	if neg {
		start--
		for start > 0 && !utf8.RuneStart(s.text[start]) {
			start--
		}
	}
	t := token{start: int32(start), kind: tokenDigits, before: before}
	a := atom{class: classDigits, family: 0xff, neg: neg}
	whole := i
	for i < len(s.text) && s.text[i]-'0' <= 9 {
		if a.value < 1_000_000 {
			a.value = a.value*10 + int32(s.text[i]-'0')
		}
		i++
	}
	a.digits = uint8(min(i-whole, 200))
	if a.digits > 1 && s.text[whole] == '0' {
		t.why = "a number with a leading zero"
	}
	if i+1 < len(s.text) && s.text[i] == '.' && s.text[i+1]-'0' <= 9 {
		a.point = true
		from := i + 1
		for i++; i < len(s.text) && s.text[i]-'0' <= 9; i++ {
			switch i - from {
			case 0:
				a.frac = (s.text[i] - '0') * 10
			case 1:
				a.frac += s.text[i] - '0'
			}
		}
		switch places := i - from; {
		case places == 3:
			a.fine = true
		case places > 3:
			t.why = "more than two decimals"
		}
		if i+1 < len(s.text) && s.text[i] == '.' && s.text[i+1]-'0' <= 9 {
			t.why = "two decimal points in one number"
		}
	}
	a.plain = !a.neg && !a.point
	if s.classAt(i) == charLetter || s.classAt(i) == charMark {
		t.why = "letters and digits in one word"
		for i < len(s.text) && (s.classAt(i) == charLetter || s.classAt(i) == charDigit || s.classAt(i) == charMark) {
			_, n := s.runeAt(i)
			i += n
		}
	}
	t.end, t.digits = int32(i), a
	if t.why != "" {
		t.kind, t.number = tokenBad, true
	}
	s.add(t)
	return i
}
