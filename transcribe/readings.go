package transcribe

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"blockworld-voice/internal/lang"
)

// gather sums the candidates of each command and returns the commands, best first.
// Texts that the judge does not read as exactly one command count for nothing.
func gather(cands []candidate, l lang.Language, judge Judge) []Scored {
	at := map[string]int{}
	var out []Scored
	for _, c := range cands {
		text := strings.TrimPrefix(c.text, " ")
		r, ok := judge(text)
		if !ok {
			continue
		}
		i, seen := at[r.Key]
		if !seen {
			at[r.Key] = len(out)
			out = append(out, Scored{
				Text: text, Key: r.Key, Class: r.Class, Language: l, Score: c.score, Sum: c.score,
				Audio: c.audio, Tokens: c.tokens, D: c.score / float64(c.tokens), seq: c.seq,
			})
			continue
		}
		out[i].Sum = logAdd(out[i].Sum, c.score)
	}
	slices.SortStableFunc(out, func(a, b Scored) int { return cmp.Compare(b.Sum, a.Sum) })
	return out
}

// merge joins the readings of several languages: one command is one reading, under the
// language in which it scored best.
func merge(lists ...[]Scored) []Scored {
	at := map[string]int{}
	var out []Scored
	for _, list := range lists {
		for _, r := range list {
			i, seen := at[r.Key]
			switch {
			case !seen:
				at[r.Key] = len(out)
				out = append(out, r)
			case r.Sum > out[i].Sum:
				out[i] = r
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Scored) int { return cmp.Compare(b.Sum, a.Sum) })
	return out
}

// decide applies the thresholds to the readings, best first.
func (t Thresholds) decide(rs []Scored) (Verdict, Confidence) {
	if len(rs) == 0 {
		return NotUnderstood, Confidence{Why: "no sentence of the grammar was found"}
	}
	c := Confidence{D: rs[0].D, Gap: math.MaxFloat32}
	if len(rs) > 1 {
		c.Gap = rs[0].Sum - rs[1].Sum
	}
	lim, ok := t.Limit[rs[0].Class]
	switch {
	case !ok:
		c.Why = "no threshold for this class"
	case c.D < lim.D:
		c.Why = "d is too small"
	case c.Gap < lim.Gap:
		c.Why = "another command is too near"
	default:
		return Understood, c
	}
	return NotUnderstood, c
}

// logAdd returns log(exp(a) + exp(b)).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	return a + math.Log1p(math.Exp(b-a))
}
