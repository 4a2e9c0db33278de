package pipeline

import (
	"fmt"
	"sync"

	"blockworld-voice/evidence"
	"blockworld-voice/game"
	"blockworld-voice/game/behavior"
	"blockworld-voice/internal/lang"
	"blockworld-voice/synth"
)

// TaskLine is what there is to tell of a task while it runs or when it is over, in the form of --json. Runs in which
// nothing changed have none.
type TaskLine struct {
	Schema   int          `json:"schema"`
	Session  string       `json:"session"`
	Task     string       `json:"task"`
	BegunBy  string       `json:"begun_by"` // the utterance
	Kind     string       `json:"kind"`
	Event    string       `json:"event"` // "changed" or "ended"
	Tick     int          `json:"tick,omitzero"`
	Changes  []string     `json:"changes,omitempty"`
	Why      string       `json:"why,omitzero"`
	Outcome  *LineOutcome `json:"outcome,omitzero"`
	Reason   string       `json:"reason,omitzero"` // of a refusal
	Runs     int          `json:"runs,omitzero"`
	Attempts int          `json:"attempts,omitzero"`
	Reply    *LineReply   `json:"reply,omitzero"`
	Evidence string       `json:"evidence"`
}

// startDoc is task.json.
type startDoc struct {
	behavior.Start
	Utterance evidence.UtteranceID `json:"utterance"`
}

// resultDoc is result.json.
type resultDoc struct {
	behavior.End
	Reply taskReply `json:"reply"`
}

type taskReply struct {
	Language lang.Language `json:"language"`
	Phrase   synth.Phrase  `json:"phrase"`
	Text     string        `json:"text"`
}

// Keeper keeps the tasks that a companion begins in this session's evidence.
func (s *Session) Keeper() behavior.Keeper { return taskKeeper{s} }

type taskKeeper struct{ s *Session }

// Begin comes from the game stage of the utterance that began the task.
func (k taskKeeper) Begin(start behavior.Start) (behavior.Book, error) {
	t, err := k.s.ev.BeginTask()
	if err != nil {
		return nil, err
	}
	b := &taskBook{s: k.s, t: t, kind: start.Kind, language: lang.EN}
	doc := startDoc{Start: start}
	if r := k.s.now.Load(); r != nil {
		doc.Utterance, b.by, b.language = r.u.ID(), r.u.ID(), r.replyLanguage()
	}
	if _, err := t.PutJSON(evidence.TaskFile, doc); err != nil {
		return nil, err
	}
	if b.ticks, err = t.OpenLog(evidence.TicksFile); err != nil {
		return nil, err
	}
	if b.events, err = t.OpenLog(evidence.EventsFile); err != nil {
		return nil, err
	}
	return b, nil
}

// taskBook writes one task.
type taskBook struct {
	s        *Session
	t        *evidence.Task
	kind     behavior.Kind
	language lang.Language
	by       evidence.UtteranceID
	ticks    *evidence.Log
	events   *evidence.Log

	mu    sync.Mutex
	start int64 // of the run under way
	cpu   int64
	tried bool // it left an attempt
}

func (b *taskBook) Name() string { return b.t.ID().String() }

// Recorder begins a run.
func (b *taskBook) Recorder(n int) game.Recorder {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.start, b.cpu, b.tried = b.t.Elapsed(), cpuTime(), false
	return &tickRecorder{b, n}
}

type tickRecorder struct {
	b *taskBook
	n int
}

func numbered(what string, n int) string { return fmt.Sprintf("%s-%03d.json", what, n) }

func (r *tickRecorder) Attempt(a game.Attempt) error {
	_, err := r.b.t.PutJSON(numbered("attempt", r.n), a)
	if err == nil {
		r.b.mu.Lock()
		r.b.tried = true
		r.b.mu.Unlock()
	}
	return err
}

// tickEvent is a line of a task's events.jsonl.
type tickEvent struct {
	Tick int `json:"tick"`
	game.Event
}

func (r *tickRecorder) Event(e game.Event) error { return r.b.events.Append(tickEvent{r.n, e}) }

func (b *taskBook) Close(r behavior.Record, o game.OutcomeRecord) error {
	b.mu.Lock()
	r.StartNS, r.EndNS, r.CPUNS = b.start, b.t.Elapsed(), max(0, cpuTime()-b.cpu)
	tried := b.tried
	b.mu.Unlock()
	if tried {
		if _, err := b.t.PutJSON(numbered("outcome", r.Tick), o); err != nil {
			return err
		}
	}
	if err := b.ticks.Append(r); err != nil {
		return err
	}
	if r.Did == behavior.DidNotice {
		b.s.tell(TaskLine{Task: b.Name(), BegunBy: b.by.String(), Kind: b.kind.String(), Event: "changed", Tick: r.Tick, Changes: r.Changes, Evidence: plain(b.t.Dir())})
	}
	return nil
}

func (b *taskBook) End(e behavior.End) error {
	p := EndPhrase(e)
	words := synth.Words(b.language, p)
	_, err := b.t.PutJSON(evidence.ResultFile, resultDoc{e, taskReply{b.language, p, words}})
	if err == nil {
		_, err = b.t.Seal()
	}
	// What was reached is told also when it could not be kept.
	line := TaskLine{Task: e.Task, BegunBy: b.by.String(), Kind: e.Kind.String(), Event: "ended", Why: e.Why.String(), Outcome: &LineOutcome{e.Result.Kind().String(), e.Result.Say()},
		Runs: e.Runs, Attempts: e.Attempts, Reply: &LineReply{Language: b.language.String(), Text: words}, Evidence: plain(b.t.Dir())}
	if r, ok := e.Result.(game.Refused); ok {
		line.Reason = r.Reason.String()
	}
	b.s.tell(line)
	return err
}

func (s *Session) tell(l TaskLine) {
	l.Schema, l.Session = 1, s.ev.ID().String()
	if s.cfg.Task != nil {
		s.cfg.Task(l)
	}
}

// EndPhrase is the one sentence for a task that is over. It says no more than its record does.
func EndPhrase(e behavior.End) synth.Phrase {
	say := func(k synth.PhraseKey) synth.Phrase { return synth.Phrase{Key: k} }
	if e.Result.Kind() == game.KindUnknown {
		return say(synth.EffectUnknown)
	}
	switch e.Kind {
	case behavior.Idle:
		return say(synth.IdleEnded)
	case behavior.Follow:
		return say(synth.FollowEnded)
	case behavior.Build:
		switch r := e.Result.(type) {
		case game.Reported:
			return say(synth.BuildReported)
		case game.Refused:
			if k, ok := synth.RefusalKey(r.Reason.String()); ok {
				return say(k)
			}
		case game.Cancelled, game.Unknown:
		}
		return say(synth.BuildStopped)
	}
	return say(synth.InternalFailed)
}
