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
	FreeText bool // when nothing is understood, write down what it sounds like, for people
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
	// A witness must have the same best reading, with at least these figures.
	WitnessD   float64 `json:"witness_d"`
	WitnessGap float64 `json:"witness_gap"`
	// Language is the least log share of the reading's language among the three, where
	// Slovak and Czech count as one.
	Language float64 `json:"language"`
}

// Provisional returns limits that were chosen by hand on 96 commands and 144 clips of
// other speech, wider than these clips alone would ask for. Free text is judged most
// mildly: a wrong letter in a chat line does no harm that a coordinate does.
func Provisional() Thresholds {
	return Thresholds{Name: "provisional", Limit: map[Class]Limits{
		Plain:       {D: 0.4, Gap: 1, WitnessD: 0.2, Language: -12},
		Coordinates: {D: 0.2, Gap: 3, WitnessD: 0, WitnessGap: 1, Language: -3},
		Text:        {D: -0.05, Gap: 1.5, WitnessD: -0.1, Language: -3},
	}}
}
