package grammar

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// bits is a set of word forms.
type bits [2]uint64

func (b *bits) add(i int)        { b[i>>6] |= 1 << (i & 63) }
func (b bits) has(i int) bool    { return b[i>>6]>>(i&63)&1 != 0 }
func (b bits) empty() bool       { return b[0]|b[1] == 0 }
func (b bits) meets(o bits) bool { return b[0]&o[0]|b[1]&o[1] != 0 }

// form is a number word as decoding may spell it.
type form struct {
	text  string
	atom  atom
	after bits // empty: any word may stand before it
}

// formNode is a node of the byte tree of a language's forms.
type formNode struct {
	edges []formEdge
	form  int // -1: none
	below bits
}

type formEdge struct {
	b    byte
	node int32
}

// speller holds the forms of one language. Node 0 is the root, node 1 the root of the same words
// with a capital letter.
type speller struct {
	table *table
	forms []form
	nodes []formNode
	// like gives each form, counted from one, the first form that may stand before the same hundreds and thousands.
	like []uint8
	can  habits
}

func newSpeller(t *table) *speller {
	s := &speller{table: t, nodes: []formNode{{form: -1}, {form: -1}}}
	index := map[string]int{}
	for _, n := range t.numerals {
		for _, w := range strings.Fields(n.forms) {
			i, ok := index[w]
			if !ok {
				i = len(s.forms)
				index[w] = i
				s.forms = append(s.forms, form{text: w, atom: atom{
					class: n.class, value: int32(n.value), roles: n.roles, family: 0xff, link: families(n.roles, roleLink), article: families(n.roles, roleArticle),
				}})
			}
			for _, before := range strings.Fields(n.after) {
				s.forms[i].after.add(index[before])
			}
		}
	}
	seen := map[string]uint8{}
	for i := range s.forms {
		sign := ""
		for j := range s.forms {
			if s.forms[j].after.has(i) {
				sign += s.forms[j].text + " "
			}
		}
		if seen[sign] == 0 {
			seen[sign] = uint8(i + 1)
		}
		s.like = append(s.like, seen[sign])
	}
	s.can.invert = t.joints[jointInverted] != 0
	for _, h := range s.forms {
		s.can.oh = s.can.oh || h.atom.class == classOh
		if h.atom.class != classHundred {
			continue
		}
		s.can.compoundHundreds = s.can.compoundHundreds || h.after.empty()
		for i, f := range s.forms {
			if !h.after.empty() && !h.after.has(i) {
				continue
			}
			if f.atom.class == classTeen {
				s.can.teenHundreds = true
			}
			s.can.beforeHundred.add(int(s.like[i]) - 1)
		}
	}
	for i, f := range s.forms {
		s.insert(0, f.text, i)
		s.insert(1, capital(f.text), i)
	}
	return s
}

func (s *speller) insert(at int32, text string, form int) {
	s.nodes[at].below.add(form)
	for i := 0; i < len(text); i++ {
		next := s.child(at, text[i])
		if next < 0 {
			next = int32(len(s.nodes))
			s.nodes = append(s.nodes, formNode{form: -1})
			s.nodes[at].edges = append(s.nodes[at].edges, formEdge{text[i], next})
		}
		at = next
		s.nodes[at].below.add(form)
	}
	s.nodes[at].form = form
}

func (s *speller) child(at int32, b byte) int32 {
	for _, e := range s.nodes[at].edges {
		if e.b == b {
			return e.node
		}
	}
	return -1
}

// capital gives a text a capital first letter.
func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// jointOf names the place between the number read so far and the next word.
func jointOf(q number, a *atom) joint {
	if q.phase == phaseStart || q.phase == phaseSign {
		return jointOther
	}
	switch a.class {
	case classUnit, classTeen, classTens:
		switch q.phase {
		case phaseTens, phaseFracTens:
			return jointTensUnit
		case phaseUnitLink, phaseFracLink:
			return jointInverted
		case phaseHundred:
			return jointHundredRest
		case phaseThousand:
			return jointThousandRest
		case phaseStart, phaseSign, phaseArticle, phaseZero, phaseUnit, phaseUnitOh, phaseTeen, phaseDone, phaseHundredAnd,
			phaseThousandAnd, phasePoint, phaseFrac1, phaseFracEnd, phaseFracOver, phaseWritten:
			return jointOther
		}
	case classHundred, classHundreds:
		switch q.phase {
		case phaseThousand:
			return jointThousandRest
		case phaseUnit, phaseTeen, phaseDone:
			return jointHundred
		case phaseStart, phaseSign, phaseArticle, phaseZero, phaseUnitLink, phaseUnitOh, phaseTens, phaseHundred, phaseHundredAnd,
			phaseThousandAnd, phasePoint, phaseFrac1, phaseFracLink, phaseFracTens, phaseFracEnd, phaseFracOver, phaseWritten:
			return jointOther
		}
	case classThousand:
		if q.phase != phaseArticle {
			return jointThousand
		}
	case classA:
		if q.phase == phaseUnit || q.phase == phaseFrac1 {
			return jointInverted
		}
	case classZero, classOh, classAnd, classMinus, classPoint, classDigits:
	}
	return jointOther
}

// next returns the number after one more form, if decoding may continue q with it in this way.
func (s *speller) next(q number, i int, join joinBits) (number, bool) {
	f := &s.forms[i]
	j := jointOf(q, &f.atom)
	if s.table.joints[j]&join == 0 {
		return q, false
	}
	n, ok := q.step(&f.atom)
	if !ok || n.doubt != 0 {
		return q, false
	}
	if (j == jointHundred || j == jointThousand) && !f.after.empty() && (q.last == 0 || !f.after.has(int(q.last)-1)) {
		return q, false
	}
	n.last = 0
	if f.atom.class == classUnit || f.atom.class == classTeen {
		n.last = s.like[i]
	}
	return n, true
}

// families: within one language a role needs no family.
func families(roles, r role) uint8 {
	if roles&r != 0 {
		return 0xff
	}
	return 0
}
