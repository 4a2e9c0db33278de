package qualify

import (
	"cmp"
	"slices"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/lang"
	"blockworld-voice/transcribe"
)

// Made says what a report was made of, so that it can be made again.
type Made struct {
	Command    []string      `json:"command"`
	Program    digest.Digest `json:"program_sha256"`
	Settings   digest.Digest `json:"settings_sha256"`
	Manifest   string        `json:"manifest"`
	Corpus     digest.Digest `json:"corpus_sha256"`
	Model      string        `json:"model"`
	ModelSHA   digest.Digest `json:"model_sha256"`
	Engine     string        `json:"engine"`
	Threads    int           `json:"threads"`
	Tempos     []float64     `json:"tempos,omitempty"`
	Language   string        `json:"language"`
	Box        string        `json:"box"`
	Conditions []string      `json:"conditions"`
	Seed       uint64        `json:"seed"`
	LeftOut    int           `json:"left_out"` // rows that expect nothing
}

// Summary is what became of clips that are to be understood. Intent and slots are before rejection.
type Summary struct {
	Intent  Rate `json:"intent"` // of whole commands: the verb
	Slots   Rate `json:"intent_and_slots"`
	Right   Rate `json:"right"`
	Refused Rate `json:"refused"`
	Wrong   Rate `json:"wrong"`
}

// Row is one group of clips.
type Row struct {
	Name    string  `json:"name"`
	Grammar Summary `json:"in_grammar"` // whole commands and coordinates
	Numbers Summary `json:"numbers"`
	False   Rate    `json:"false"` // other speech that was accepted
}

// Point is a place on the curve: the limits of d moved by Shift.
type Point struct {
	Shift        float64 `json:"shift"`
	Right        Rate    `json:"right"` // of whole commands and coordinates
	Wrong        Rate    `json:"wrong"`
	NumbersRight Rate    `json:"numbers_right"`
	NumbersWrong Rate    `json:"numbers_wrong"`
	False        Rate    `json:"false"`
}

// Time is how long a stage took, in milliseconds.
type Time struct {
	Stage string  `json:"stage"`
	N     int     `json:"n"`
	P50   float64 `json:"p50_ms"`
	P95   float64 `json:"p95_ms"`
}

// ClipOutcome is one clip in the report.
type ClipOutcome struct {
	File      string  `json:"file"`
	Condition string  `json:"condition"`
	Outcome   Outcome `json:"outcome"`
	Heard     string  `json:"heard,omitzero"`
}

// Named is a share under a name.
type Named struct {
	Name string `json:"name"`
	Rate Rate   `json:"rate"`
}

// Report is everything that a run came to.
type Report struct {
	Schema     int                   `json:"schema"`
	Made       Made                  `json:"made"`
	Thresholds transcribe.Thresholds `json:"thresholds"`
	Overall    []Row                 `json:"overall"`
	Language   []Row                 `json:"by_language"`
	Audible    []Row                 `json:"by_language_without_formant"`
	Kind       []Row                 `json:"by_kind"`
	Voice      []Row                 `json:"by_voice"`
	Condition  []Row                 `json:"by_condition"`
	Task       []Row                 `json:"by_task"`
	False      []Named               `json:"false_by_kind_of_other_speech"`
	Reasons    []Named               `json:"refused_because"`
	WER        []Named               `json:"word_error_rate"`
	Commands   []Confused            `json:"confused_commands"`
	Words      []ConfusedWord        `json:"confused_number_words"`
	Curve      []Point               `json:"curve"`
	Times      []Time                `json:"times"`
	Fit        *Fit                  `json:"fit,omitempty"`
	Clips      []ClipOutcome         `json:"clips"`
}

// formant is the kind of voice that recognisers hardly understand; it is reported apart.
const formant = "formant"

// Make judges the clips by the thresholds.
func Make(made Made, clips []Clip, t transcribe.Thresholds) *Report {
	all := func(*Clip) string { return "all" }
	audible := slices.Clone(clips)
	audible = slices.DeleteFunc(audible, func(c Clip) bool { return c.Kind == formant })
	language := func(c *Clip) string { return c.Language.String() }
	r := &Report{
		Schema: 1, Made: made, Thresholds: t,
		Overall:   append(rows(clips, t, all), rows(audible, t, func(*Clip) string { return "without formant voices" })...),
		Language:  rows(clips, t, language),
		Audible:   rows(audible, t, language),
		Kind:      rows(clips, t, func(c *Clip) string { return c.Kind }),
		Voice:     rows(clips, t, func(c *Clip) string { return c.Voice }),
		Condition: rows(clips, t, func(c *Clip) string { return c.Condition }),
		Task:      rows(clips, t, func(c *Clip) string { return c.Task.String() }),
		Commands:  confusedCommands(clips, t),
		Words:     confusedWords(clips),
		WER:       wordErrors(clips),
		Curve:     curve(clips, t),
		Times:     times(clips),
	}
	r.False = named(clips, func(c *Clip) (string, bool, bool) {
		o, _ := c.Judge(t)
		return c.Group, c.Task == Other, o == False
	})
	r.Reasons = shares(clips, func(c *Clip) (string, bool) {
		o, why := c.Judge(t)
		return why, c.Task != Other && o == Refused
	})
	for i := range clips {
		c := &clips[i]
		o, _ := c.Judge(t)
		r.Clips = append(r.Clips, ClipOutcome{c.File, c.Condition, o, c.Best()})
	}
	return r
}

// tally counts one group.
type tally struct {
	commands, intent, n, slots int
	by                         [len(outcomeNames)]int
}

func (s *tally) add(c *Clip, o Outcome) {
	s.n++
	s.by[o]++
	if c.Task == Command {
		s.commands++
		if intent(c.Best(), c.Task) == intent(c.Key, c.Task) {
			s.intent++
		}
	}
	if c.Best() == c.Key {
		s.slots++
	}
}

func (s *tally) summary() Summary {
	return Summary{RateOf(s.intent, s.commands), RateOf(s.slots, s.n), RateOf(s.by[Right], s.n), RateOf(s.by[Refused], s.n), RateOf(s.by[Wrong], s.n)}
}

// sets are the three kinds of clips that are never added up.
type sets struct{ grammar, numbers, other tally }

func (s *sets) add(c *Clip, o Outcome) {
	switch c.Task {
	case Command, Coordinates:
		s.grammar.add(c, o)
	case Number:
		s.numbers.add(c, o)
	case Other:
		s.other.add(c, o)
	}
}

func (s *sets) row(name string) Row {
	return Row{name, s.grammar.summary(), s.numbers.summary(), RateOf(s.other.by[False], s.other.n)}
}

// rows groups the clips by a name, in the order of the names.
func rows(clips []Clip, t transcribe.Thresholds, of func(*Clip) string) []Row {
	groups := map[string]*sets{}
	for i := range clips {
		c := &clips[i]
		name := of(c)
		if name == "" {
			name = "not named"
		}
		if groups[name] == nil {
			groups[name] = &sets{}
		}
		o, _ := c.Judge(t)
		groups[name].add(c, o)
	}
	var out []Row
	for name, s := range groups {
		out = append(out, s.row(name))
	}
	order := map[string]int{lang.SK.String(): 1, lang.CS.String(): 2, lang.EN.String(): 3}
	slices.SortFunc(out, func(a, b Row) int {
		return cmp.Or(cmp.Compare(order[a.Name], order[b.Name]), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// named counts by a name what is in question and what of it counts.
func named(clips []Clip, of func(*Clip) (name string, in, counts bool)) []Named {
	k, n := map[string]int{}, map[string]int{}
	for i := range clips {
		if name, in, counts := of(&clips[i]); in {
			n[name]++
			if counts {
				k[name]++
			}
		}
	}
	var out []Named
	for name := range n {
		out = append(out, Named{name, RateOf(k[name], n[name])})
	}
	slices.SortFunc(out, func(a, b Named) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// shares counts the names among all that is in question, most frequent first.
func shares(clips []Clip, of func(*Clip) (name string, in bool)) []Named {
	k, n := map[string]int{}, 0
	for i := range clips {
		if name, in := of(&clips[i]); in {
			k[name]++
			n++
		}
	}
	var out []Named
	for name := range k {
		out = append(out, Named{name, RateOf(k[name], n)})
	}
	slices.SortFunc(out, func(a, b Named) int { return cmp.Or(cmp.Compare(b.Rate.K, a.Rate.K), cmp.Compare(a.Name, b.Name)) })
	return out
}

// curve moves the limits of d together; everything else stays. The chosen point is at 0.
func curve(clips []Clip, t transcribe.Thresholds) []Point {
	var out []Point
	for step := -12; step <= 12; step++ {
		moved := transcribe.Thresholds{Limit: map[transcribe.Class]transcribe.Limits{}}
		shift := float64(step) / 10
		for c, l := range t.Limit {
			l.D += shift
			moved.Limit[c] = l
		}
		var s sets
		for i := range clips {
			o, _ := clips[i].Judge(moved)
			s.add(&clips[i], o)
		}
		r := s.row("")
		out = append(out, Point{shift, r.Grammar.Right, r.Grammar.Wrong, r.Numbers.Right, r.Numbers.Wrong, r.False})
	}
	return out
}

// times leaves out the clips without speech: nothing was decoded there.
func times(clips []Clip) []Time {
	var out []Time
	for _, s := range []struct {
		name string
		of   func(*Clip) int64
	}{
		{"encode", func(c *Clip) int64 { return c.EncodeNS }},
		{"decode", func(c *Clip) int64 { return c.DecodeNS }},
		{"total", func(c *Clip) int64 { return c.TotalNS }},
	} {
		var ms []float64
		for i := range clips {
			if clips[i].Gate == "" {
				ms = append(ms, float64(s.of(&clips[i]))/1e6)
			}
		}
		out = append(out, Time{s.name, len(ms), Quantile(ms, 0.5), Quantile(ms, 0.95)})
	}
	return out
}
