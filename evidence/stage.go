package evidence

import "fmt"

// Stage is one of the six steps of an utterance. The zero value is no stage.
type Stage uint8

const (
	Capture Stage = iota + 1
	Transcribe
	Grammar
	Game
	Synth
	Playback
)

var stageNames = [...]string{Capture: "capture", Transcribe: "transcribe", Grammar: "grammar", Game: "game", Synth: "synth", Playback: "playback"}

// Stages lists all stages in their order.
func Stages() []Stage { return []Stage{Capture, Transcribe, Grammar, Game, Synth, Playback} }

func (s Stage) valid() bool { return s >= Capture && s <= Playback }

// String returns the name as it stands in a receipt.
func (s Stage) String() string {
	if s.valid() {
		return stageNames[s]
	}
	return fmt.Sprintf("stage(%d)", uint8(s))
}

// Folder returns the name of the stage's folder, as "1-capture".
func (s Stage) Folder() string { return fmt.Sprintf("%d-%s", uint8(s), s) }

// ParseStage is the reverse of String.
func ParseStage(name string) (Stage, error) {
	for _, s := range Stages() {
		if stageNames[s] == name {
			return s, nil
		}
	}
	return 0, fmt.Errorf("unknown stage %q", name)
}

func stageOfFolder(name string) (Stage, bool) {
	for _, s := range Stages() {
		if s.Folder() == name {
			return s, true
		}
	}
	return 0, false
}

// MarshalText writes the name; a value outside the set is an error.
func (s Stage) MarshalText() ([]byte, error) {
	if !s.valid() {
		return nil, fmt.Errorf("no such stage: %d", uint8(s))
	}
	return []byte(stageNames[s]), nil
}

// UnmarshalText reads a name.
func (s *Stage) UnmarshalText(b []byte) (err error) {
	*s, err = ParseStage(string(b))
	return err
}

// Verdict is how a stage ended. The zero value is no verdict.
type Verdict uint8

const (
	Done Verdict = iota + 1
	Refused
	Failed
	Skipped
	Cancelled
)

var verdictNames = [...]string{Done: "done", Refused: "refused", Failed: "failed", Skipped: "skipped", Cancelled: "cancelled"}

// Verdicts lists the closed set.
func Verdicts() []Verdict { return []Verdict{Done, Refused, Failed, Skipped, Cancelled} }

func (v Verdict) valid() bool { return v >= Done && v <= Cancelled }

// String returns the name as it stands in a receipt.
func (v Verdict) String() string {
	if v.valid() {
		return verdictNames[v]
	}
	return fmt.Sprintf("verdict(%d)", uint8(v))
}

// ParseVerdict is the reverse of String.
func ParseVerdict(name string) (Verdict, error) {
	for _, v := range Verdicts() {
		if verdictNames[v] == name {
			return v, nil
		}
	}
	return 0, fmt.Errorf("unknown verdict %q", name)
}

// MarshalText writes the name; a value outside the set is an error.
func (v Verdict) MarshalText() ([]byte, error) {
	if !v.valid() {
		return nil, fmt.Errorf("no such verdict: %d", uint8(v))
	}
	return []byte(verdictNames[v]), nil
}

// UnmarshalText reads a name.
func (v *Verdict) UnmarshalText(b []byte) (err error) {
	*v, err = ParseVerdict(string(b))
	return err
}
