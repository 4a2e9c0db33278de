package grammar

import (
	"strings"
	"sync/atomic"
	"testing"

	"blockworld-voice/internal/lang"
)

// many returns how often a random test runs: a million in all, fewer with the race detector.
func many(n int) int {
	if raceEnabled {
		return n / 25
	}
	return n
}

func TestSamplesParseToTheirCommand(t *testing.T) {
	for _, x := range lang.All() {
		var wrong, skipped atomic.Int64
		n := many(167_000)
		shards(func(shard int) {
			s, err := NewSampler(x, uint64(shard))
			if err != nil {
				t.Error(err)
				return
			}
			for range n {
				text, c := s.Next()
				a, ok := Parse(text).(Accepted)
				if (!ok || a.Command != c) && wrong.Add(1) <= 10 {
					t.Errorf("%q: %s, want %s", text, describe(Parse(text)), c)
				}
			}
			skipped.Add(int64(s.Skipped()))
		})
		t.Logf("%s: %d sentences; %d more were ambiguous", x, 2*n, skipped.Load())
	}
}

// A random triple either parses to itself or is refused as ambiguous. The share of refusals is printed:
// a triple is ambiguous where a number that ends in tens, hundreds or thousands stands before one that
// could continue it, and the words can also be cut into three other numbers.
// contract: S2
func TestRandomTriples(t *testing.T) {
	for _, x := range lang.All() {
		table := merged.tableOf(x)
		for _, span := range []int{100, 1000, 30000} {
			for _, joint := range []string{" ", ", "} {
				var wrong, ambiguous atomic.Int64
				n := many(30_000)
				shards(func(shard int) {
					s := Sampler{table: table, state: uint64(span + shard)}
					for range n {
						var c [3]Coord
						for i := range c {
							c[i] = Blocks(s.below(2*span+1) - span)
							if s.below(8) == 0 {
								c[i] = c[i] / 10
							}
						}
						text := Spell(c[0], x) + joint + Spell(c[1], x) + joint + Spell(c[2], x)
						switch got, err := ParseCoordinates(text); {
						case err == nil && got == c:
						case err != nil && err.(Refusal).Reason == Ambiguous:
							ambiguous.Add(1)
						case wrong.Add(1) <= 10:
							t.Errorf("%q: %v %v, want %v", text, got, err, c)
						}
					}
				})
				share := float64(ambiguous.Load()) / float64(2*n)
				t.Logf("%s within ±%d, joined by %q: %d triples, %.2f %% ambiguous", x, span, joint, 2*n, 100*share)
				if joint == ", " && ambiguous.Load() != 0 {
					t.Errorf("%s: with commas nothing is ambiguous", x)
				}
			}
		}
	}
}

// What the parser accepts, the automaton proposes in some spelling, and the other way round.
func TestAutomatonAndParserAgree(t *testing.T) {
	for _, x := range lang.All() {
		o := Unbounded(x)
		o.Min = [3]Coord{Blocks(-2500), Blocks(-64), Blocks(-30000)}
		o.Max = [3]Coord{Blocks(1250), Blocks(320), Blocks(30000)}
		wide, box := compile(t, Unbounded(x)), compile(t, o)
		s, err := NewSampler(x, 7)
		if err != nil {
			t.Fatal(err)
		}
		for range many(60_000) {
			text, c := s.Next()
			if !run(wide, text) {
				t.Fatalf("%s: the automaton does not accept %q", x, text)
			}
			if got, want := run(box, text), within(c, o); got != want {
				t.Fatalf("%s: in the box %v, want %v: %q", x, got, want, text)
			}
			if !run(wide, Phrase(c, x)) {
				t.Fatalf("%s: the automaton does not accept %q", x, Phrase(c, x))
			}
		}
		// Random walks through the automaton.
		for _, a := range []*Automaton{wide, box} {
			bounds := a.options
			for range many(40_000) {
				text := walk(a, s)
				switch d := Parse(text).(type) {
				case Accepted:
					if !within(d.Command, bounds) {
						t.Fatalf("%s: %q is out of bounds: %s", x, text, d.Command)
					}
				case Refusal:
					if d.Reason != Ambiguous && d.Reason != BadText {
						t.Fatalf("%s: %q: %v", x, text, d)
					}
				}
			}
		}
	}
}

func within(c Command, o Options) bool {
	var p [3]Coord
	switch c := c.(type) {
	case GoTo:
		p = [3]Coord{c.X, c.Y, c.Z}
	case LookAt:
		p = [3]Coord{c.X, c.Y, c.Z}
	case Say, StateQuery, StatusQuery, Idle, Follow, Build, Stop:
		return true
	}
	for i := range p {
		if p[i] < o.Min[i] || p[i] > o.Max[i] {
			return false
		}
	}
	return true
}

// walk goes from the start at random to some accepting state.
func walk(a *Automaton, s *Sampler) string {
	var text strings.Builder
	at := a.Start()
	for {
		if a.Accepting(at) && s.below(3) == 0 || text.Len() > 400 && a.Accepting(at) {
			return text.String()
		}
		first := s.below(256)
		moved := false
		for i := range 256 {
			b := byte(first + i)
			if next, ok := a.Step(at, b); ok {
				at, moved = next, true
				text.WriteByte(b)
				break
			}
		}
		if !moved {
			return text.String()
		}
	}
}
