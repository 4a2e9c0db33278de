package pipeline

import (
	"context"
	"strings"
	"time"

	"blockworld-voice/capture"
	"blockworld-voice/game"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/lang"
	"blockworld-voice/transcribe"
)

// Ear understands clips: the part of the course before the game, which sessions and evaluations share. It keeps the
// automata as long as the limits stay. One goroutine uses it.
type Ear struct {
	engine Engine
	rules  map[grammar.Start]*spoken
}

// NewEar returns an ear on an engine that the caller keeps.
func NewEar(e Engine) *Ear { return &Ear{engine: e, rules: map[grammar.Start]*spoken{}} }

// Task is what a clip is listened to for.
type Task struct {
	Languages []lang.Language
	Limits    game.Limits
	// Start is anything but StartCommand in evaluations only. Bare numbers and coordinates know no limits.
	Start    grammar.Start
	FreeText bool // when nothing is understood, write down what it sounds like, for people
}

// Hearing is what a clip was taken for.
type Hearing struct {
	Gate       capture.Speech
	Transcript *transcribe.Transcript // nil when nobody speaks
	Decision   Decision               // nil for what is no whole command
}

// Hear takes samples through all that comes before the game.
func (e *Ear) Hear(ctx context.Context, samples []float32, t Task) (Hearing, error) {
	h := Hearing{Gate: capture.Gate(samples)}
	if h.Gate.Speech {
		var err error
		if h.Transcript, err = e.understand(ctx, samples, t, h.Gate); err != nil {
			return h, err
		}
	}
	if t.Start == grammar.StartCommand {
		h.Decision = decideHeard(h.Gate, h.Transcript)
	}
	return h, nil
}

// understand asks the recogniser for one reading among what may be said.
func (e *Ear) understand(ctx context.Context, samples []float32, t Task, gate capture.Speech) (*transcribe.Transcript, error) {
	s := e.rules[t.Start]
	if s == nil {
		s = &spoken{start: t.Start}
		e.rules[t.Start] = s
	}
	lexicons, err := s.lexiconsFor(t.Languages, t.Limits)
	if err != nil {
		return nil, err
	}
	read := reader(t.Limits)
	switch t.Start {
	case grammar.StartCommand:
	case grammar.StartCoordinates:
		read = bare(t.Languages, "")
	case grammar.StartNumber:
		read = bare(t.Languages, ", ")
	}
	return e.engine.Transcribe(ctx, transcribe.Request{Samples: samples, Lexicons: lexicons, Judge: read, Active: time.Duration(gate.ActiveMS) * time.Millisecond, FreeText: t.FreeText})
}

// decideHeard turns the gate's and the recogniser's verdicts into a decision.
func decideHeard(gate capture.Speech, t *transcribe.Transcript) Decision {
	if t == nil {
		return Refusal{Reason: NoSpeech, Detail: string(gate.Reason)}
	}
	return judgeTranscript(t)
}

// verbs are in front of bare numbers when the grammar is asked about them.
var verbs = map[lang.Language]string{lang.SK: "choď na ", lang.CS: "jdi na ", lang.EN: "go to "}

// bare is the judge of coordinates without a verb, or of one number: then zeros follow after the separator. The grammar
// itself reads them; several readings are none.
func bare(langs []lang.Language, zeros string) transcribe.Judge {
	return func(text string) (transcribe.Reading, bool) {
		text = strings.TrimSuffix(strings.TrimSpace(text), ".")
		key := ""
		for _, l := range langs {
			sentence := verbs[l] + text
			if zeros != "" {
				zero := grammar.Spell(0, l)
				sentence += zeros + zero + zeros + zero
			}
			a, ok := grammar.Parse(sentence).(grammar.Accepted)
			if !ok {
				continue
			}
			at, ok := a.Command.(grammar.GoTo)
			if !ok {
				continue
			}
			k := "coords " + at.X.String() + " " + at.Y.String() + " " + at.Z.String()
			if zeros != "" {
				k = at.X.String()
			}
			if key != "" && key != k {
				return transcribe.Reading{}, false
			}
			key = k
		}
		return transcribe.Reading{Key: key, Class: transcribe.Coordinates, Careful: careful(text, key)}, key != ""
	}
}
