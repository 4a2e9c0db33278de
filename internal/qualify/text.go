package qualify

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteText prints the report for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, model %s, %d clips, language %s, conditions %s, thresholds %s\n", r.Made.Manifest, r.Made.Model, len(r.Clips),
		r.Made.Language, strings.Join(r.Made.Conditions, ","), r.Thresholds.Name)
	if r.Made.LeftOut > 0 {
		fmt.Fprintf(&b, "%d rows of the manifest expect nothing and are left out\n", r.Made.LeftOut)
	}
	writeRows(&b, "all", r.Overall)
	if len(r.Language) > 1 {
		writeRows(&b, "by language", r.Language)
		writeRows(&b, "by language, without formant voices", r.Audible)
	}
	if len(r.Kind) > 1 {
		writeRows(&b, "by kind of voice", r.Kind)
	}
	if len(r.Condition) > 1 {
		writeRows(&b, "by condition", r.Condition)
	}
	list := func(title string, ns []Named) {
		if len(ns) > 0 {
			fmt.Fprintf(&b, "\n%s\n", title)
		}
		for _, n := range ns {
			fmt.Fprintf(&b, "  %-40s %s\n", n.Name, n.Rate)
		}
	}
	list("false accepts by kind of other speech", r.False)
	list("refused because", r.Reasons)
	list("word error rate before rejection", r.WER)
	if len(r.Words) > 0 {
		b.WriteString("\nnumber words that were heard as another one, before rejection\n")
	}
	for _, c := range r.Words[:min(len(r.Words), 12)] {
		fmt.Fprintf(&b, "  %s %s → %s  %s\n", c.Language, orNothing(c.Said), orNothing(c.Heard), c.Rate)
	}
	b.WriteString("\ntime\n")
	for _, t := range r.Times {
		fmt.Fprintf(&b, "  %-8s p50 %.0f ms, p95 %.0f ms, n %d\n", t.Stage, t.P50, t.P95, t.N)
	}
	if r.Fit != nil {
		r.Fit.write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeRows(b *strings.Builder, title string, rows []Row) {
	fmt.Fprintf(b, "\n%s: k/n, per cent and its 95 %% interval\n", title)
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "  \tclips\tright\trefused\twrong\tright before rejection\tverb right\n")
	for _, r := range rows {
		for _, s := range []struct {
			name string
			Summary
		}{{"commands", r.Grammar}, {"numbers", r.Numbers}} {
			if s.Right.N > 0 {
				fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Name, s.name, s.Right, s.Refused, s.Wrong, s.Slots, s.Intent)
			}
		}
		if r.False.N > 0 {
			fmt.Fprintf(t, "  %s\tother speech\t\t\t%s\n", r.Name, r.False)
		}
	}
	_ = t.Flush() // into memory
}

func (f *Fit) write(b *strings.Builder) {
	fmt.Fprintf(b, "\nfitted on %d clips of %d speakers, for wrong ≤ %g %% and false ≤ %g %%\n", f.Clips, f.Speakers, 100*f.Target.Wrong, 100*f.Target.False)
	for _, c := range classes {
		l := f.Thresholds.Limit[c]
		fmt.Fprintf(b, "  %-12s d ≥ %g, gap ≥ %g, witness d ≥ %g\n", c, l.D, l.Gap, l.WitnessD)
	}
	for _, c := range f.Unfitted {
		fmt.Fprintf(b, "  %s: no clip, the limits are those from before\n", c)
	}
	writeRows(b, "in sample", f.InSample)
	writeRows(b, "the clip's own speaker left out", f.LeftOut)
}

func orNothing(s string) string {
	if s == "" {
		return nothing
	}
	return s
}

// WriteText prints the comparison for people.
func (c Comparison) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\nagainst the earlier report: %d clips in both, %d came out differently\n", c.Common, len(c.Changed))
	if len(c.Unlike) > 0 {
		fmt.Fprintf(&b, "  not the same: %s\n", strings.Join(c.Unlike, ", "))
	}
	for _, l := range c.Lines {
		fmt.Fprintf(&b, "  %s\n", l)
	}
	const most = 40
	for _, x := range c.Changed[:min(len(c.Changed), most)] {
		fmt.Fprintf(&b, "  %s (%s): was %s, is %s\n", x.File, x.Condition, x.Was, x.Is)
	}
	if n := len(c.Changed) - most; n > 0 {
		fmt.Fprintf(&b, "  and %d more\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
