package qualify

import (
	"errors"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/lang"
	"blockworld-voice/transcribe"
)

// Figures are what the recogniser says of a clip with nothing refused.
type Figures struct {
	Gate      string                    `json:"gate,omitzero"` // why there is no speech, "" when there is
	Readings  []transcribe.Scored       `json:"readings,omitempty"`
	Languages map[lang.Language]float64 `json:"languages,omitempty"`
	Witnesses []transcribe.Witness      `json:"witnesses,omitempty"`
	EncodeNS  int64                     `json:"encode_ns"`
	DecodeNS  int64                     `json:"decode_ns"`
	TotalNS   int64                     `json:"total_ns"` // from samples to decision
}

// Clip is a label with its figures under one condition.
type Clip struct {
	Label
	Condition string
	SHA256    digest.Digest // of the source
	Figures
}

// Outcome is what became of a clip under thresholds.
type Outcome uint8

const (
	Refused Outcome = iota // of other speech this is right
	Right                  // accepted, and what was said
	Wrong                  // accepted, and another command than was said
	False                  // other speech, accepted
)

var outcomeNames = [...]string{Refused: "refused", Right: "right", Wrong: "wrong", False: "false"}

// String returns the name that files use.
func (o Outcome) String() string { return outcomeNames[o] }

// MarshalText writes the name.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads a name.
func (o *Outcome) UnmarshalText(b []byte) error {
	for i, n := range outcomeNames {
		if n == string(b) {
			*o = Outcome(i)
			return nil
		}
	}
	return errOutcome
}

// Best is the key of the best reading before rejection, "" when there is none.
func (c *Clip) Best() string {
	if len(c.Readings) == 0 {
		return ""
	}
	return c.Readings[0].Key
}

// Judge applies thresholds to the clip's figures, and says why one is refused.
func (c *Clip) Judge(t transcribe.Thresholds) (Outcome, string) {
	if c.Gate != "" {
		return Refused, "no speech: " + c.Gate
	}
	v, conf := t.Decide(c.Readings, c.Languages, c.Witnesses)
	switch {
	case v != transcribe.Understood:
		return Refused, conf.Why
	case c.Task == Other:
		return False, ""
	case c.Best() == c.Key:
		return Right, ""
	}
	return Wrong, ""
}

// Open are the thresholds of a measuring run: nothing is refused, so that the witnesses are asked of every clip.
func Open() transcribe.Thresholds {
	const least = -1e30
	l := transcribe.Limits{D: least, Gap: least, End: least, Pace: -least, CarefulGap: least, CarefulEnd: least, WitnessD: least, WitnessGap: least, Language: least}
	return transcribe.Thresholds{Name: "none: the figures of every clip", Limit: map[transcribe.Class]transcribe.Limits{
		transcribe.Plain: l, transcribe.Coordinates: l, transcribe.Text: l,
	}}
}

var errOutcome = errors.New("unknown outcome (refused, right, wrong or false)")
