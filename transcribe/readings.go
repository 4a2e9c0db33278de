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
				Audio: c.audio, Tokens: c.tokens, D: c.score / float64(c.tokens), seq: c.seq, End: c.end, Careful: r.Careful,
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

// Decide applies the thresholds to the readings of a clip, best first, to the languages
// that were heard and to the witnesses that have been asked so far. It is the one rule of
// acceptance: the engine and whoever fits thresholds use it. The two best readings are
// enough; without languages or witnesses nothing is asked of them.
func (t Thresholds) Decide(rs []Scored, heard map[lang.Language]float64, witnesses []Witness) (Verdict, Confidence) {
	c := Confidence{Languages: heard, Witnesses: witnesses}
	if len(rs) == 0 {
		c.Why = "no sentence of the grammar was found"
		return NotUnderstood, c
	}
	c.D, c.Gap = rs[0].D, math.MaxFloat32
	if len(rs) > 1 {
		c.Gap = rs[0].Sum - rs[1].Sum
	}
	lim, ok := t.Limit[rs[0].Class]
	if rs[0].Careful {
		lim = lim.careful()
	}
	switch {
	case !ok:
		c.Why = "no threshold for this class"
	case c.D < lim.D:
		c.Why = "d is too small"
	case c.Gap < lim.Gap:
		c.Why = "another command is too near"
	case rs[0].End < lim.End:
		c.Why = "the speech goes on behind the text"
	case rs[0].Pace > lim.Pace:
		c.Why = "nobody speaks so many syllables in this time"
	case len(heard) > 0 && kin(heard, rs[0].Language) < lim.Language:
		c.Why = "another language is spoken"
	}
	for i := 0; i < len(witnesses) && c.Why == ""; i++ {
		c.Why = lim.confirm(rs[0], witnesses[i])
	}
	if c.Why != "" {
		return NotUnderstood, c
	}
	return Understood, c
}

// logAdd returns log(exp(a) + exp(b)).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	return a + math.Log1p(math.Exp(b-a))
}
