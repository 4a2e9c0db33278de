package grammar

import (
	"strconv"

	"blockworld-voice/internal/lang"
)

// Span is a range of byte offsets into the text that Parse was given.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Reason says why a text is no command.
type Reason uint8

const (
	// NoSpeech: nothing is left after normalising.
	NoSpeech Reason = iota + 1
	// UnknownCommand: the text does not begin with a command of the grammar.
	UnknownCommand
	// Ambiguous: the speaker could have meant two different things.
	Ambiguous
	// MissingCoordinate: fewer than three numbers.
	MissingCoordinate
	// ExtraCoordinate: more than three numbers.
	ExtraCoordinate
	// NumberRange: a number outside −30 000 … 30 000.
	NumberRange
	// BadNumber: something that should be a number is none.
	BadNumber
	// BadText: the text to say breaks the rules of CheckText.
	BadText
	// NotAWholeCommand: a command begins, but words are missing or do not belong.
	NotAWholeCommand
)

var reasonNames = [...]string{
	NoSpeech: "no_speech", UnknownCommand: "unknown_command", Ambiguous: "ambiguous",
	MissingCoordinate: "missing_coordinate", ExtraCoordinate: "extra_coordinate", NumberRange: "number_range",
	BadNumber: "bad_number", BadText: "bad_text", NotAWholeCommand: "not_a_whole_command",
}

// Reasons lists all reasons.
func Reasons() []Reason {
	return []Reason{NoSpeech, UnknownCommand, Ambiguous, MissingCoordinate, ExtraCoordinate, NumberRange, BadNumber, BadText, NotAWholeCommand}
}

// String returns the name that records use.
func (r Reason) String() string {
	if r != 0 && int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return "reason(" + strconv.Itoa(int(r)) + ")"
}

// ParseReason returns the reason of a name.
func ParseReason(name string) (Reason, bool) {
	for r, n := range reasonNames {
		if n != "" && n == name {
			return Reason(r), true
		}
	}
	return 0, false
}

// Decision is what Parse makes of a text: Accepted or Refusal, nothing else.
type Decision interface{ decision() }

// Accepted holds the one command that the text means.
type Accepted struct {
	Command Command
	// Language is the language of the command's words, or lang.None when several share them.
	Language lang.Language
}

// Refusal says why the text is no command. Nothing may be done on its account.
type Refusal struct {
	Reason Reason
	Span   Span
	// Detail is for people who read records; programs switch on Reason.
	Detail string
	// Readings are the two things that an ambiguous text could mean.
	Readings []string
}

func (Accepted) decision() {}
func (Refusal) decision()  {}

// Error makes a Refusal usable as an error.
func (r Refusal) Error() string {
	if r.Detail == "" {
		return r.Reason.String()
	}
	return r.Reason.String() + ": " + r.Detail
}

// View is a Decision in the form of records and of --json.
type View struct {
	Kind     string   `json:"kind"` // "command" or "refusal"
	Command  string   `json:"command,omitzero"`
	Language string   `json:"language,omitzero"`
	Reason   string   `json:"reason,omitzero"`
	Span     *Span    `json:"span,omitzero"`
	Detail   string   `json:"detail,omitzero"`
	Readings []string `json:"readings,omitempty"`
}

// ViewOf returns the view of d.
func ViewOf(d Decision) View {
	switch d := d.(type) {
	case Accepted:
		return View{Kind: "command", Command: d.Command.String(), Language: d.Language.String()}
	case Refusal:
		v := View{Kind: "refusal", Reason: d.Reason.String(), Detail: d.Detail, Readings: d.Readings}
		if d.Span.End > d.Span.Start {
			s := d.Span
			v.Span = &s
		}
		return v
	}
	return View{}
}
