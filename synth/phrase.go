package synth

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"blockworld-voice/internal/lang"
)

// PhraseKey is one of the things that a reply can say. The zero value is none.
type PhraseKey uint8

const (
	// Refused by the grammar or by recognition. Nothing was sent.
	NoSpeech PhraseKey = iota + 1
	UnknownCommand
	Ambiguous
	MissingCoordinate
	ExtraCoordinate
	NumberRange
	BadNumber
	BadText
	NotAWholeCommand
	NotUnderstood
	NotConfirmed

	// Refused by the session's authority. Nothing was sent.
	NotPermitted
	OutOfBounds
	TooFar
	Budget
	Expired
	NotBound
	Busy
	Disarmed
	Denied
	Unreachable

	// Understood and waiting for the person's gesture. Nothing was sent. The argument is the command in words.
	Proposed

	// A task was accepted; what it does is told later.
	IdleStarted
	FollowStarted
	BuildStarted

	// The client said so, and perhaps a fresh observation too.
	StateReported // the position, three numbers in words
	StateWithoutPosition
	StatusReported
	GotoMoved      // and movement was observed
	GotoStill      // and a fresh observation showed no movement
	GotoUnverified // and there was no fresh observation
	LookAtReported
	SayReported
	BuildReported // and every block was observed
	GameError

	// A task or the session is over.
	IdleEnded
	FollowEnded
	BuildStopped
	SessionEnded

	StopObserved
	CancelledBeforeSend

	// Something was sent, or may have been, and its effect is not known.
	EffectUnknown
	StopUnknown
	EarlierUnknown

	// A stage of this program failed. What was already recorded stands.
	CaptureFailed
	RecognitionFailed
	SynthesisFailed
	PlaybackFailed
	EvidenceFailed
	InternalFailed

	endKeys
)

// Class is what a listener must be able to tell from a sentence's first words.
type Class uint8

const (
	ClassRefused Class = iota + 1
	ClassProposed
	ClassStarted
	ClassReported
	ClassEnded
	ClassCancelled
	ClassUnknown
	ClassFailed
)

type keyFacts struct {
	name  string
	class Class
	args  int
}

var keys = [endKeys]keyFacts{
	NoSpeech:             {"no_speech", ClassRefused, 0},
	UnknownCommand:       {"unknown_command", ClassRefused, 0},
	Ambiguous:            {"ambiguous", ClassRefused, 0},
	MissingCoordinate:    {"missing_coordinate", ClassRefused, 0},
	ExtraCoordinate:      {"extra_coordinate", ClassRefused, 0},
	NumberRange:          {"number_range", ClassRefused, 0},
	BadNumber:            {"bad_number", ClassRefused, 0},
	BadText:              {"bad_text", ClassRefused, 0},
	NotAWholeCommand:     {"not_a_whole_command", ClassRefused, 0},
	NotUnderstood:        {"not_understood", ClassRefused, 0},
	NotConfirmed:         {"not_confirmed", ClassRefused, 0},
	NotPermitted:         {"not_permitted", ClassRefused, 0},
	OutOfBounds:          {"out_of_bounds", ClassRefused, 0},
	TooFar:               {"too_far", ClassRefused, 0},
	Budget:               {"budget", ClassRefused, 0},
	Expired:              {"expired", ClassRefused, 0},
	NotBound:             {"not_bound", ClassRefused, 0},
	Busy:                 {"busy", ClassRefused, 0},
	Disarmed:             {"disarmed", ClassRefused, 0},
	Denied:               {"denied", ClassRefused, 0},
	Unreachable:          {"unreachable", ClassRefused, 0},
	Proposed:             {"proposed", ClassProposed, 1},
	IdleStarted:          {"idle_started", ClassStarted, 0},
	FollowStarted:        {"follow_started", ClassStarted, 0},
	BuildStarted:         {"build_started", ClassStarted, 0},
	StateReported:        {"state_reported", ClassReported, 3},
	StateWithoutPosition: {"state_without_position", ClassReported, 0},
	StatusReported:       {"status_reported", ClassReported, 0},
	GotoMoved:            {"goto_moved", ClassReported, 0},
	GotoStill:            {"goto_still", ClassReported, 0},
	GotoUnverified:       {"goto_unverified", ClassReported, 0},
	LookAtReported:       {"look_at_reported", ClassReported, 0},
	SayReported:          {"say_reported", ClassReported, 0},
	BuildReported:        {"build_reported", ClassReported, 0},
	GameError:            {"game_error", ClassReported, 0},
	IdleEnded:            {"idle_ended", ClassEnded, 0},
	FollowEnded:          {"follow_ended", ClassEnded, 0},
	BuildStopped:         {"build_stopped", ClassEnded, 0},
	SessionEnded:         {"session_ended", ClassEnded, 0},
	StopObserved:         {"stop_observed", ClassCancelled, 0},
	CancelledBeforeSend:  {"cancelled_before_send", ClassCancelled, 0},
	EffectUnknown:        {"effect_unknown", ClassUnknown, 0},
	StopUnknown:          {"stop_unknown", ClassUnknown, 0},
	EarlierUnknown:       {"earlier_unknown", ClassUnknown, 0},
	CaptureFailed:        {"capture_failed", ClassFailed, 0},
	RecognitionFailed:    {"recognition_failed", ClassFailed, 0},
	SynthesisFailed:      {"synthesis_failed", ClassFailed, 0},
	PlaybackFailed:       {"playback_failed", ClassFailed, 0},
	EvidenceFailed:       {"evidence_failed", ClassFailed, 0},
	InternalFailed:       {"internal_failed", ClassFailed, 0},
}

// Keys lists the closed set.
func Keys() []PhraseKey {
	ks := make([]PhraseKey, 0, endKeys)
	for k := NoSpeech; k < endKeys; k++ {
		ks = append(ks, k)
	}
	return ks
}

func (k PhraseKey) valid() bool { return k >= NoSpeech && k < endKeys }

// String returns the name on disk. A refusal's name is its reason's name.
func (k PhraseKey) String() string {
	if k.valid() {
		return keys[k].name
	}
	return fmt.Sprintf("phrase(%d)", uint8(k))
}

// ParseKey is the reverse of String.
func ParseKey(name string) (PhraseKey, error) {
	for _, k := range Keys() {
		if keys[k].name == name {
			return k, nil
		}
	}
	return 0, fmt.Errorf("unknown reply %q", name)
}

// RefusalKey returns the phrase for the reason of a refusal, by its name.
func RefusalKey(reason string) (PhraseKey, bool) {
	k, err := ParseKey(reason)
	return k, err == nil && keys[k].class == ClassRefused
}

// MarshalText writes the name; a value outside the set is an error.
func (k PhraseKey) MarshalText() ([]byte, error) {
	if !k.valid() {
		return nil, fmt.Errorf("no such reply: %d", uint8(k))
	}
	return []byte(keys[k].name), nil
}

// UnmarshalText reads a name.
func (k *PhraseKey) UnmarshalText(b []byte) (err error) {
	*k, err = ParseKey(string(b))
	return err
}

// Class returns what kind of thing the sentence tells.
func (k PhraseKey) Class() Class {
	if k.valid() {
		return keys[k].class
	}
	return ClassFailed
}

// Args returns how many arguments the sentence takes.
func (k PhraseKey) Args() int {
	if k.valid() {
		return keys[k].args
	}
	return 0
}

// Phrase is one sentence with its arguments. Numbers in arguments stand in words of the reply's language.
type Phrase struct {
	Key  PhraseKey `json:"key"`
	Args []string  `json:"args,omitzero"`
}

// Check says what is wrong with p: an unknown key, a wrong number of arguments, an argument that is empty, longer than
// 120 characters, or not in words.
func (p Phrase) Check() error {
	if !p.Key.valid() {
		return fmt.Errorf("there is no reply %d", uint8(p.Key))
	}
	if len(p.Args) != keys[p.Key].args {
		return fmt.Errorf("the reply %s takes %d arguments, not %d", p.Key, keys[p.Key].args, len(p.Args))
	}
	for _, a := range p.Args {
		if strings.TrimSpace(a) == "" || utf8.RuneCountInString(a) > 120 {
			return fmt.Errorf("the argument %q of the reply %s is empty or too long", a, p.Key)
		}
		if strings.ContainsFunc(a, unicode.IsNumber) {
			return fmt.Errorf("the argument %q of the reply %s is not in words", a, p.Key)
		}
		if t, err := Text(a); err != nil || t != a {
			return fmt.Errorf("the argument %q of the reply %s is not plain text", a, p.Key)
		}
	}
	return nil
}

// Words returns the sentence. It is total: for a phrase that Check refuses it says that this program failed, and
// lang.None is English.
func Words(l lang.Language, p Phrase) string {
	table := wordings(l)
	if p.Check() != nil {
		return table[InternalFailed]
	}
	s := table[p.Key]
	for _, a := range p.Args {
		s = strings.Replace(s, placeholder, a, 1)
	}
	return s
}

// placeholder stands for one argument in a wording.
const placeholder = "{}"

func wordings(l lang.Language) *[endKeys]string {
	switch l {
	case lang.SK:
		return &slovak
	case lang.CS:
		return &czech
	case lang.EN, lang.None:
	}
	return &english
}

// Wording is one sentence of the table as it stands, with {} for each argument.
type Wording struct {
	Language lang.Language
	Key      PhraseKey
	Text     string
}

// Wordings lists the whole table.
func Wordings() []Wording {
	var ws []Wording
	for _, l := range lang.All() {
		for _, k := range Keys() {
			ws = append(ws, Wording{l, k, wordings(l)[k]})
		}
	}
	return ws
}
