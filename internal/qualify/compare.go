package qualify

import (
	"fmt"

	"github.com/go-json-experiment/json"
)

// MaxReport is the largest report that is read, in bytes.
const MaxReport = 256 << 20

// ReadReport reads a report that an earlier run wrote.
func ReadReport(data []byte) (*Report, error) {
	var r Report
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("it is no report: %w", err)
	}
	if r.Schema != 1 {
		return nil, fmt.Errorf("it is no report that can be read: schema %d, not 1", r.Schema)
	}
	return &r, nil
}

// Change is a clip that came out differently.
type Change struct {
	File      string
	Condition string
	Was, Is   Outcome
}

// Comparison is a report beside an earlier one.
type Comparison struct {
	Unlike  []string // what differs beside the outcomes
	Lines   []string // rows that both have, for people
	Changed []Change // clips that both have
	Common  int
}

// Against compares with an earlier report.
func (r *Report) Against(old *Report) Comparison {
	var c Comparison
	for _, x := range []struct {
		what   string
		differ bool
	}{
		{"the corpus", r.Made.Corpus != old.Made.Corpus},
		{"the model", r.Made.ModelSHA != old.Made.ModelSHA},
		{"the program", r.Made.Program != old.Made.Program},
		{"the settings", r.Made.Settings != old.Made.Settings},
	} {
		if x.differ {
			c.Unlike = append(c.Unlike, x.what)
		}
	}
	for _, g := range []struct{ is, was []Row }{{r.Overall, old.Overall}, {r.Language, old.Language}, {r.Condition, old.Condition}} {
		was := map[string]Row{}
		for _, row := range g.was {
			was[row.Name] = row
		}
		for _, row := range g.is {
			if w, ok := was[row.Name]; ok {
				c.Lines = append(c.Lines, compareRows(row, w)...)
			}
		}
	}
	before := map[Place]Outcome{}
	for _, o := range old.Clips {
		before[Place{o.File, o.Condition}] = o.Outcome
	}
	for _, o := range r.Clips {
		was, ok := before[Place{o.File, o.Condition}]
		if !ok {
			continue
		}
		c.Common++
		if was != o.Outcome {
			c.Changed = append(c.Changed, Change{o.File, o.Condition, was, o.Outcome})
		}
	}
	return c
}

func compareRows(is, was Row) []string {
	var out []string
	for _, x := range []struct {
		what    string
		is, was Rate
	}{
		{"right", is.Grammar.Right, was.Grammar.Right},
		{"wrong", is.Grammar.Wrong, was.Grammar.Wrong},
		{"numbers right", is.Numbers.Right, was.Numbers.Right},
		{"numbers wrong", is.Numbers.Wrong, was.Numbers.Wrong},
		{"false", is.False, was.False},
	} {
		if x.is.N == 0 || x.was.N == 0 || x.is == x.was {
			continue
		}
		out = append(out, fmt.Sprintf("%s, %s: %s, was %s (%+.1f points)", is.Name, x.what, x.is, x.was, 100*(x.is.P-x.was.P)))
	}
	return out
}

// Limits are what a run has to meet, in per cent; nil asks for nothing.
type Limits struct{ MaxWrong, MaxFalse, MinRight *float64 }

// Check returns what is not met. The shares of commands with coordinates and of bare numbers each have to meet the
// limits; a limit that nothing was measured for is not met.
func (r *Report) Check(l Limits) []string {
	var out []string
	var all Row
	for _, row := range r.Overall {
		if row.Name == "all" {
			all = row
		}
	}
	check := func(limit *float64, most bool, what string, rates ...Rate) {
		if limit == nil {
			return
		}
		measured := false
		for _, x := range rates {
			if x.N == 0 {
				continue
			}
			measured = true
			if most && 100*float64(x.K) > *limit*float64(x.N) {
				out = append(out, fmt.Sprintf("%s: %s, at most %g %% is allowed", what, x, *limit))
			}
			if !most && 100*float64(x.K) < *limit*float64(x.N) {
				out = append(out, fmt.Sprintf("%s: %s, at least %g %% is wanted", what, x, *limit))
			}
		}
		if !measured {
			out = append(out, what+": there is no clip to measure it on")
		}
	}
	check(l.MaxWrong, true, "wrong", all.Grammar.Wrong, all.Numbers.Wrong)
	check(l.MaxFalse, true, "falsely accepted", all.False)
	check(l.MinRight, false, "accepted and right", all.Grammar.Right, all.Numbers.Right)
	return out
}
