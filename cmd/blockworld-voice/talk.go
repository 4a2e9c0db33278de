package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"blockworld-voice/capture/gesture"
	"blockworld-voice/capture/recorder"
	"blockworld-voice/evidence"
	"blockworld-voice/game"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/pipeline"
	"blockworld-voice/internal/screen"
)

// talk is a push-to-talk session: one loop that owns the gesture and what is shown, and one utterance at a time on a
// goroutine of its own.
type talk struct {
	p       *program
	set     talkSettings
	a       *assembly
	rec     *recorder.Recorder
	replies *replies // nil: replies aren't played
	front   front
	machine *gesture.Machine
	warmed  chan struct{} // closed when the recorder's process was started, or could not be

	inbox chan any
	over  chan struct{} // closed when the loop is over: nothing is taken in any more

	// of the loop
	view    screen.View
	cur     *take // whose gesture is under way
	next    *take // that waits for a reply to be ended
	working bool
	work    context.Context
	cancel  context.CancelCauseFunc
	asking  *question
	ending  *ending
	figures figures
	hung    bool
	err     error

	fence   sync.Once
	settled chan game.Outcome // of the stop
}

// take is a gesture on its way to a recording.
type take struct {
	at    time.Time
	kept  chan struct{}
	ended chan recorder.Ending
	stop  func(error) // of a take that answers a question
}

func newTake(at time.Time) *take {
	return &take{at: at, kept: make(chan struct{}), ended: make(chan recorder.Ending, 1)}
}

func (t *take) gesture() recorder.Gesture {
	return recorder.Gesture{At: t.at, Kept: t.kept, End: t.ended}
}

// What the loop is told, beside gesture.Signal.
type (
	stopAsked struct {
		why    string
		signal bool // of the system: the exit status says so
	}
	answered struct{ yes bool }
	recorded struct{ take *recorder.Take } // the microphone is closed
	progress struct{ recorder.Progress }
	stageAt  struct {
		stage evidence.Stage
		b     pipeline.Boundary
	}
	speaking struct{ on bool }
	finished struct {
		rec *pipeline.Record
		err error
	}
	note     string
	released struct{ knows bool } // the terminal reports releases, or doesn't
)

// stopWanted is the cause of everything that a stop ends.
var stopWanted = errors.New("the session was stopped")

func newTalk(p *program, set talkSettings) *talk {
	t := &talk{p: p, set: set, inbox: make(chan any, 256), over: make(chan struct{}), warmed: make(chan struct{}),
		settled: make(chan game.Outcome, 1), machine: gesture.New(gesture.Config{Max: set.most})}
	t.work, t.cancel = context.WithCancelCause(context.Background())
	t.view = screen.View{State: screen.Off, Max: set.most, Level: recorder.Level(nil), Microphone: set.device}
	if set.device == "" {
		t.view.Microphone = "the system's default"
	}
	return t
}

// adopt takes over what was assembled.
func (t *talk) adopt(a *assembly) {
	t.a = a
	t.view.World = describe(a)
	a.tasks.to(t.front.printer())
}

// send tells the loop something. After its end nobody listens.
func (t *talk) send(m any) {
	select {
	case t.inbox <- m:
	case <-t.over:
	}
}

// boundary follows the course of an utterance. It runs on its goroutine.
func (t *talk) boundary(s evidence.Stage, b pipeline.Boundary) { t.send(stageAt{s, b}) }

// run is the session. It returns when everything is settled, or was given up.
func (t *talk) run(ctx context.Context) error {
	go func() {
		defer close(t.warmed)
		if err := t.rec.Warm(t.work); err != nil && t.work.Err() == nil {
			t.send(note("the microphone: " + err.Error()))
		}
	}()
	defer context.AfterFunc(ctx, func() { t.halt(stopAsked{why: "a signal", signal: true}) })()
	back := t.backends(ctx)
	t.front.start(t)
	t.mode(false)
	t.show()
	t.loop()
	close(t.over)
	back()
	t.view.Bye = t.bye()
	err := errors.Join(t.err, t.front.end(t.view))
	if t.hung {
		return errors.Join(err, &problem{status: statusFailed, what: "something didn't end in time and was given up", next: "what was recorded is kept; see: blockworld-voice evidence list"})
	}
	<-t.warmed
	if e := t.rec.Close(); e != nil {
		err = errors.Join(err, e)
	}
	if t.replies != nil {
		err = errors.Join(err, t.replies.player.Close())
	}
	t.p.note(settings{quiet: t.front.quiet()}, t.figures.String())
	return err
}

func (t *talk) loop() {
	tick := time.NewTicker(time.Second / 4)
	defer tick.Stop()
	for {
		if t.ending != nil && t.ending.over(t.working) {
			return
		}
		due := time.NewTimer(time.Hour)
		if at, ok := t.machine.Deadline(); ok {
			due.Reset(time.Until(at))
		}
		var settled <-chan game.Outcome
		var given <-chan time.Time
		if t.ending != nil {
			settled, given = t.settled, t.ending.given.C
		}
		select {
		case m := <-t.inbox:
			t.take(m)
		case <-due.C:
			t.apply(t.machine.Tick(time.Now()))
		case o := <-settled:
			t.ending.outcome = o
		case <-given:
			t.hung = true
			return
		case <-tick.C:
			if t.asking != nil {
				t.asking.tick(t)
			}
		}
		due.Stop()
		t.show()
	}
}

func (t *talk) show() {
	v := t.view
	switch {
	case t.ending != nil:
		v.State = screen.Stopping
	case t.rec.State() == recorder.Uncertain:
		v.State = screen.Uncertain
	}
	t.front.show(v)
}

// take takes in one message.
func (t *talk) take(m any) {
	switch m := m.(type) {
	case gesture.Signal:
		t.apply(t.machine.Input(m))
	case stopAsked:
		t.stop(m)
	case answered:
		if t.asking != nil {
			t.asking.answer(t, pipeline.Answer{Answered: yesNo(m.yes), By: "key", At: time.Now()})
		}
	case *question:
		t.ask(m)
	case asked:
		if t.asking == m.q {
			m.q.until = time.Now().Add(askFor)
		}
	case progress:
		if m.Ready || t.view.State == screen.Recording {
			t.view.State = screen.Recording
		}
		t.view.Level, t.view.Elapsed = m.Level, m.Elapsed
	case stageAt:
		t.stage(m)
	case recorded:
		if m.take.Device.Name != "" {
			t.view.Microphone = m.take.Device.Name + " (" + m.take.Device.API + ")"
		}
		if t.working && t.next == nil {
			t.view.State, t.view.Stage = screen.Thinking, "keeping the recording"
		}
	case speaking:
		if m.on && t.asking == nil {
			t.view.State = screen.Speaking
		}
	case finished:
		t.finish(m)
	case note:
		t.view.Note = string(m)
		t.front.note(string(m))
	case released:
		t.mode(m.knows)
	}
}

func yesNo(yes bool) pipeline.Answered {
	if yes {
		return pipeline.AnsweredYes
	}
	return pipeline.AnsweredNo
}

// mode says how the talk key is used: it is held only where the terminal tells of releases.
func (t *talk) mode(knows bool) {
	hold := knows && t.set.mode != modeToggle
	t.front.hold(hold)
	t.view.Talk = t.set.key.String() + ", and again when done"
	if hold {
		t.view.Talk = "hold " + t.set.key.String()
	} else if t.set.mode == modeHold {
		t.view.Note = "this terminal tells of no releases, so the key is pressed twice"
	}
}

// apply does what follows from gestures and from time.
func (t *talk) apply(events []gesture.Event) {
	for _, e := range events {
		switch e := e.(type) {
		case gesture.Begin:
			t.begin(e)
		case gesture.Keep:
			if t.cur != nil {
				close(t.cur.kept)
			}
		case gesture.End:
			if t.cur != nil {
				t.cur.ended <- recorder.Ending{Why: e.Why, At: e.At}
				t.cur = nil
			}
		}
	}
}

// begin answers the beginning of a gesture: the microphone is opened, when nothing is under way.
func (t *talk) begin(e gesture.Begin) {
	refuse := func(why string) {
		t.machine.Reset()
		t.view.Note = why
		t.front.note(why)
	}
	switch {
	case t.ending != nil:
		refuse("the session is being stopped")
	case t.asking != nil:
		t.cur = newTake(e.At)
		if !t.asking.record(t, t.cur) {
			t.cur = nil
			refuse("answer with y or n")
		}
	case !t.working:
		t.cur = newTake(e.At)
		t.launch(t.cur)
	case t.replies != nil && t.view.State == screen.Speaking && t.replies.interrupt():
		// The reply is ended, and its process proved gone, before the microphone opens.
		t.cur = newTake(e.At)
		t.next = t.cur
		t.view.State = screen.Arming
	default:
		refuse("not yet: " + t.view.State.String() + "; s stops everything")
	}
}

// launch takes one utterance through the pipeline.
func (t *talk) launch(k *take) {
	t.working = true
	t.view.State, t.view.Note, t.view.Elapsed, t.view.Level = screen.Arming, "", 0, recorder.Level(nil)
	release := func() {}
	src := pipeline.Live{
		Settle: func(ctx context.Context) error {
			var err error
			release, _, err = t.a.behaviours.Capture(ctx)
			return err
		},
		Record: func(ctx context.Context) (*recorder.Take, error) {
			defer release() // the microphone is closed
			return t.record(ctx, k)
		},
	}
	go func() {
		rec, err := t.a.session.Do(t.work, src)
		t.again()
		t.send(finished{rec, err})
	}()
}

// record makes a take, when nothing may still play.
func (t *talk) record(ctx context.Context, k *take) (*recorder.Take, error) {
	select {
	case <-t.warmed:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if t.replies != nil {
		if err := t.replies.player.Fenced(); err != nil {
			return nil, err
		}
	}
	var last time.Time
	made, err := t.rec.Record(ctx, k.gesture(), func(p recorder.Progress) {
		if p.Ready || time.Since(last) > time.Second/15 {
			last = time.Now()
			t.send(progress{p})
		}
	})
	if made != nil {
		t.send(recorded{made})
	}
	return made, err
}

// again starts a fresh process for the next take, when a device has cost us this one.
func (t *talk) again() {
	if t.work.Err() == nil && t.rec.Fenced() == nil {
		_ = t.rec.Warm(t.work) // the next gesture tells
	}
}

// stage follows the course of an utterance.
func (t *talk) stage(m stageAt) {
	if m.b != pipeline.Started || !t.working || t.next != nil {
		return
	}
	switch m.stage {
	case evidence.Transcribe:
		t.view.State, t.view.Stage = screen.Thinking, "listening for a command"
		if t.cur != nil { // the device ended the take: the key may still be down
			t.machine.Reset()
			t.cur = nil
		}
	case evidence.Grammar:
		t.view.Stage = "reading the command"
	case evidence.Game:
		t.asking = nil
		t.view.State = screen.Doing
	case evidence.Synth:
		t.asking = nil
		t.view.State, t.view.Stage = screen.Thinking, "making the reply"
	case evidence.Capture, evidence.Playback:
	}
}

// finish takes in an utterance that is over.
func (t *talk) finish(m finished) {
	t.working = false
	t.asking = nil
	if t.cur != nil && t.cur != t.next {
		t.machine.Reset()
		t.cur = nil
	}
	t.view.State, t.view.Stage = screen.Off, ""
	if m.rec != nil {
		t.figures.add(m.rec)
		t.p.status = t.p.status.and(recordStatus(m.rec))
		t.view.Entries = append(t.view.Entries, entry(m.rec.Line()))
		if n := len(t.view.Entries); n > 50 {
			t.view.Entries = t.view.Entries[n-50:]
		}
		if err := t.front.record(m.rec); err != nil {
			t.err = errors.Join(t.err, err)
			t.stop(stopAsked{why: "the output can't be written"})
		}
	}
	switch {
	case m.err != nil:
		t.err = errors.Join(t.err, m.err)
		t.stop(stopAsked{why: "the evidence can't be written"})
	case t.rec.Fenced() != nil:
		t.stop(stopAsked{why: "the recorder can't be proved to have ended"})
	case t.replies != nil && t.replies.player.Fenced() != nil:
		t.stop(stopAsked{why: "the player can't be proved to have ended"})
	case t.ending != nil:
	case spokenStop(m.rec):
		t.stop(stopAsked{why: "the spoken stop"})
	case m.rec != nil && deniedBy(m.rec):
		t.stop(stopAsked{why: "No AI is on"})
	case t.next != nil:
		k := t.next
		t.next = nil
		t.launch(k)
	}
}

func spokenStop(r *pipeline.Record) bool {
	if r == nil {
		return false
	}
	c, ok := r.Decision.(pipeline.Command)
	if !ok {
		return false
	}
	_, stop := c.Command.(grammar.Stop)
	return stop
}

func deniedBy(r *pipeline.Record) bool {
	o, ok := r.Outcome.(game.Refused)
	return ok && o.Reason == game.Denied
}
