// Package transcribe turns samples into one reading of a closed grammar, or refuses.
//
// A text is looked for only among the sentences of an Automaton, with the true
// log-probabilities of the speech model and a subtraction of what the model would have
// said without hearing anything. What is found is proposed to a Judge (the real
// parser), summed over its spellings, and accepted only when it is far enough above
// nothing and above every other command. The package knows no command by name.
package transcribe

import (
	"errors"
	"time"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/lang"
)

// Class says which thresholds a reading has to meet.
type Class uint8

const (
	Plain       Class = iota // a command without arguments
	Coordinates              // numbers: a wrong one is worse than a refusal
	Text                     // words of the speaker's own
)

var classNames = [...]string{Plain: "plain", Coordinates: "coordinates", Text: "text"}

// String returns the name that files use.
func (c Class) String() string { return classNames[c] }

// MarshalText writes the name.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a name.
func (c *Class) UnmarshalText(b []byte) error {
	for i, n := range classNames {
		if n == string(b) {
			*c = Class(i)
			return nil
		}
	}
	return errors.New("unknown class of commands")
}

// Reading is what a text means. Two texts with one Key are spellings of one command.
type Reading struct {
	Key   string
	Class Class
	// Careful marks a text that the decoder likes to make up, such as one in which a number
	// comes again: it has to meet the stricter limits of its class.
	Careful bool
}

// Judge returns the one meaning of a text, or false when it has none or several. It is
// called by the engine's goroutine.
type Judge func(text string) (Reading, bool)

// Lexicon is what may be said in one language.
type Lexicon struct {
	Language  lang.Language
	Automaton Automaton
	Prompt    string // words of the language as previous text: no sentence, no numbers in a row
}

// Request is one utterance to be understood.
type Request struct {
	Samples  []float32 // 16 kHz mono, −1 … 1
	Lexicons []Lexicon // one language that was asked for, or several to choose from
	Judge    Judge
	Active   time.Duration // how much of the clip is sound, 0: not known, and the pace isn't asked
	FreeText bool          // when nothing is understood, write down what it sounds like, for people
}

// Scored is one reading with its figures. Scores are natural logarithms.
type Scored struct {
	Text     string        `json:"text"`
	Key      string        `json:"command"`
	Class    Class         `json:"class"`
	Language lang.Language `json:"language"`
	Score    float64       `json:"score"`  // of the best spelling
	Sum      float64       `json:"sum"`    // over all spellings
	Audio    float64       `json:"audio"`  // log P(text | audio) of the best spelling
	Tokens   int           `json:"tokens"` // of the best spelling, end of text counted
	D        float64       `json:"d"`      // Score / Tokens
	End      float64       `json:"end"`    // log P(end of text | audio), of the best spelling
	Pace     float64       `json:"pace"`   // syllables a second of sound; 0: not known. Of the best reading only
	Careful  bool          `json:"careful,omitzero"`

	seq []Token // the best spelling's tokens, the space in front included
}

// sub is what was subtracted from Audio to give Score.
func (s Scored) sub() float64 { return s.Audio - s.Score }

// Witness is what the same readings score on the clip played at another tempo. The
// decoder's own confidence doesn't show a word that it dropped or took for its
// neighbour; at another speed it mostly makes another mistake.
type Witness struct {
	Tempo float64 `json:"tempo"`
	Key   string  `json:"command"` // of the best reading there
	D     float64 `json:"d"`       // of the reading to be confirmed
	Gap   float64 `json:"gap"`     // its score less the best other one's
}

// Verdict is the engine's decision on a clip.
type Verdict uint8

const (
	NotUnderstood Verdict = iota // too uncertain, or nothing of the grammar was heard
	Understood
)

var verdictNames = [...]string{NotUnderstood: "not_understood", Understood: "understood"}

// String returns the name that files use.
func (v Verdict) String() string { return verdictNames[v] }

// MarshalText writes the name.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Confidence is the figures behind a verdict.
type Confidence struct {
	D   float64 `json:"d"`   // of the best reading, 0 when there is none
	Gap float64 `json:"gap"` // best sum less the sum of the best other command
	Why string  `json:"why,omitempty"`
	// Languages are the logarithms of the shares that the model gives to the languages.
	Languages map[lang.Language]float64 `json:"languages,omitempty"`
	// Witnesses were asked for a reading that met the limits.
	Witnesses []Witness `json:"witnesses,omitempty"`
}

// Settings is what the decoding was done with.
type Settings struct {
	Temperature  float64       `json:"temperature"`
	Beam         int           `json:"beam"`
	Subtract     float64       `json:"subtract"`
	AudioContext int           `json:"audio_context"`
	Threads      int           `json:"threads"`
	PromptSHA256 digest.Digest `json:"prompt_sha256"`
	Thresholds   string        `json:"thresholds"`
	Tempos       []float64     `json:"tempos,omitempty"`
}

// Transcript is the attributed result for one clip.
type Transcript struct {
	Verdict     Verdict         `json:"verdict"`
	Text        string          `json:"text"`                // of the best reading; of no worth unless Understood
	FreeText    string          `json:"free_text,omitempty"` // what the model writes without a grammar, for people only
	Model       string          `json:"model"`
	ModelSHA256 digest.Digest   `json:"model_sha256"`
	Engine      string          `json:"engine"`
	AudioSHA256 digest.Digest   `json:"audio_sha256"` // of the samples as little-endian float32
	Asked       []lang.Language `json:"languages_asked"`
	Used        lang.Language   `json:"language_used"`
	Confidence  Confidence      `json:"confidence"`
	Settings    Settings        `json:"settings"`
	Readings    []Scored        `json:"readings"` // the two best commands, best first
	EncodeNS    int64           `json:"encode_ns"`
	DecodeNS    int64           `json:"decode_ns"`
}

// Thresholds are the least figures for acceptance, by class.
type Thresholds struct {
	Name  string           `json:"name"`
	Limit map[Class]Limits `json:"limits"`
}

// Limits are the least figures of one class.
type Limits struct {
	D   float64 `json:"d"`
	Gap float64 `json:"gap"`
	// End is the least log-probability that the text ends where it does. Where the grammar
	// wants a number that wasn't said, the decoder copies an earlier one, against this.
	End float64 `json:"end"`
	// Pace is the most syllables a second of sound, a witness that doesn't ask the decoder.
	Pace float64 `json:"pace"`
	// CarefulGap and CarefulEnd stand in for Gap and WitnessGap, and for End, in a reading
	// that is marked as Careful, where they are stricter.
	CarefulGap float64 `json:"careful_gap"`
	CarefulEnd float64 `json:"careful_end"`
	// A witness must have the same best reading, with at least these figures.
	WitnessD   float64 `json:"witness_d"`
	WitnessGap float64 `json:"witness_gap"`
	// Language is the least log share of the reading's language among the three, where
	// Slovak and Czech count as one.
	Language float64 `json:"language"`
}

// Named returns the limits by the names that files use.
func (l Limits) Named() map[string]float64 {
	return map[string]float64{
		"d": l.D, "gap": l.Gap, "end": l.End, "pace": l.Pace, "careful_gap": l.CarefulGap, "careful_end": l.CarefulEnd,
		"witness_d": l.WitnessD, "witness_gap": l.WitnessGap, "language": l.Language,
	}
}

// careful returns the limits of a reading that is marked so.
func (l Limits) careful() Limits {
	l.Gap, l.WitnessGap, l.End = max(l.Gap, l.CarefulGap), max(l.WitnessGap, l.CarefulGap), max(l.End, l.CarefulEnd)
	return l
}

// Conservative returns limits for a model that none were fitted for: wider than any that
// was measured, so that an unknown model refuses rather than errs.
func Conservative() Thresholds {
	return Thresholds{Name: "conservative: nothing was fitted for this model", Limit: map[Class]Limits{
		Plain:       {D: 0.6, Gap: 4, End: -4, Pace: 7, CarefulGap: 4, CarefulEnd: -4, WitnessD: 0.4, WitnessGap: 3, Language: -3},
		Coordinates: {D: 0.8, Gap: 4, End: -2, Pace: 7, CarefulGap: 6, CarefulEnd: -1, WitnessD: 0.6, WitnessGap: 3, Language: -2},
		Text:        {D: 0.3, Gap: 2, End: -2, Pace: 7, CarefulGap: 2, CarefulEnd: -2, WitnessD: 0.2, WitnessGap: 1, Language: -2},
	}}
}

// Provisional returns limits that were chosen by hand on real clips, wider than these
// clips alone would ask for. Free text is judged most mildly: a wrong letter in a chat
// line does no harm that a coordinate does.
func Provisional() Thresholds {
	return Thresholds{Name: "provisional", Limit: map[Class]Limits{
		Plain:       {D: 0.15, Gap: 3, End: -4.5, Pace: 8, CarefulGap: 3, CarefulEnd: -4.5, WitnessD: 0.05, Language: -12},
		Coordinates: {D: 0.1, Gap: 1, End: -4, Pace: 8, CarefulGap: 2, CarefulEnd: -1.5, WitnessD: -0.1, WitnessGap: 1, Language: -3},
		Text:        {D: -0.15, Gap: 1, End: -2.5, Pace: 8, CarefulGap: 1, CarefulEnd: -2.5, WitnessD: -0.2, Language: -3},
	}}
}
