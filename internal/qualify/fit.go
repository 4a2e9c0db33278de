package qualify

import (
	"errors"
	"slices"
	"strings"

	"blockworld-voice/transcribe"
)

// Target is what a fit has to reach first, as shares: wrong of the clips in the grammar, false of other speech.
type Target struct {
	Wrong float64 `json:"wrong"`
	False float64 `json:"false"`
}

// Fit is thresholds fitted on a run's figures, and what they come to. The left-out rows are the honest ones: each
// clip is judged by thresholds fitted without any clip of its speaker.
type Fit struct {
	Target     Target                `json:"target"`
	Clips      int                   `json:"clips"` // bare numbers don't count: the program never accepts them
	Speakers   int                   `json:"speakers"`
	Unfitted   []transcribe.Class    `json:"unfitted,omitempty"` // classes without a clip: as before
	Thresholds transcribe.Thresholds `json:"thresholds"`
	InSample   []Row                 `json:"in_sample"`
	LeftOut    []Row                 `json:"left_out"`
}

// The knobs of a class: few and coarse, since what is fitted is for voices that are not here.
var (
	gridD       = []float64{-0.4, -0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2}
	gridGap     = []float64{0, 1, 2, 3, 4}
	gridWitness = []float64{-0.4, -0.2, 0, 0.2, 0.4, 0.6, 0.8, 1}
)

// knobs are one place of the grid; a later one of equal worth has the wider margins.
type knobs struct{ witness, gap, d float64 }

func grid() []knobs {
	var out []knobs
	for _, w := range gridWitness {
		for _, g := range gridGap {
			for _, d := range gridD {
				out = append(out, knobs{w, g, d})
			}
		}
	}
	return out
}

// with sets the knobs and leaves the other limits.
func (k knobs) with(l transcribe.Limits) transcribe.Limits {
	l.WitnessD, l.Gap, l.D = k.witness, k.gap, k.d
	return l
}

// tries are a speaker's clips of one class at every place of the grid.
type tries struct {
	grammar, other int // clips whose best reading has the class
	at             []counts
}

type counts struct{ right, wrong, falsely int }

// ErrNothingToFit says that no clip of the run can teach anything.
var ErrNothingToFit = errors.New("no clip of a command, of coordinates or of other speech has a reading")

// FitThresholds looks for the limits of each class, with base for all that isn't fitted.
func FitThresholds(clips []Clip, base transcribe.Thresholds, want Target) (*Fit, error) {
	places := grid()
	by := map[string]map[transcribe.Class]*tries{}
	f := &Fit{Target: want}
	for i := range clips {
		c := &clips[i]
		if c.Task == Number || len(c.Readings) == 0 || c.Gate != "" {
			continue
		}
		f.Clips++
		who := speaker(c)
		if by[who] == nil {
			by[who] = map[transcribe.Class]*tries{}
		}
		class := c.Readings[0].Class
		if by[who][class] == nil {
			by[who][class] = &tries{at: make([]counts, len(places))}
		}
		by[who][class].add(c, class, base.Limit[class], places)
	}
	if f.Clips == 0 {
		return nil, ErrNothingToFit
	}
	f.Speakers = len(by)
	f.Thresholds, f.Unfitted = choose(by, "", base, want, places)
	f.Thresholds.Name = "fitted"
	without := map[string]transcribe.Thresholds{}
	for who := range by {
		without[who], _ = choose(by, who, base, want, places)
	}
	f.InSample = fitted(clips, func(*Clip) transcribe.Thresholds { return f.Thresholds })
	f.LeftOut = fitted(clips, func(c *Clip) transcribe.Thresholds {
		if t, ok := without[speaker(c)]; ok {
			return t
		}
		return f.Thresholds // a speaker of numbers alone, or without a reading, has taught nothing
	})
	return f, nil
}

func (t *tries) add(c *Clip, class transcribe.Class, base transcribe.Limits, places []knobs) {
	if c.Task == Other {
		t.other++
	} else {
		t.grammar++
	}
	for i, k := range places {
		o, _ := c.Judge(transcribe.Thresholds{Limit: map[transcribe.Class]transcribe.Limits{class: k.with(base)}})
		switch o {
		case Right:
			t.at[i].right++
		case Wrong:
			t.at[i].wrong++
		case False:
			t.at[i].falsely++
		case Refused:
		}
	}
}

// choose takes for each class the best place of the grid, from the clips of everybody who shares no voice with without.
// First the errors above the target are as few as can be, then the right accepts as many, then the margins wide.
func choose(by map[string]map[transcribe.Class]*tries, without string, base transcribe.Thresholds, want Target, places []knobs) (transcribe.Thresholds, []transcribe.Class) {
	out := transcribe.Thresholds{Limit: map[transcribe.Class]transcribe.Limits{}}
	var unfitted []transcribe.Class
	for _, class := range classes {
		sum := tries{at: make([]counts, len(places))}
		for who, its := range by {
			t := its[class]
			if t == nil || without != "" && shareVoice(who, without) {
				continue
			}
			sum.grammar += t.grammar
			sum.other += t.other
			for i, c := range t.at {
				sum.at[i].right += c.right
				sum.at[i].wrong += c.wrong
				sum.at[i].falsely += c.falsely
			}
		}
		if sum.grammar+sum.other == 0 {
			out.Limit[class] = base.Limit[class]
			unfitted = append(unfitted, class)
			continue
		}
		allowed := func(share float64, n int) int { return int(share * float64(n)) }
		over := func(c counts) int {
			return max(0, c.wrong-allowed(want.Wrong, sum.grammar)) + max(0, c.falsely-allowed(want.False, sum.other))
		}
		best := 0
		for i, c := range sum.at {
			b := sum.at[best]
			if over(c) < over(b) || over(c) == over(b) && c.right >= b.right {
				best = i
			}
		}
		out.Limit[class] = places[best].with(base.Limit[class])
	}
	return out, unfitted
}

// fitted are the rows of a fit, with each clip judged by its own thresholds.
func fitted(clips []Clip, of func(*Clip) transcribe.Thresholds) []Row {
	var all, audible sets
	for i := range clips {
		c := &clips[i]
		o, _ := c.Judge(of(c))
		all.add(c, o)
		if c.Kind != formant {
			audible.add(c, o)
		}
	}
	return []Row{all.row("all"), audible.row("without formant voices")}
}

// speaker is who speaks: the voice without the settings behind its name, as in engine:name:speed:pitch.
func speaker(c *Clip) string {
	var names []string
	for _, v := range strings.Split(c.Voice, "+") {
		parts := strings.SplitN(v, ":", 3)
		names = append(names, strings.Join(parts[:min(2, len(parts))], ":"))
	}
	return strings.Join(names, "+")
}

// shareVoice says whether two speakers have a voice in common: a clip may be joined from several.
func shareVoice(a, b string) bool {
	bs := strings.Split(b, "+")
	return slices.ContainsFunc(strings.Split(a, "+"), func(v string) bool { return slices.Contains(bs, v) })
}
