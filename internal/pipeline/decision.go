package pipeline

import (
	"blockworld-voice/grammar"
	"blockworld-voice/internal/lang"
	"blockworld-voice/transcribe"
)

// Decision is what an utterance was taken for: a Command or a Refusal.
type Decision interface{ decision() }

// Command is one typed instruction, and the language of its words (None when several share them).
type Command struct {
	Command  grammar.Command
	Language lang.Language
}

// Refusal says why there is no command. Nothing was sent on its account.
type Refusal struct {
	Reason   Reason
	Span     *grammar.Span // of the text, where the text is at fault
	Detail   string
	Readings []string // what the text, or the sound, could have meant
}

func (Command) decision() {}
func (Refusal) decision() {}

// Reason is one word of the closed list of refusals: those of the grammar, and those below. The game's own
// reasons stand in its outcome.
type Reason string

const (
	// NoSpeech: nobody spoke, or the source is no sound.
	NoSpeech Reason = "no_speech"
	// NotUnderstood: recognised too uncertainly.
	NotUnderstood Reason = "not_understood"
	// NotConfirmed: a person was asked, and did not say yes.
	NotConfirmed Reason = "not_confirmed"
)

// Reasons lists the reasons of a Refusal.
func Reasons() []Reason {
	out := []Reason{NotUnderstood, NotConfirmed}
	for _, r := range grammar.Reasons() {
		out = append(out, Reason(r.String()))
	}
	return out
}

// decisionDoc is 3-grammar/decision.json.
type decisionDoc struct {
	Schema   int           `json:"schema"`
	Kind     string        `json:"kind"`
	Command  string        `json:"command,omitzero"`
	Language lang.Language `json:"language,omitzero"`
	Reason   Reason        `json:"reason,omitzero"`
	Span     *grammar.Span `json:"span,omitzero"`
	Detail   string        `json:"detail,omitzero"`
	Readings []string      `json:"readings,omitempty"`
	Text     string        `json:"text,omitzero"` // that was judged
}

// maxText is how much of a typed text a decision quotes; what is longer is no command anyway.
const maxText = 4096

func docOf(d Decision, text string) decisionDoc {
	text = short(plain(text), maxText)
	switch d := d.(type) {
	case Command:
		return decisionDoc{Schema: 1, Kind: "command", Command: d.Command.String(), Language: d.Language, Text: text}
	case Refusal:
		return decisionDoc{Schema: 1, Kind: "refusal", Reason: d.Reason, Span: d.Span, Detail: d.Detail, Readings: d.Readings, Text: text}
	}
	return decisionDoc{}
}

// judge asks the grammar about a text. Its answer is final: there is no second opinion.
func judge(text string) Decision {
	switch d := grammar.Parse(text).(type) {
	case grammar.Accepted:
		return Command{d.Command, d.Language}
	case grammar.Refusal:
		r := Refusal{Reason: Reason(d.Reason.String()), Detail: short(plain(d.Detail), maxReason)}
		for _, reading := range d.Readings {
			r.Readings = append(r.Readings, short(plain(reading), maxReason))
		}
		if d.Span.End > d.Span.Start {
			span := d.Span
			r.Span = &span
		}
		return r
	}
	return Refusal{Reason: Reason(grammar.UnknownCommand.String())}
}

// judgeTranscript turns the recogniser's verdict into a decision.
func judgeTranscript(t *transcribe.Transcript) Decision {
	if t.Verdict == transcribe.Understood {
		return judge(t.Text)
	}
	r := Refusal{Reason: NotUnderstood, Detail: t.Confidence.Why}
	for _, s := range t.Readings {
		r.Readings = append(r.Readings, s.Key)
	}
	return r
}

// classOf says which limits a command has to meet before it is believed.
func classOf(c grammar.Command) transcribe.Class {
	switch c.(type) {
	case grammar.GoTo, grammar.LookAt:
		return transcribe.Coordinates
	case grammar.Say:
		return transcribe.Text
	case grammar.StateQuery, grammar.StatusQuery, grammar.Idle, grammar.Follow, grammar.Build, grammar.Stop:
		return transcribe.Plain
	}
	return transcribe.Coordinates
}
