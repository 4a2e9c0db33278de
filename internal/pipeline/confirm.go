package pipeline

import (
	"context"
	"fmt"
	"strings"
	"time"

	"blockworld-voice/evidence"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/lang"
	"blockworld-voice/synth"
	"blockworld-voice/transcribe"
)

// Confirm says when a person is asked before a command becomes an instruction.
type Confirm uint8

// The choices.
const (
	ConfirmNever  Confirm = iota
	ConfirmUnsure         // when it was heard well, and yet short of what is accepted
	ConfirmAlways         // then, and before every command that moves or builds
)

var confirmNames = [...]string{ConfirmNever: "never", ConfirmUnsure: "unsure", ConfirmAlways: "always"}

// String returns the name.
func (c Confirm) String() string { return confirmNames[c] }

// ParseConfirm reads a name.
func ParseConfirm(s string) (Confirm, error) {
	for i, n := range confirmNames {
		if n == s {
			return Confirm(i), nil
		}
	}
	return 0, fmt.Errorf("there is no choice %q; there are never, unsure and always", s)
}

// Proposal is a command that waits for a person's word. Nothing was sent.
type Proposal struct {
	Command  grammar.Command
	Language lang.Language
	Why      string       // it is asked
	Words    string       // the question
	Audio    *synth.Audio // the question, spoken; nil without a voice
}

// Answered is how a proposal ended.
type Answered uint8

// The answers. Only AnsweredYes makes an instruction of a proposal.
const (
	AnsweredNothing Answered = iota // in time
	AnsweredYes
	AnsweredNo
	AnsweredStop // the session was stopped
)

var answeredNames = [...]string{AnsweredNothing: "nothing", AnsweredYes: "yes", AnsweredNo: "no", AnsweredStop: "stopped"}

// String returns the name.
func (a Answered) String() string { return answeredNames[a] }

// MarshalText writes the name.
func (a Answered) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// Answer is what a person did about a proposal.
type Answer struct {
	Answered Answered
	By       string    // the gesture: "key", "talk"
	At       time.Time // of the gesture
	Heard    *Hearing  // of a spoken answer
	WAV      []byte    // its recording
}

// Asker puts a proposal to a person. It waits for an explicit gesture, and not for ever.
type Asker interface {
	Ask(context.Context, Proposal) Answer
}

// confirmDoc is 3-grammar/confirm.json.
type confirmDoc struct {
	Schema     int           `json:"schema"`
	Mode       string        `json:"mode"`
	Command    string        `json:"command"`
	Language   lang.Language `json:"language,omitzero"`
	Why        string        `json:"why"`
	Words      string        `json:"words"`
	Spoken     bool          `json:"spoken"`
	AskedNS    int64         `json:"asked_ns"`
	AnsweredNS int64         `json:"answered_ns"`
	Answer     Answered      `json:"answer"`
	By         string        `json:"by,omitzero"`
	GestureNS  int64         `json:"gesture_ns,omitzero"`
}

// The artefacts of a proposal.
const (
	ConfirmFile  = "confirm.json"
	QuestionFile = "question.wav"
	AnswerFile   = "answer.wav"
)

// proposal is what has to be confirmed before the decision stands, or nil.
func (r *run) proposal() *Proposal {
	cfg := r.s.cfg
	if cfg.Confirm == ConfirmNever || cfg.Asker == nil {
		return nil
	}
	t := r.rec.Transcript
	switch d := r.rec.Decision.(type) {
	case Command:
		if cfg.Confirm == ConfirmAlways && moves(d.Command) {
			return &Proposal{Command: d.Command, Language: d.Language, Why: "every command that moves or builds is confirmed"}
		}
	case Refusal:
		if d.Reason != NotUnderstood || t == nil || !nearly(cfg.Thresholds, t) {
			return nil
		}
		if c, ok := judge(t.Readings[0].Text).(Command); ok {
			return &Proposal{Command: c.Command, Language: c.Language, Why: d.Detail}
		}
	}
	return nil
}

// moves says whether a command changes the world or the companion's place.
func moves(c grammar.Command) bool {
	switch c.(type) {
	case grammar.GoTo, grammar.Follow, grammar.Build:
		return true
	case grammar.StateQuery, grammar.StatusQuery, grammar.LookAt, grammar.Say, grammar.Idle, grammar.Stop:
	}
	return false
}

// How far short of the limits a reading may be to be worth a question. A wrong question costs a moment, and a person
// answers it; so these are wide, but another command that is as near is no question.
const (
	nearD   = 0.35
	nearGap = 0.35
)

// nearly says whether the best reading of a refused transcript is good, and only short of the margin.
func nearly(th transcribe.Thresholds, t *transcribe.Transcript) bool {
	if t.Verdict == transcribe.Understood || len(t.Readings) == 0 {
		return false
	}
	if th.Limit == nil {
		th = transcribe.Provisional()
	}
	wide := transcribe.Thresholds{Name: "nearly", Limit: map[transcribe.Class]transcribe.Limits{}}
	for class, l := range th.Limit {
		l.D, l.WitnessD = l.D-nearD, l.WitnessD-nearD
		l.Gap, l.WitnessGap = l.Gap*nearGap, min(l.WitnessGap, 0)
		wide.Limit[class] = l
	}
	v, _ := wide.Decide(t.Readings, t.Confidence.Languages, t.Confidence.Witnesses)
	return v == transcribe.Understood
}

// confirm asks, when that is needed, and makes the decision what the answer makes of it.
func (r *run) confirm(st *step) {
	p := r.proposal()
	if p == nil || r.err != nil {
		return
	}
	l := r.s.cfg.Reply
	if l == lang.None {
		l = p.Language
	}
	if l == lang.None && len(r.rec.Asked) == 1 {
		l = r.rec.Asked[0]
	}
	p.Words = synth.Words(l, synth.Phrase{Key: synth.Proposed, Args: []string{commandWords(p.Command, l)}})
	doc := confirmDoc{Schema: 1, Mode: r.s.cfg.Confirm.String(), Command: p.Command.String(), Language: p.Language, Why: short(plain(p.Why), maxReason), Words: p.Words}
	if r.s.cfg.Voice != nil && r.s.cfg.Player != nil {
		// A question that can't be spoken still stands on the screen.
		if spoken, err := r.s.cfg.Voice.Speak(r.ctx, l, p.Words); err == nil {
			p.Audio, doc.Spoken = spoken.Audio, true
			st.put(QuestionFile, spoken.Audio.WAV)
		}
	}
	doc.AskedNS = r.s.elapsed()
	a := Answer{Answered: AnsweredStop}
	if r.ctx.Err() == nil {
		a = r.s.cfg.Asker.Ask(r.ctx, *p)
	}
	doc.AnsweredNS, doc.Answer, doc.By = r.s.elapsed(), a.Answered, a.By
	if !a.At.IsZero() {
		doc.GestureNS = int64(a.At.Sub(r.s.ev.Epoch()))
	}
	if len(a.WAV) > 0 {
		st.put(AnswerFile, a.WAV)
	}
	st.putJSON(ConfirmFile, doc)
	if a.Answered == AnsweredYes && r.ctx.Err() == nil {
		r.rec.Confirmed = true
		r.rec.Decision = Command{p.Command, p.Language}
		return
	}
	why := map[Answered]string{AnsweredNothing: "nobody confirmed it in time", AnsweredNo: "it was not what was meant", AnsweredStop: "the session was stopped"}
	r.rec.Decision = Refusal{Reason: NotConfirmed, Detail: why[a.Answered], Readings: []string{p.Command.String()}}
}

// plainWords are commands without arguments, as they are said.
var plainWords = map[grammar.Kind][3]string{ // sk, cs, en
	grammar.KindState: {"stav", "stav", "state"}, grammar.KindStatus: {"status", "status", "status"},
	grammar.KindIdle: {"čakaj", "čekej", "idle"}, grammar.KindFollow: {"nasleduj ma", "následuj mě", "follow me"},
	grammar.KindBuild: {"postav schválený plán", "postav schválený plán", "build approved plan"}, grammar.KindStop: {"stop", "stop", "stop"},
	grammar.KindGoTo: {"choď na", "jdi na", "go to"}, grammar.KindLookAt: {"pozri na", "podívej se na", "look at"}, grammar.KindSay: {"povedz", "řekni", "say"},
}

// commandWords says a command in words, for a question. The
// text of a say is on the screen and in the evidence only.
func commandWords(c grammar.Command, l lang.Language) string {
	i := 2
	switch l {
	case lang.SK:
		i = 0
	case lang.CS:
		i = 1
	case lang.EN, lang.None:
		l = lang.EN
	}
	words := []string{plainWords[c.Kind()][i]}
	coords := func(xs ...grammar.Coord) {
		for _, x := range xs {
			words = append(words, grammar.Spell(x, l)+",")
		}
	}
	switch c := c.(type) {
	case grammar.GoTo:
		coords(c.X, c.Y, c.Z)
	case grammar.LookAt:
		coords(c.X, c.Y, c.Z)
	case grammar.Say:
		return words[0]
	case grammar.StateQuery, grammar.StatusQuery, grammar.Idle, grammar.Follow, grammar.Build, grammar.Stop:
	}
	return strings.TrimSuffix(strings.Join(words, " "), ",")
}

// decided is how the grammar stage ends with the decision that stands.
func (r *run) decided() ended {
	ref, ok := r.rec.Decision.(Refusal)
	switch {
	case ok && ref.Reason == NotConfirmed && r.ctx.Err() != nil:
		return ended{evidence.Cancelled, "the session was stopped"}
	case ok:
		return ended{evidence.Refused, string(ref.Reason)}
	}
	return done
}
