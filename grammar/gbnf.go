package grammar

import (
	"fmt"
	"slices"
	"strings"
)

// GBNF writes the sentences that decoding may produce as a grammar in the form that llama.cpp and
// whisper.cpp read, for people and for other tools. It can't hold the coordinate bounds: they stand
// in a comment.
func GBNF(o Options) (string, error) { return merged.gbnf(o) }

func (l *lexicon) gbnf(o Options) (string, error) {
	a, err := l.compile(o)
	if err != nil {
		return "", err
	}
	g := &rules{}
	var roots []string
	for _, s := range a.speakers {
		roots = append(roots, s.table.code+"-sentence")
	}
	for i := range a.axes {
		g.line("# %c: %s … %s (not part of these rules)", "xyz"[i], o.Min[i], o.Max[i])
	}
	g.line(`root ::= " "? ( %s ) "."?`, strings.Join(roots, " | "))
	g.line(`comma ::= ", " | " "`)
	for _, s := range a.speakers {
		g.speaker(o, s)
	}
	return g.String(), nil
}

type rules struct{ strings.Builder }

func (g *rules) line(format string, args ...any) { fmt.Fprintf(&g.Builder, format+"\n", args...) }

// speaker writes the rules of one language.
func (g *rules) speaker(o Options, s *speller) {
	code := s.table.code
	number, names := g.numbers(s)
	switch o.Start {
	case StartNumber:
		g.line("%s-sentence ::= %s-first", code, code)
	case StartCoordinates:
		g.line("%s-sentence ::= %s-first comma %s-number comma %s-number", code, code, code, code)
	case StartCommand:
		var alts []string
		for _, c := range s.table.commands {
			if !slices.Contains(o.Permitted, c.kind) {
				continue
			}
			var words []string
			for _, w := range c.words {
				words = append(words, quote(w), quote(capital(w)))
			}
			rest := ""
			switch c.kind {
			case KindGoTo, KindLookAt:
				rest = fmt.Sprintf(` " " %s-number comma %s-number comma %s-number`, code, code, code)
			case KindSay:
				rest = ` " " [^/\x00-\x20\x7F] [^\x00-\x1F\x7F]*`
			case KindState, KindStatus, KindIdle, KindFollow, KindBuild, KindStop:
			}
			alts = append(alts, "( "+strings.Join(words, " | ")+" )"+rest)
		}
		g.line("%s-sentence ::= %s", code, strings.Join(alts, " | "))
	}
	if o.Start != StartCommand {
		g.line("%s-first ::= %s", code, strings.Join(s.after(numberStart, names, true), " | "))
	}
	g.line("%s-number ::= %s-%d", code, code, names[numberStart])
	for _, q := range number {
		alts := s.after(q, names, false)
		if q.complete() {
			alts = append(alts, `""`)
		}
		g.line("%s-%d ::= %s", code, names[q], strings.Join(alts, " | "))
	}
}

// numbers finds the states of the number machine that differ in what may follow, the start first.
func (g *rules) numbers(s *speller) ([]number, map[number]int) {
	list, names := []number{numberStart}, map[number]int{numberStart: 0}
	for i := 0; i < len(list); i++ {
		for f := range s.forms {
			for _, join := range []joinBits{joinSpace, joinNone, joinHyphen} {
				n, ok := s.next(list[i], f, join)
				if !ok {
					continue
				}
				n = open(n)
				if _, ok := names[n]; !ok {
					names[n] = len(list)
					list = append(list, n)
				}
			}
		}
	}
	return list, names
}

// open drops the value of a number, as the automaton does where bounds don't matter.
func open(q number) number {
	c := config{free: reachFree, q: q}
	c.tidy()
	if c.q.phase == phaseUnit {
		c.q.sub = 2
		c.q.flags &^= flagNeg
	}
	return c.q
}

// after writes what may follow q.
func (s *speller) after(q number, names map[number]int, first bool) []string {
	type target struct {
		joins joinBits
		next  int
	}
	var order []target
	words := map[target][]string{}
	for f := range s.forms {
		t := target{}
		for _, join := range []joinBits{joinSpace, joinNone, joinHyphen} {
			if n, ok := s.next(q, f, join); ok {
				t.joins |= join
				t.next = names[open(n)]
			}
		}
		if t.joins == 0 {
			continue
		}
		if words[t] == nil {
			order = append(order, t)
		}
		w := s.forms[f].text
		words[t] = append(words[t], quote(w))
		if first {
			words[t] = append(words[t], quote(capital(w)))
		}
	}
	var alts []string
	for _, t := range order {
		alt := "( " + strings.Join(words[t], " | ") + fmt.Sprintf(" ) %s-%d", s.table.code, t.next)
		if q.phase != phaseStart {
			alt = glue(t.joins) + alt
		}
		alts = append(alts, alt)
	}
	return alts
}

// glue writes what may stand between two words.
func glue(j joinBits) string {
	var alts []string
	if j&joinSpace != 0 {
		alts = append(alts, `" "`)
	}
	if j&joinHyphen != 0 {
		alts = append(alts, `"-"`)
	}
	s := strings.Join(alts, " | ")
	if len(alts) > 1 {
		s = "( " + s + " )"
	}
	if j&joinNone != 0 {
		if s == "" {
			return ""
		}
		return s + "? "
	}
	return s + " "
}

func quote(s string) string { return `"` + s + `"` }
