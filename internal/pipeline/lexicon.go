package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"blockworld-voice/game"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/lang"
	"blockworld-voice/transcribe"
)

// spoken is what may be said now: one automaton a language, compiled for the limits of the game session.
type spoken struct {
	start    grammar.Start // other than whole commands: the limits are not asked
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
			o := grammar.Unbounded(l)
			o.Start = s.start
			if s.start == grammar.StartCommand {
				o.Permitted, o.Min, o.Max = limits.Permitted, limits.Min, limits.Max
			}
			a, err := grammar.Compile(o)
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
		r := transcribe.Reading{Key: grammar.Key(c.Command), Class: classOf(c.Command)}
		r.Careful = r.Class == transcribe.Coordinates && careful(text, r.Key)
		return r, true
	}
}

// careful says whether a text has what the decoder makes up where a number is missing or not understood: a word of
// an earlier number once more, or a decimal.
func careful(text, key string) bool {
	if strings.Contains(key, ".") {
		return true
	}
	seen := map[string]bool{}
	for _, w := range lang.Words(text) {
		if seen[w] && w != "minus" && w != "mínus" {
			return true
		}
		seen[w] = true
	}
	return false
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
