package behavior

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"blockworld-voice/game"
	"blockworld-voice/grammar"
)

// Companion is the session whose one client everybody wants.
type Companion interface {
	Limits() game.Limits
	Do(context.Context, grammar.Command, game.Recorder) game.Outcome
	Stop(context.Context) game.Outcome
}

// Options are what a controller needs beside its companion.
type Options struct {
	Keeper     Keeper
	Directives int // most idle and follow tasks; 0 is Directives, MostOrders is the ceiling
	// Works make the work of a behaviour for one task. A kind that is missing is refused with the text of Missing.
	Works   map[Kind]func() (Work, error)
	Missing map[Kind]string
	// Ended is told of every task that is over, after its record is complete, from a goroutine of the controller.
	Ended func(End)
}

// Controller is a companion with behaviours: it carries out what the arbiter decides. Its methods may be called from
// any goroutine.
type Controller struct {
	companion Companion
	opt       Options

	mu      sync.Mutex // never held while the companion, a work or a keeper is called
	arbiter Arbiter
	waiting *ask
	task    *task // the last
	orders  int
	cancel  context.CancelCauseFunc // of the tick that runs
	broken  error                   // the first record that could not be kept
	wg      sync.WaitGroup
}

// ask is a request on its way.
type ask struct {
	verdict chan verdict // has room for one
	done    bool         // guarded by the controller's lock
}

type verdict struct {
	refused *game.Refused
	run     RunNo
	gen     Generation
}

// ErrInterrupted is the cause of a run's context that was taken back.
var ErrInterrupted = errors.New("interrupted")

// New makes a controller. The session is the caller's to close, after the controller.
func New(c Companion, o Options) *Controller {
	if o.Directives <= 0 {
		o.Directives = Directives
	}
	o.Directives = min(o.Directives, MostOrders)
	return &Controller{companion: c, opt: o, arbiter: NewArbiter()}
}

// Limits are the companion's.
func (c *Controller) Limits() game.Limits { return c.companion.Limits() }

// Do carries out one command. A behaviour is only accepted by it: how it goes on is told to Options.Ended. Every
// command first ends the behaviour that there is, and waits for it to be settled.
func (c *Controller) Do(ctx context.Context, cmd grammar.Command, rec game.Recorder) game.Outcome {
	switch cmd.(type) {
	case grammar.Stop:
		return c.Stop(ctx)
	case grammar.Idle:
		return c.begin(ctx, Idle)
	case grammar.Follow:
		return c.begin(ctx, Follow)
	case grammar.Build:
		return c.begin(ctx, Build)
	case grammar.StateQuery, grammar.StatusQuery, grammar.GoTo, grammar.LookAt, grammar.Say:
	}
	v := c.request(ctx, Command{})
	if v.refused != nil {
		return *v.refused
	}
	out := c.companion.Do(ctx, cmd, rec)
	if out.Kind() == game.KindUnknown {
		c.feed(Lost{v.run})
	} else {
		c.feed(Replied{v.run, false})
	}
	c.feed(Closed{v.run})
	return out
}

// Stop fences every later send and ends the session. It waits for nobody but the game.
func (c *Controller) Stop(ctx context.Context) game.Outcome {
	c.feed(Halt{})
	return c.companion.Stop(ctx)
}

// Capture settles the behaviour that there is, for a person's gesture. When it returns without an error, nothing of
// ours owns the client, nothing will until release is called, and the microphone may open. took is how long that was
// waited for. The error is a *Refused.
func (c *Controller) Capture(ctx context.Context) (release func(), took time.Duration, err error) {
	began := time.Now()
	v := c.request(ctx, CaptureStart{})
	took = time.Since(began)
	if v.refused != nil {
		return func() {}, took, &RefusedError{*v.refused}
	}
	var once sync.Once
	return func() { once.Do(func() { c.feed(CaptureEnd{}) }) }, took, nil
}

// RefusedError is a refusal where no outcome can stand.
type RefusedError struct{ game.Refused }

func (e *RefusedError) Error() string { return e.Reason.String() + ": " + e.Detail }

// Active says which behaviour has authority now.
func (c *Controller) Active() (Kind, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.arbiter.kind, c.arbiter.valid
}

// Wait returns when the behaviour that there is is over and its record complete, or when ctx ends.
func (c *Controller) Wait(ctx context.Context) error {
	c.mu.Lock()
	t := c.task
	c.mu.Unlock()
	if t == nil {
		return nil
	}
	select {
	case <-t.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close ends what there is, waits for it to be settled and for its record, and returns the first record that could
// not be kept. The session isn't stopped by it.
func (c *Controller) Close() error {
	c.feed(Halt{})
	c.wg.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken
}

// request puts an event of the operator's and waits for its turn.
func (c *Controller) request(ctx context.Context, e Event) verdict {
	me := &ask{verdict: make(chan verdict, 1)}
	c.mu.Lock()
	c.stepLocked(e, me)
	if !me.done {
		c.waiting = me
	}
	c.mu.Unlock()
	select {
	case v := <-me.verdict:
		return v
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if me.done { // the turn came at the same moment
		return <-me.verdict
	}
	c.waiting = nil
	c.stepLocked(Withdraw{}, nil)
	return verdict{refused: &game.Refused{Reason: game.Disarmed, Detail: "cancelled before anything was sent"}}
}

// feed tells the arbiter what happened.
func (c *Controller) feed(e Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stepLocked(e, nil)
}

func (c *Controller) stepLocked(e Event, me *ask) {
	var ds []Decision
	c.arbiter, ds = c.arbiter.Step(e)
	for _, d := range ds {
		switch d := d.(type) {
		case Invalidate: // the arbiter's own state is what Valid looks at
		case Interrupt:
			if c.cancel != nil {
				c.cancel(ErrInterrupted)
			}
		case StartTick:
			c.startTick(d)
		case StartCommand:
			c.answer(me, verdict{run: d.Run})
		case StartTask:
			c.task = &task{gen: d.Gen, kind: d.Kind, done: make(chan struct{}), did: map[Did]int{}}
			c.answer(me, verdict{gen: d.Gen})
		case EndTask:
			c.endTask(d)
		case OpenMicrophone:
			c.answer(me, verdict{})
		case Refuse:
			r := &game.Refused{Reason: game.Busy, Detail: "another instruction is being carried out"}
			if d.Disarmed {
				r = &game.Refused{Reason: game.Disarmed, Detail: "the controller is disarmed: nothing is sent any more"}
			}
			c.answer(me, verdict{refused: r})
		case Disarm, Contain: // the session fences and stops for itself
		}
	}
}

// answer goes to who asks just now, else to who waits.
func (c *Controller) answer(me *ask, v verdict) {
	to := me
	if to == nil {
		to = c.waiting
		c.waiting = nil
	}
	if to != nil && !to.done {
		to.done = true
		to.verdict <- v
	}
}

// begin admits a behaviour.
func (c *Controller) begin(ctx context.Context, kind Kind) game.Outcome {
	refuse := func(r game.Reason, format string, a ...any) game.Outcome {
		return game.Refused{Reason: r, Detail: fmt.Sprintf(format, a...)}
	}
	var work Work
	var err error
	if f := c.opt.Works[kind]; f == nil {
		text := c.opt.Missing[kind]
		if text == "" {
			text = "this session has no " + kind.String()
		}
		err = game.Refusal(game.NotPermitted, "%s", text)
	} else {
		work, err = f()
	}
	runs := 1
	if err == nil {
		runs = work.Runs()
	}
	c.mu.Lock()
	before := c.task
	c.mu.Unlock()
	// Also an order that is refused is an operator's: what there is yields first.
	v := c.request(ctx, Begin{kind, runs})
	if v.refused != nil {
		return *v.refused
	}
	if before != nil { // its record is completed before another one begins
		select {
		case <-before.done:
		case <-ctx.Done():
			err = game.Refusal(game.Disarmed, "cancelled before anything was begun")
		}
	}
	abandon := func() { c.feed(Expire{v.gen}) }
	c.mu.Lock()
	used := c.orders
	if kind != Build {
		c.orders++
	}
	t := c.task
	c.mu.Unlock()
	switch {
	case err != nil:
	case c.opt.Keeper == nil:
		err = game.Refusal(game.Disarmed, "there is no recorder, and nothing is begun without a record")
	case kind != Build && used >= c.opt.Directives:
		err = game.Refusal(game.Budget, "the session's %d directives are used up", c.opt.Directives)
	default:
		err = work.Admit(ctx)
	}
	if err != nil {
		abandon()
		return game.AsRefused(err)
	}
	span, cadence := min(work.Span(), MaxSpan), work.Cadence()
	if cadence > 0 {
		cadence = max(cadence, MinCadence)
	}
	book, err := c.opt.Keeper.Begin(Start{Schema: 1, Kind: kind, Score: work.Score(), Gen: v.gen, Runs: runs, SpanNS: int64(span), CadenceNS: int64(cadence)})
	if err != nil {
		abandon()
		c.fail(err)
		return refuse(game.Disarmed, "the task could not be recorded, so nothing was begun")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t.work, t.book, t.accepted = work, book, time.Now()
	t.until = t.accepted.Add(span)
	if t.over { // a stop or a capture came while it was being admitted
		c.finish(t)
		return refuse(game.Disarmed, "the task was ended before it began")
	}
	t.deadline = time.AfterFunc(span, func() { c.feed(Expire{t.gen}) })
	t.due = time.AfterFunc(0, func() { c.feed(TickDue{t.gen}) })
	return game.Reported{Detail: fmt.Sprintf("%s was begun as task %s: at most %d %s in %g s", kind, book.Name(), runs, [...]string{"run", "runs"}[min(1, runs-1)], math.Ceil(span.Seconds()))}
}

// fail remembers a record that could not be kept, and ends everything: what can't be recorded isn't done.
func (c *Controller) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken == nil {
		c.broken = err
	}
	c.stepLocked(Halt{}, nil)
}
