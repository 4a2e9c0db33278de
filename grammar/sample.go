package grammar

import (
	"fmt"

	"blockworld-voice/internal/lang"
)

// Sampler makes random sentences of the grammar with the command that each means: for people who
// record a corpus, and for tests. The same language and seed give the same sentences.
type Sampler struct {
	lexicon *lexicon
	table   *table
	state   uint64
	skipped int
}

// NewSampler returns a sampler for one language.
func NewSampler(l lang.Language, seed uint64) (*Sampler, error) {
	t := merged.tableOf(l)
	if t == nil {
		return nil, fmt.Errorf("the grammar has no language %q", l)
	}
	return &Sampler{lexicon: merged, table: t, state: seed}, nil
}

// Next returns a sentence and its command. A sentence that the grammar refuses as ambiguous is
// replaced by another; Skipped counts them.
func (s *Sampler) Next() (string, Command) {
	for {
		c := s.command()
		text := s.table.phrase(c, s.choose)
		if r, ok := s.lexicon.parse(text).(Refusal); ok && r.Reason == Ambiguous {
			s.skipped++
			continue
		}
		return text, c
	}
}

// Skipped returns how many sentences were ambiguous.
func (s *Sampler) Skipped() int { return s.skipped }

// below returns a number 0 … n-1 (splitmix64).
func (s *Sampler) below(n int) int {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}

// choose takes the default in two of three cases.
func (s *Sampler) choose(_ choice, n int) int {
	if s.below(3) > 0 {
		return 0
	}
	return s.below(n)
}

func (s *Sampler) command() Command {
	switch r := s.below(20); {
	case r < 9:
		return GoTo{s.horizontal(), s.height(), s.horizontal()}
	case r < 14:
		return LookAt{s.horizontal(), s.height(), s.horizontal()}
	case r < 15:
		return Say{s.table.sayings[s.below(len(s.table.sayings))]}
	}
	return []Command{StateQuery{}, StatusQuery{}, Idle{}, Follow{}, Build{}, Stop{}}[s.below(6)]
}

// horizontal draws x or z: mostly near, sometimes anywhere.
func (s *Sampler) horizontal() Coord {
	n := 100
	switch s.below(10) {
	case 0, 1:
		n = 30000
	case 2, 3, 4:
		n = 1000
	}
	return s.decimals(s.below(2*n+1) - n)
}

func (s *Sampler) height() Coord { return s.decimals(s.below(384) - 64) }

func (s *Sampler) decimals(blocks int) Coord {
	c := Blocks(blocks)
	switch s.below(12) {
	case 0:
		c += Coord(s.below(10) * 10)
	case 1:
		c += Coord(s.below(100))
	}
	return min(c, MaxCoord)
}
