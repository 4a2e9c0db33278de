package grammar

// item is one number word of the coordinates.
type item struct {
	atom       atom
	start, end int32
	hard       bool // a separator stands before it: no number reaches across
	tight      bool // a comma without a space stands before it
	join       bool // it is one word with the item before it: no number begins here
}

// collect turns the tokens from k on into items.
func (s *scanner) collect(k int) *Refusal {
	s.items = s.items[:0]
	axis, slashes, digits := uint8(0), 0, 0
	fresh := false // a label stands directly before
	for i := k; i < len(s.tokens); i++ {
		t := &s.tokens[i]
		if t.before&sepTwice != 0 {
			return s.refuse(BadNumber, t.start, t.end, "two separators with no number between them")
		}
		if t.before&sepSlash != 0 {
			slashes++
		}
		at := len(s.items)
		switch t.kind {
		case tokenBad:
			return s.badToken(t)
		case tokenDigits:
			digits++
			s.items = append(s.items, item{atom: t.digits})
		case tokenWord:
			switch {
			case t.info.label != 0 && t.before&sepHyphen == 0:
				if t.info.label != axis+1 || axis == 0 && i != k || fresh {
					return s.refuse(BadNumber, t.start, t.end, "labels must be x, y and z, all three and in this order")
				}
				axis++
				fresh = true
				continue
			case t.before&sepHyphen != 0 && (at == 0 || fresh):
				return s.refuse(NotAWholeCommand, t.start, t.end, "a hyphen that joins no number")
			case t.info.atom.class != 0 && t.info.atom.roles&roleBound == 0:
				s.items = append(s.items, item{atom: t.info.atom})
			case !s.takeApart(t):
				return s.stranger(i)
			}
		}
		if len(s.items) > maxItems {
			break
		}
		for j := at; j < len(s.items); j++ {
			s.items[j].start, s.items[j].end = t.start, t.end
			s.items[j].join = j > at || t.before&sepHyphen != 0
		}
		s.items[at].hard = t.before&sepHard != 0 || fresh
		s.items[at].tight = t.before&sepTight != 0
		fresh = false
	}
	if len(s.items) == 0 {
		return nil
	}
	if s.more || len(s.items) > maxItems {
		return s.refuse(ExtraCoordinate, s.items[0].start, s.tokens[len(s.tokens)-1].end, "far more than three numbers")
	}
	if axis != 0 && (axis != 3 || fresh) {
		return s.refuse(BadNumber, s.tokens[k].start, s.tokens[len(s.tokens)-1].end, "labels must be x, y and z, all three and in this order")
	}
	if slashes > 0 && (slashes != 2 || digits != 3 || len(s.items) != 3) {
		return s.refuse(BadNumber, s.items[0].start, s.items[len(s.items)-1].end, "slashes separate three written numbers or none")
	}
	return nil
}

// stranger refuses a word that is no part of a number.
func (s *scanner) stranger(i int) *Refusal {
	t := &s.tokens[i]
	if r := s.second(i); r != nil {
		return r
	}
	return s.refuse(NotAWholeCommand, t.start, t.end, "a word that is no part of a number")
}

// second refuses when another command begins at or after token i.
func (s *scanner) second(i int) *Refusal {
	for ; i < len(s.tokens); i++ {
		if t := &s.tokens[i]; t.kind == tokenWord && t.info.first {
			if m := s.match(i); m.kind != 0 {
				return s.refuse(Ambiguous, t.start, t.end, "a second command: one utterance is one command")
			}
		}
	}
	return nil
}

func (s *scanner) badToken(t *token) *Refusal {
	switch {
	case t.why == whyRange, t.why == whyThin:
		return s.refuse(Ambiguous, t.start, t.end, t.why)
	case t.number:
		return s.refuse(BadNumber, t.start, t.end, t.why)
	}
	return s.refuse(NotAWholeCommand, t.start, t.end, t.why)
}

func (s *scanner) refuse(r Reason, start, end int32, detail string) *Refusal {
	return &Refusal{Reason: r, Span: s.span(start, end), Detail: detail}
}

// takeApart appends the words of a joined number, such as "dvadsaťjeden" or "pětadvacet".
func (s *scanner) takeApart(t *token) bool {
	word := s.letters[t.wordStart:t.wordEnd]
	if len(word) == 0 {
		return false
	}
	at := len(s.items)
	found := func(a atom) { s.items = append(s.items, item{atom: a}) }
	if s.lex.split(word, 0, numberStart, found) || s.lex.split(word, 0, multiplied, found) {
		for i, j := at, len(s.items)-1; i < j; i, j = i+1, j-1 {
			s.items[i], s.items[j] = s.items[j], s.items[i]
		}
		return true
	}
	return false
}

// multiplied is the state in which a joined word may begin with a hundred or thousand: "tri tisícedva".
var multiplied = number{phase: phaseUnit, flags: flagOne, family: 0xff, sub: 2}

// split takes word[from:] apart into words that continue the number q; it calls found from the
// last word to the first. The number machine leaves at most one way, see TestJoinedWordsAreUnique.
func (l *lexicon) split(word []byte, from int, q number, found func(atom)) bool {
	at := int32(0)
	for i := from; i < len(word); i++ {
		at = l.trie[at].next[word[i]-'a']
		if at == 0 {
			return false
		}
		k := l.trie[at].atom
		if k == 0 {
			continue
		}
		a := &l.atoms[k-1]
		n, ok := q.step(a)
		if !ok || n.doubt != 0 {
			continue
		}
		if i+1 == len(word) {
			if from > 0 && n.complete() {
				found(*a)
				return true
			}
			continue
		}
		if l.split(word, i+1, n, found) {
			found(*a)
			return true
		}
	}
	return false
}
