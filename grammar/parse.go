package grammar

import "blockworld-voice/internal/lang"

// Parse makes of any text, typed or transcribed, exactly one command or one refusal. It is total
// and takes time linear in the text's length.
func Parse(text string) Decision { return merged.parse(text) }

// ParseCoordinates reads three bare numbers; for evaluation only, the product never accepts them.
func ParseCoordinates(text string) ([3]Coord, error) { return merged.parseNumbers(text, 3) }

// ParseNumber reads one bare number; for evaluation only.
func ParseNumber(text string) (Coord, error) {
	c, err := merged.parseNumbers(text, 1)
	return c[0], err
}

func (l *lexicon) parseNumbers(text string, want int) ([3]Coord, error) {
	s := newScanner(l, text)
	defer s.release()
	s.scan()
	if len(s.tokens) == 0 {
		return [3]Coord{}, *s.refuse(NoSpeech, 0, 0, "")
	}
	c, r := s.numbers(0, want, true, 0xff)
	if r != nil {
		return [3]Coord{}, *r
	}
	return c, nil
}

// matched is the longest command phrase at some token.
type matched struct {
	kind  Kind
	langs []lang.Language
	next  int  // the token after the phrase
	part  bool // words of a phrase matched, but no whole phrase
	// families of the number words that may follow
	families uint8
}

// match finds the longest command phrase that begins at token i.
func (s *scanner) match(i int) matched {
	m := matched{next: i}
	at := int32(0)
	for j := i; j < len(s.tokens); j++ {
		t := &s.tokens[j]
		if t.kind != tokenWord || t.info.id == 0 {
			break
		}
		at = s.lex.verbStep(at, t.info.id, j > i && t.before&sepHyphen != 0)
		if at < 0 {
			break
		}
		m.part = true
		if v := &s.lex.verbs[at]; v.kind != 0 {
			m.kind, m.langs, m.next, m.families = v.kind, v.langs, j+1, v.families
		}
	}
	return m
}

func (l *lexicon) parse(text string) Decision {
	s := newScanner(l, text)
	defer s.release()
	s.scan()
	if len(s.tokens) == 0 {
		return Refusal{Reason: NoSpeech, Span: Span{0, len(text)}, Detail: "no words"}
	}
	m := s.match(0)
	if m.kind == 0 {
		first, last := s.tokens[0], s.tokens[len(s.tokens)-1]
		if m.part {
			return *s.refuse(NotAWholeCommand, first.start, last.end, "only a part of a command")
		}
		return *s.refuse(UnknownCommand, first.start, last.end, "no command begins like this")
	}
	a := Accepted{}
	if len(m.langs) == 1 {
		a.Language = m.langs[0]
	}
	switch m.kind {
	case KindGoTo, KindLookAt:
		c, r := s.numbers(m.next, 3, l.decimalComma(m.langs), m.families)
		if r != nil {
			return *r
		}
		if m.kind == KindGoTo {
			a.Command = GoTo{c[0], c[1], c[2]}
		} else {
			a.Command = LookAt{c[0], c[1], c[2]}
		}
		return a
	case KindSay:
		say, r := s.say(int(s.tokens[m.next-1].end))
		if r != nil {
			return *r
		}
		a.Command = say
		return a
	case KindState:
		a.Command = StateQuery{}
	case KindStatus:
		a.Command = StatusQuery{}
	case KindIdle:
		a.Command = Idle{}
	case KindFollow:
		a.Command = Follow{}
	case KindBuild:
		a.Command = Build{}
	case KindStop:
		a.Command = Stop{}
	}
	if m.next < len(s.tokens) || s.more {
		return *s.leftover(m)
	}
	return a
}

// leftover refuses words after a command that takes none. A stop is the whole utterance or no stop.
func (s *scanner) leftover(m matched) *Refusal {
	if r := s.second(m.next); r != nil {
		return r
	}
	last := s.tokens[len(s.tokens)-1]
	if m.kind == KindStop {
		return s.refuse(UnknownCommand, s.tokens[0].start, last.end, "a stop is the whole utterance")
	}
	return s.refuse(NotAWholeCommand, s.tokens[min(m.next, len(s.tokens)-1)].start, last.end, "words after the command")
}

func (l *lexicon) decimalComma(langs []lang.Language) bool {
	for _, x := range langs {
		if t := l.tableOf(x); t != nil && t.decimalComma {
			return true
		}
	}
	return false
}
