package grammar

import (
	"strings"

	"blockworld-voice/internal/lang"
)

// Spell writes a coordinate in the words of a language, in the one default way that speech synthesis
// uses. Coordinates outside −30 000 … 30 000 are written with digits.
func Spell(c Coord, l lang.Language) string {
	t := merged.tableOf(l)
	if t == nil || c < MinCoord || c > MaxCoord {
		return c.String()
	}
	w := newWriter(t, nil)
	w.coord(c)
	return string(w.text)
}

// Phrase writes a command in the words of a language, in a form that Parse reads as the same command.
// Unlike the canonical form it is what a person would say.
func Phrase(c Command, l lang.Language) string {
	t := merged.tableOf(l)
	if t == nil {
		return c.String()
	}
	return t.phrase(c, nil)
}

func (t *table) phrase(c Command, choose chooser) string {
	w := newWriter(t, choose)
	w.verb(c.Kind())
	switch c := c.(type) {
	case GoTo:
		w.triple(c.X, c.Y, c.Z)
	case LookAt:
		w.triple(c.X, c.Y, c.Z)
	case Say:
		w.put(" ", c.Text)
	case StateQuery, StatusQuery, Idle, Follow, Build, Stop:
	}
	return string(w.text)
}

// choice is what a spelling leaves open.
type choice uint8

const (
	choiceForm choice = iota // which form of a word
	choiceWay                // how words meet or in which order they stand
)

// chooser picks one of n ways, 0 being the default. A nil chooser always takes the default.
type chooser func(kind choice, n int) int

// writer writes spellings. The spelling functions of the languages are written with it: a choice
// point offers first what decoding may produce, then what only the parser reads.
type writer struct {
	table  *table
	text   []byte
	choose chooser
	heard  bool // offer also what only the parser reads
}

func newWriter(t *table, choose chooser) *writer { return &writer{table: t, choose: choose} }

func (w *writer) put(parts ...string) {
	for _, p := range parts {
		w.text = append(w.text, p...)
	}
}

// way picks one of the ways: the first decoding ones, or any.
func (w *writer) way(decoding int, ways ...string) string {
	return ways[w.pick(choiceWay, decoding, len(ways))]
}

func (w *writer) pick(kind choice, decoding, all int) int {
	n := decoding
	if w.heard {
		n = all
	}
	if w.choose == nil || n < 2 {
		return 0
	}
	return w.choose(kind, n)
}

// number writes one form of a number word.
func (w *writer) number(c class, value int) {
	forms, heard := w.table.spellings(c, value)
	i := w.pick(choiceForm, len(forms), len(forms)+len(heard))
	if i < len(forms) {
		w.put(forms[i])
		return
	}
	w.put(heard[i-len(forms)])
}

// one writes one of the given forms.
func (w *writer) one(decoding int, forms ...string) {
	w.put(forms[w.pick(choiceForm, decoding, len(forms))])
}

func (w *writer) verb(k Kind) {
	for _, c := range w.table.commands {
		if c.kind == k {
			w.one(len(c.words), c.words...)
		}
	}
}

func (w *writer) triple(x, y, z Coord) {
	w.put(" ")
	w.coord(x)
	w.put(w.way(2, " ", ", "))
	w.coord(y)
	w.put(w.way(2, " ", ", "))
	w.coord(z)
}

// coord writes a coordinate within the range.
func (w *writer) coord(c Coord) {
	if c < 0 {
		w.number(classMinus, 0)
		w.put(" ")
		c = -c
	}
	whole, frac := int(c/100), int(c%100)
	if frac == 0 {
		w.table.spell(w, whole)
		return
	}
	w.table.spellPoint(w, whole)
	w.put(" ")
	if frac >= 10 && w.pick(choiceWay, 2, 2) == 1 { // celá dvadsaťpäť
		w.table.spell(w, frac)
		return
	}
	w.digit(frac / 10)
	if frac%10 != 0 {
		w.put(" ")
		w.digit(frac % 10)
	}
}

func (w *writer) digit(d int) {
	if d == 0 {
		zero, _ := w.table.spellings(classZero, 0)
		oh, _ := w.table.spellings(classOh, 0)
		w.one(len(zero)+len(oh), append(zero[:len(zero):len(zero)], oh...)...)
		return
	}
	w.number(classUnit, d)
}

// spellings returns the forms of a number word and those that only the parser reads.
func (t *table) spellings(c class, value int) (forms, heard []string) {
	t.once.Do(t.index)
	e := t.byValue[wordKey{c, value}]
	return e.forms, e.heard
}

type wordKey struct {
	class class
	value int
}

type wordEntry struct{ forms, heard []string }

func (t *table) index() {
	t.byValue = map[wordKey]wordEntry{}
	for _, n := range t.numerals {
		if n.roles&roleBound != 0 {
			continue
		}
		k := wordKey{n.class, n.value}
		e := t.byValue[k]
		e.forms = append(e.forms, strings.Fields(n.forms)...)
		e.heard = append(e.heard, strings.Fields(n.heard)...)
		t.byValue[k] = e
	}
}

// first returns the default form of a number word.
func (w *writer) first(c class, value int) string {
	forms, _ := w.table.spellings(c, value)
	return forms[0]
}

// point writes the word after a whole part: the forms after one, after two to four and after others
// agree with it by default; any of them, and the spoken signs, may be said.
func (w *writer) point(n int, one, few, many string, signs ...string) {
	forms := []string{one, few, many}
	switch {
	case n < 2:
	case n < 5:
		forms = []string{few, one, many}
	default:
		forms = []string{many, one, few}
	}
	w.one(3, append(forms, signs...)...)
}

// endsWith says whether the text so far ends with one of the words.
func (w *writer) endsWith(words ...string) bool {
	for _, x := range words {
		if strings.HasSuffix(string(w.text), x) {
			return true
		}
	}
	return false
}
