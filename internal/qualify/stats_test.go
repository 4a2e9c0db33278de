package qualify

import (
	"math"
	"slices"
	"strings"
	"testing"

	"blockworld-voice/grammar"
	"blockworld-voice/internal/lang"
)

// The intervals are those of the published formula, computed apart.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n         int
		p, low, high float64
	}{
		{0, 0, 0, 0, 1},
		{0, 144, 0, 0, 0.025984},
		{144, 144, 1, 0.974016, 1},
		{8, 10, 0.8, 0.490162, 0.943318},
		{1, 2, 0.5, 0.094531, 0.905469},
		{72, 96, 0.75, 0.654902, 0.825860},
	} {
		r := RateOf(c.k, c.n)
		if r.K != c.k || r.N != c.n || math.Abs(r.P-c.p) > 1e-6 || math.Abs(r.Low-c.low) > 5e-6 || math.Abs(r.High-c.high) > 5e-6 {
			t.Errorf("%d of %d: %+v, want %v %v %v", c.k, c.n, r, c.p, c.low, c.high)
		}
	}
	if got, want := RateOf(8, 10).String(), "8/10 80.0 % [49.0, 94.3]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestQuantile(t *testing.T) {
	v := []float64{5, 1, 4, 2, 3, 10, 9, 8, 7, 6}
	for q, want := range map[float64]float64{0: 1, 0.5: 5, 0.95: 10, 0.9: 9, 1: 10} {
		if got := Quantile(v, q); got != want {
			t.Errorf("%v: %v, want %v", q, got, want)
		}
	}
	if Quantile(nil, 0.5) != 0 || v[0] != 5 {
		t.Error("of nothing, or the values were moved")
	}
}

func TestAlign(t *testing.T) {
	for _, c := range []struct{ said, heard, want string }{
		{"a b c", "a b c", "aa bb cc"},
		{"a b c", "a c", "aa b- cc"},
		{"a c", "a b c", "aa -b cc"},
		{"a b", "a x", "aa bx"},
		{"", "a", "-a"},
		{"", "", ""},
	} {
		var got []string
		for _, p := range align(strings.Fields(c.said), strings.Fields(c.heard)) {
			dash := func(s string) string {
				if s == "" {
					return "-"
				}
				return s
			}
			got = append(got, dash(p.said)+dash(p.heard))
		}
		if !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%q, %q: %v, want %q", c.said, c.heard, got, c.want)
		}
	}
}

func TestNumberWords(t *testing.T) {
	for _, c := range []struct {
		n    grammar.Coord
		l    lang.Language
		want string
	}{
		{grammar.Blocks(-29), lang.EN, "minus|twenty|nine"},
		{grammar.Blocks(0), lang.EN, "zero"},
		{grammar.Blocks(20), lang.EN, "twenty"},
		{grammar.Blocks(13), lang.EN, "thirteen"},
		{grammar.Blocks(164), lang.SK, "sto|šesťdesiat|štyri"},
		{grammar.Blocks(-7), lang.CS, "minus|sedm"},
		{725, lang.EN, "seven|.|twenty|five"},
		{705, lang.EN, "seven|.|zero|five"},
		{750, lang.EN, "seven|.|five"},
	} {
		if got := strings.Join(numberWords(c.n, c.l), "|"); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.n, c.l, got, c.want)
		}
	}
}
