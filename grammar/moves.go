package grammar

// accepts says whether a sentence may end in c.
func (a *Automaton) accepts(c *config) bool {
	switch c.kind {
	case configEnd:
		return true
	case configTail:
		return c.axis == 0 && c.join != 0
	case configNumber:
		return c.axis+1 == a.axes && a.ends(c)
	case configVerb:
		for _, e := range a.verbs[c.node].ends {
			if !takesArguments(e.kind) {
				return true
			}
		}
	case configStart, configWord, configComma:
	}
	return false
}

func takesArguments(k Kind) bool { return k == KindGoTo || k == KindLookAt || k == KindSay }

// ends says whether the number may end here with a value within the bounds.
func (a *Automaton) ends(c *config) bool {
	return c.q.complete() && (c.free != 0 || a.bounds[c.axis].holds(c.q.value()))
}

// put adds a configuration to the set being made.
func (a *Automaton) put(c config) { a.buffer = append(a.buffer, a.id(c)) }

// move adds what c becomes with byte b.
func (a *Automaton) move(c config, b byte) {
	switch c.kind {
	case configStart:
		if b == ' ' && c.axis == 0 {
			a.put(config{kind: configStart, axis: 1})
			return
		}
		if a.options.Start == StartCommand {
			a.moveVerb(config{kind: configVerb}, b)
			return
		}
		for i := range a.speakers {
			w := a.word(uint8(i), 0)
			a.moveWord(w, b)
			w.node = 1 // the capital root
			a.moveWord(w, b)
		}
	case configVerb:
		a.moveVerb(c, b)
	case configWord:
		a.moveWord(c, b)
	case configNumber:
		a.moveNumber(c, b)
	case configComma:
		if b == ' ' {
			a.put(a.word(c.language, c.axis))
		}
	case configTail:
		a.moveTail(c, b)
	case configEnd:
	}
}

// word is the configuration before the first word of a number.
func (a *Automaton) word(language, axis uint8) config {
	return config{kind: configWord, language: language, axis: axis, join: joinSpace, q: numberStart}
}

func (a *Automaton) moveVerb(c config, b byte) {
	n := &a.verbs[c.node]
	for _, e := range n.edges {
		if e.b == b {
			a.put(config{kind: configVerb, node: e.node})
		}
	}
	for _, e := range n.ends {
		switch e.kind {
		case KindGoTo, KindLookAt:
			if b == ' ' {
				a.put(a.word(e.language, 0))
			}
		case KindSay:
			if b == ' ' {
				a.put(config{kind: configTail})
			}
		case KindState, KindStatus, KindIdle, KindFollow, KindBuild, KindStop:
			if b == '.' {
				a.put(config{kind: configEnd})
			}
		}
	}
}

// may returns the forms that can follow q so that some value within the bounds stays possible.
func (a *Automaton) may(c *config) bits {
	key := allowKey{c.language, c.axis, c.join, c.free, c.q}
	if m, ok := a.allowed[key]; ok {
		return m
	}
	var m bits
	s := a.speakers[c.language]
	for i := range s.forms {
		n, ok := s.next(c.q, i, c.join)
		switch {
		case !ok:
		case c.free != 0 && !n.anew():
			if !c.free.leavesOut(c.q, &s.forms[i].atom) {
				m.add(i)
			}
		case a.bounds[c.axis].reachOf(n, a.speakers[c.language].can) != 0:
			m.add(i)
		}
	}
	a.allowed[key] = m
	return m
}

func (a *Automaton) moveWord(c config, b byte) {
	s := a.speakers[c.language]
	node := s.child(c.node, b)
	if node < 0 {
		return
	}
	may := a.may(&c)
	if !s.nodes[node].below.meets(may) {
		return
	}
	c.node = node
	f := s.nodes[node].form
	if f >= 0 && may.has(f) {
		n := config{kind: configNumber, language: c.language, axis: c.axis, free: c.free}
		n.q, _ = s.next(c.q, f, c.join)
		if n.q.anew() {
			n.free = 0
		}
		if r := a.bounds[c.axis].reachOf(n.q, a.speakers[c.language].can); n.free == 0 && r&reachFree != 0 {
			n.free = r
		}
		n.tidy()
		a.put(n)
	}
	for _, e := range s.nodes[node].edges {
		if s.nodes[e.node].below.meets(may) {
			a.put(c)
			break
		}
	}
}

// anew says that a unit turns into more than itself: "pět a", "one oh". What was found of the unit's
// value doesn't hold for it.
func (q number) anew() bool {
	return (q.phase == phaseUnitLink || q.phase == phaseUnitOh) && !q.has(flagHundreds|flagThousands)
}

// tidy drops from a number what no longer decides how it may go on: equal futures are one state.
func (c *config) tidy() {
	q := &c.q
	q.flags &^= flagTight
	if q.phase != phaseUnit {
		q.flags &^= flagOne
	}
	if q.phase >= phasePoint {
		q.flags &^= flagHundreds | flagThousands
		q.last = 0
	}
	if q.has(flagThousands) && q.has(flagHundreds) || q.phase == phaseHundred || q.phase == phaseThousand {
		q.last = 0
	}
	if c.free == 0 {
		return
	}
	*q = q.anyValue()
	if q.phase != phaseUnit || q.has(flagHundreds|flagThousands) {
		q.flags &^= flagNeg // else a link may follow, and the value matters again
	}
	switch {
	case q.phase >= phaseThousand, q.has(flagThousands) && q.has(flagHundreds):
		c.free = reachFree
	case q.has(flagThousands):
		c.free &= reachFree | reachNoHundred
	case q.has(flagHundreds):
		c.free &= reachFree | reachNoHundredThousand
	default:
		c.free &^= reachSome
	}
}

func (a *Automaton) moveNumber(c config, b byte) {
	w := c
	w.kind, w.node = configWord, 0
	switch b {
	case ' ':
		w.join = joinSpace
		if !a.may(&w).empty() {
			a.put(w)
		}
		if c.axis+1 < a.axes && a.ends(&c) {
			a.put(a.word(c.language, c.axis+1))
		}
	case '-':
		w.join = joinHyphen
		if !a.may(&w).empty() {
			a.put(w)
		}
	case ',':
		if c.axis+1 < a.axes && a.ends(&c) {
			a.put(config{kind: configComma, language: c.language, axis: c.axis + 1})
		}
	case '.':
		if c.axis+1 == a.axes && a.ends(&c) {
			a.put(config{kind: configEnd})
		}
	default:
		w.join = joinNone
		a.moveWord(w, b)
	}
}

// moveTail reads the text to say: node counts bytes, axis the bytes that a character still needs,
// join is set once there is something to say.
func (a *Automaton) moveTail(c config, b byte) {
	role := tailRole(b)
	if role != 5 && c.node+int32(role) > maxTail || (c.axis > 0) != (role == 5) || role == 0 {
		return
	}
	if c.join == 0 && (b == ' ' || b == '/') {
		return
	}
	switch role {
	case 5:
		c.axis--
	default:
		c.axis = role - 1
	}
	c.node++
	c.join = 1
	a.put(c)
}
