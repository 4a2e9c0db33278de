package pipeline

import (
	"math"
	"path/filepath"

	"blockworld-voice/evidence"
	"blockworld-voice/game"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/lang"
	"blockworld-voice/internal/strictjson"
)

// Line is one utterance in the form of --json. Scripts rely on its names and on their order.
type Line struct {
	Schema     int            `json:"schema"`
	Session    string         `json:"session"`
	Utterance  string         `json:"utterance"`
	Source     LineSource     `json:"source"`
	Language   LineLanguage   `json:"language"`
	Transcript LineTranscript `json:"transcript"`
	Decision   LineDecision   `json:"decision"`
	Outcome    LineOutcome    `json:"outcome"`
	Reply      LineReply      `json:"reply"`
	Playback   LinePlayback   `json:"playback"`
	Stages     []LineStage    `json:"stages"`
	Evidence   string         `json:"evidence"`
}

type (
	// LineSource is what the utterance came from: a "wav", a "text" or the "microphone".
	LineSource struct {
		Kind    string        `json:"kind"`
		Name    string        `json:"name"`
		SHA256  digest.Digest `json:"sha256"`
		Seconds float64       `json:"seconds"`
	}
	// LineLanguage is the language that was asked for and the one of the instruction.
	LineLanguage struct {
		Asked string `json:"asked"`
		Used  string `json:"used"`
	}
	// LineTranscript is what was heard, or typed: then it has no model.
	LineTranscript struct {
		Text        string         `json:"text"`
		FreeText    string         `json:"free_text"`
		Model       string         `json:"model"`
		ModelSHA256 digest.Digest  `json:"model_sha256"`
		Confidence  LineConfidence `json:"confidence"`

		typed bool // only the text is there
	}
	// LineConfidence is the figures behind the recogniser's verdict.
	LineConfidence struct {
		D   float64 `json:"d"`
		Gap float64 `json:"gap"`
	}
	// LineDecision is a command, or a refusal with its reason: of the grammar, the recogniser or the authority.
	LineDecision struct {
		Kind     string        `json:"kind"`
		Command  string        `json:"command,omitzero"`
		Reason   string        `json:"reason,omitzero"`
		Span     *grammar.Span `json:"span,omitzero"`
		Detail   string        `json:"detail,omitzero"`
		Readings []string      `json:"readings,omitempty"`
	}
	// LineOutcome is what happened.
	LineOutcome struct {
		Kind   string `json:"kind"`
		Detail string `json:"detail"`
	}
	// LineReply is the answer in words, and its sound when a voice spoke it.
	LineReply struct {
		Language string `json:"language"`
		Text     string `json:"text"`
		WAV      string `json:"wav"`
	}
	// LinePlayback is what is known of the reply's way to a loudspeaker.
	LinePlayback struct {
		State string `json:"state"`
	}
	// LineStage is the part of a receipt that a list needs.
	LineStage struct {
		Stage   string `json:"stage"`
		Verdict string `json:"verdict"`
		StartNS int64  `json:"start_ns"`
		EndNS   int64  `json:"end_ns"`
		CPUNS   int64  `json:"cpu_ns"`
	}
)

// MarshalJSON leaves out what a typed instruction doesn't have.
func (s LineSource) MarshalJSON() ([]byte, error) {
	if s.Kind == kindText {
		return strictjson.Line(struct {
			Kind   string        `json:"kind"`
			SHA256 digest.Digest `json:"sha256"`
		}{s.Kind, s.SHA256})
	}
	type whole LineSource
	return strictjson.Line(whole(s))
}

// MarshalJSON leaves out what a typed instruction doesn't have.
func (t LineTranscript) MarshalJSON() ([]byte, error) {
	if t.typed {
		return strictjson.Line(struct {
			Text string `json:"text"`
		}{t.Text})
	}
	type whole LineTranscript
	return strictjson.Line(whole(t))
}

// kindText is the kind of a typed source.
const kindText = "text"

// Line returns the record in the form of --json.
func (r *Record) Line() Line {
	l := Line{
		Schema: 1, Session: r.Session.String(), Utterance: r.ID.String(),
		Source: r.lineSource(), Language: r.lineLanguage(), Transcript: r.lineTranscript(),
		Decision: r.lineDecision(), Outcome: r.lineOutcome(), Playback: LinePlayback{NotAttempted.String()}, Evidence: plain(r.Dir),
	}
	if r.Reply != nil {
		l.Reply = LineReply{r.Reply.Language.String(), r.Reply.Text, plain(r.Reply.WAV)}
	}
	if r.Playback != nil {
		l.Playback.State = r.Playback.State.String()
	}
	for _, rc := range r.Trail {
		l.Stages = append(l.Stages, LineStage{rc.Stage.String(), rc.Verdict.String(), rc.StartNS, rc.EndNS, rc.CPUNS})
	}
	return l
}

func (r *Record) lineSource() LineSource {
	switch src := r.Source.(type) {
	case WAV:
		s := LineSource{Kind: "wav", Name: plain(filepath.Base(src.Path))}
		if r.Heard != nil {
			s.SHA256 = r.Heard.SHA256
			if r.Heard.Clip != nil {
				s.Seconds = math.Round(r.Heard.Clip.Seconds*1000) / 1000
			}
		}
		return s
	case Live:
		s := LineSource{Kind: "microphone"}
		if r.Heard != nil {
			s.SHA256 = r.Heard.SHA256
			if r.Heard.Clip != nil {
				s.Seconds = math.Round(r.Heard.Clip.Seconds*1000) / 1000
			}
		}
		return s
	case Typed:
		return LineSource{Kind: kindText, SHA256: digest.Of([]byte(src.Text))}
	}
	return LineSource{}
}

func (r *Record) lineLanguage() LineLanguage {
	l := LineLanguage{Asked: "auto"}
	if len(r.Asked) == 1 {
		l.Asked = r.Asked[0].String()
	}
	if r.Transcript != nil && r.Transcript.Used != lang.None {
		l.Used = r.Transcript.Used.String()
	} else if c, ok := r.Decision.(Command); ok {
		l.Used = c.Language.String()
	}
	return l
}

func (r *Record) lineTranscript() LineTranscript {
	if src, ok := r.Source.(Typed); ok {
		return LineTranscript{Text: plain(src.Text), typed: true}
	}
	t := r.Transcript
	if t == nil {
		return LineTranscript{}
	}
	return LineTranscript{
		Text: t.Text, FreeText: t.FreeText, Model: t.Model, ModelSHA256: t.ModelSHA256,
		Confidence: LineConfidence{D: round(t.Confidence.D), Gap: round(t.Confidence.Gap)},
	}
}

// round keeps three places; a gap without another command is as good as any over a thousand.
func round(x float64) float64 {
	return math.Round(min(x, 1000)*1000) / 1000
}

// lineDecision joins the two who may refuse: the grammar, before there is a command, and the authority, after.
func (r *Record) lineDecision() LineDecision {
	switch d := r.Decision.(type) {
	case Command:
		if o, ok := r.Outcome.(game.Refused); ok {
			return LineDecision{Kind: "refusal", Command: d.Command.String(), Reason: o.Reason.String(), Detail: o.Detail}
		}
		return LineDecision{Kind: "command", Command: d.Command.String()}
	case Refusal:
		return LineDecision{Kind: "refusal", Reason: string(d.Reason), Span: d.Span, Detail: d.Detail, Readings: d.Readings}
	}
	if r.verdict(evidence.Capture) == evidence.Failed {
		return LineDecision{Kind: "refusal", Reason: string(NoSpeech), Detail: r.why(evidence.Capture)}
	}
	if r.Halted {
		return LineDecision{Kind: "refusal", Reason: game.Disarmed.String(), Detail: "the session was stopped before anything was understood"}
	}
	return LineDecision{Kind: "refusal", Reason: string(NotUnderstood), Detail: r.why(evidence.Transcribe)}
}

// Unopened is the line of an utterance that no session took, because none could be opened: it has no evidence, and
// nothing was sent. Stopped says that the operator stopped the program before.
func Unopened(src Source, asked []lang.Language, why Refusal, stopped bool) Line {
	r := Record{Source: src, Asked: asked, Decision: why, Halted: stopped}
	if stopped {
		r.Decision = nil
	}
	l := r.Line()
	l.Session, l.Utterance = "", ""
	return l
}

// lineOutcome is the game's, or what follows from there being none: nothing was sent.
func (r *Record) lineOutcome() LineOutcome {
	if r.Outcome != nil {
		return LineOutcome{r.Outcome.Kind().String(), r.Outcome.Say()}
	}
	if r.Halted {
		return LineOutcome{game.KindCancelled.String(), "stopped before anything was sent"}
	}
	return LineOutcome{game.KindRefused.String(), "nothing was sent"}
}

// why returns the reason in a stage's receipt.
func (r *Record) why(s evidence.Stage) string {
	for _, rc := range r.Trail {
		if rc.Stage == s {
			return rc.Reason
		}
	}
	return ""
}
