package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"blockworld-voice/game"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/lang"
	"blockworld-voice/transcribe"
)

// spoken is what may be said now: one automaton a language, compiled for the limits of the game session.
type spoken struct {
	limits   game.Limits
	lexicons map[lang.Language]transcribe.Lexicon
}

// automaton makes the grammar's automaton usable by the recogniser.
type automaton struct{ a *grammar.Automaton }

func (m automaton) Start() int32 { return int32(m.a.Start()) }

func (m automaton) Step(s int32, b byte) (int32, bool) {
	next, ok := m.a.Step(grammar.State(s), b)
	return int32(next), ok
}

func (m automaton) Accepting(s int32) bool { return m.a.Accepting(grammar.State(s)) }
func (m automaton) FreeTail(s int32) bool  { return m.a.FreeTail(grammar.State(s)) }

// lexiconsFor returns what may be said in the languages, within the limits. The automata are kept as long as the
// limits stay, since the recogniser remembers what it found out about each.
func (s *spoken) lexiconsFor(langs []lang.Language, limits game.Limits) ([]transcribe.Lexicon, error) {
	if s.lexicons == nil || !sameLimits(s.limits, limits) {
		s.limits, s.lexicons = limits, map[lang.Language]transcribe.Lexicon{}
	}
	var out []transcribe.Lexicon
	for _, l := range langs {
		lex, ok := s.lexicons[l]
		if ok && lex.Automaton.(automaton).a.Full() {
			ok = false // it holds as many states as it may: start it afresh
		}
		if !ok {
			a, err := grammar.Compile(grammar.Options{Languages: []lang.Language{l}, Permitted: limits.Permitted, Min: limits.Min, Max: limits.Max})
			if err != nil {
				return nil, fmt.Errorf("the grammar of %s: %w", l, err)
			}
			lex = transcribe.Lexicon{Language: l, Automaton: automaton{a}, Prompt: prompt(l)}
			s.lexicons[l] = lex
		}
		out = append(out, lex)
	}
	return out, nil
}

func sameLimits(a, b game.Limits) bool {
	return a.Min == b.Min && a.Max == b.Max && slices.Equal(a.Permitted, b.Permitted)
}

// reader returns the recogniser's judge: the grammar itself, and what the session permits. A text that the grammar
// refuses, that is no permitted command or that lies outside the box counts for nothing.
func reader(limits game.Limits) transcribe.Judge {
	return func(text string) (transcribe.Reading, bool) {
		c, ok := judge(text).(Command)
		if !ok || !slices.Contains(limits.Permitted, c.Command.Kind()) || !inside(c.Command, limits) {
			return transcribe.Reading{}, false
		}
		return transcribe.Reading{Key: keyOf(c.Command), Class: classOf(c.Command)}, true
	}
}

// keyOf is what two texts have in common that are spellings of one command. What is said to others is heard, not
// written: its punctuation, capitals and accents don't make it another text.
func keyOf(c grammar.Command) string {
	say, ok := c.(grammar.Say)
	if !ok {
		return c.String()
	}
	words := strings.FieldsFunc(strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			return unicode.ToLower(r)
		}
		return ' '
	}, norm.NFD.String(say.Text)), unicode.IsSpace)
	return grammar.Say{Text: strings.Join(words, " ")}.String()
}

func inside(c grammar.Command, l game.Limits) bool {
	var p [3]grammar.Coord
	switch c := c.(type) {
	case grammar.GoTo:
		p = [3]grammar.Coord{c.X, c.Y, c.Z}
	case grammar.LookAt:
		p = [3]grammar.Coord{c.X, c.Y, c.Z}
	case grammar.StateQuery, grammar.StatusQuery, grammar.Say, grammar.Idle, grammar.Follow, grammar.Build, grammar.Stop:
		return true
	}
	for i, v := range p {
		if v < l.Min[i] || v > l.Max[i] {
			return false
		}
	}
	return true
}
