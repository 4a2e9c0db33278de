package transcribe

import (
	"testing"
	"time"

	"blockworld-voice/internal/lang"
)

func TestSyllables(t *testing.T) {
	for _, c := range []struct {
		text string
		l    lang.Language
		want int
	}{
		{"", lang.SK, 0},
		{"choď na desať šesťdesiatštyri mínus päť", lang.SK, 12},
		{"štvrť tri", lang.SK, 2},
		{"čtrnáct čtvrt", lang.CS, 3},
		{"šedesát čtyři, tři sta!", lang.CS, 7},
		{"jdi na sto padesát osm", lang.CS, 7},
		{"go to one hundred sixty-five", lang.EN, 8},
		{"seventy nine", lang.EN, 4},
	} {
		if got := syllables(c.text, c.l); got != c.want {
			t.Errorf("%q: %d, want %d", c.text, got, c.want)
		}
	}
}

func TestPaceNeedsATime(t *testing.T) {
	if p := pace("dva tri", lang.SK, 0); p != 0 {
		t.Fatal(p)
	}
	if p := pace("dva tri", lang.SK, time.Second/2); p != 4 {
		t.Fatal(p)
	}
}

func TestPaceAndEndRefuse(t *testing.T) {
	lim := Thresholds{Limit: map[Class]Limits{Coordinates: {Gap: 1, End: -4, Pace: 8, CarefulGap: 3, CarefulEnd: -1.5, WitnessGap: 1}}}
	good := Scored{Key: "a", Class: Coordinates, D: 1, Sum: 5, End: -2, Pace: 5}
	with := func(f func(*Scored)) []Scored {
		s := good
		f(&s)
		return []Scored{s, {Key: "b", Sum: 3}}
	}
	for name, c := range map[string]struct {
		rs   []Scored
		want string
	}{
		"good":                  {with(func(*Scored) {}), ""},
		"goes on":               {with(func(s *Scored) { s.End = -4.1 }), "the speech goes on behind the text"},
		"too fast":              {with(func(s *Scored) { s.Pace = 8.1 }), "nobody speaks so many syllables in this time"},
		"careful, near":         {with(func(s *Scored) { s.Careful = true }), "another command is too near"},
		"careful, goes on":      {with(func(s *Scored) { s.Careful, s.Sum = true, 9 }), "the speech goes on behind the text"},
		"careful and clear":     {with(func(s *Scored) { s.Careful, s.Sum, s.End = true, 9, -1 }), ""},
		"the pace is not known": {with(func(s *Scored) { s.Pace = 0 }), ""},
	} {
		if _, conf := lim.Decide(c.rs, nil, nil); conf.Why != c.want {
			t.Errorf("%s: %q, want %q", name, conf.Why, c.want)
		}
	}
	w := []Witness{{Tempo: 1.1, Key: "a", D: 1, Gap: 2}}
	rs := with(func(s *Scored) { s.Careful, s.Sum, s.End = true, 9, -1 })
	if v, _ := lim.Decide(rs, nil, w); v == Understood {
		t.Error("a careful reading was confirmed by a witness within its gap")
	}
}
