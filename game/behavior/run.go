package behavior

import (
	"context"
	"fmt"
	"time"

	"blockworld-voice/game"
)

// task is one behaviour from its admission to its end.
type task struct {
	gen      Generation
	kind     Kind
	work     Work
	book     Book // nil until it was admitted
	accepted time.Time
	until    time.Time
	due      *time.Timer
	deadline *time.Timer
	why      Why
	over     bool // EndTask was decided
	done     chan struct{}

	runs  int
	did   map[Did]int
	sent  int
	reads Reads
	last  game.Outcome
	final game.Outcome
}

// startTick runs a tick in a goroutine of its own. The lock is held.
func (c *Controller) startTick(d StartTick) {
	t := c.task
	t.runs++
	n := t.runs
	if cadence := t.work.Cadence(); cadence > 0 {
		t.due.Reset(max(cadence, MinCadence))
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	c.cancel = cancel
	c.wg.Go(func() {
		defer cancel(nil)
		c.run(ctx, t, d.Run, n)
	})
}

// run is one run: its work, its outcome to the arbiter, its record, and only then the end of it.
func (c *Controller) run(ctx context.Context, t *task, run RunNo, n int) {
	tick := Tick{Gen: t.gen, N: n, Run: game.NewRun(), Until: t.until, Valid: func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.arbiter.Valid(t.gen)
	}}
	rec := &runRecorder{inner: t.book.Recorder(n)}
	res := t.work.Run(ctx, tick, rec)
	if rec.run != "" {
		tick.Run = rec.run
	}
	c.mu.Lock()
	t.did[res.Did]++
	if rec.run != "" {
		t.sent++
	}
	t.reads = t.reads.add(res.Facts.Reads)
	t.last, t.final = res.Outcome, res.Final
	c.mu.Unlock()
	if res.Outcome.Kind() == game.KindUnknown {
		c.feed(Lost{run})
	} else {
		c.feed(Replied{run, res.More})
	}
	o := game.Record(tick.Run, res.Outcome)
	r := Record{Schema: 1, Tick: n, Run: tick.Run, Score: t.work.Score(), Gen: t.gen, Did: res.Did, Outcome: o.Kind, Reason: o.Reason, Detail: o.Detail, Facts: res.Facts}
	if err := t.book.Close(r, o); err != nil {
		c.fail(fmt.Errorf("record of task %s: %w", t.book.Name(), err))
	}
	c.mu.Lock()
	c.cancel = nil
	c.stepLocked(Closed{run}, nil)
	if !t.over && t.work.Cadence() == 0 {
		c.stepLocked(TickDue{t.gen}, nil)
	}
	c.mu.Unlock()
}

// endTask is EndTask. The lock is held.
func (c *Controller) endTask(d EndTask) {
	t := c.task
	t.why, t.over = d.Why, true
	for _, timer := range [...]*time.Timer{t.due, t.deadline} {
		if timer != nil {
			timer.Stop()
		}
	}
	switch {
	case t.book != nil:
		c.finish(t)
	default:
		close(t.done) // it was never accepted, or finishes with its acceptance
	}
}

// finish completes the record of a task. The lock is held.
func (c *Controller) finish(t *task) {
	e := End{Schema: 1, Task: t.book.Name(), Kind: t.kind, Gen: t.gen, Why: t.why, Runs: t.runs, Did: t.did, Attempts: t.sent, Reads: t.reads,
		TookNS: int64(time.Since(t.accepted)), Result: t.outcome()}
	e.Outcome = game.Record("", e.Result)
	c.wg.Go(func() {
		if err := t.book.End(e); err != nil {
			c.fail(fmt.Errorf("record of task %s: %w", e.Task, err))
		}
		if c.opt.Ended != nil {
			c.opt.Ended(e)
		}
		select {
		case <-t.done:
		default:
			close(t.done)
		}
	})
}

// outcome is what the whole task came to.
func (t *task) outcome() game.Outcome {
	tell := func(text string) string {
		if t.runs == 1 {
			return fmt.Sprintf("%s after one run, which sent %s", text, [...]string{"nothing", "something"}[t.sent])
		}
		return fmt.Sprintf("%s after %d runs, %d of which sent something", text, t.runs, t.sent)
	}
	if t.last != nil && t.last.Kind() == game.KindUnknown { // whatever else ended it
		return game.Unknown{Detail: t.last.Say()}
	}
	if t.final != nil { // the last run was its end, whatever came at the same time
		return t.final
	}
	switch t.why {
	case WhyUnknown:
	case WhyDone:
		return game.Reported{Detail: tell(t.kind.String() + " had all its runs")}
	case WhyDeadline:
		if t.kind == Build {
			return game.Cancelled{Detail: tell("the time of the plan was over")}
		}
		return game.Reported{Detail: tell(t.kind.String() + " ended with its time")}
	case WhyReplaced:
		return game.Cancelled{Detail: tell("an instruction of the operator's ended " + t.kind.String())}
	case WhyCapture:
		return game.Cancelled{Detail: tell("the start of a capture ended " + t.kind.String())}
	case WhyStopped:
		return game.Cancelled{Detail: tell("a stop ended " + t.kind.String())}
	}
	return game.Cancelled{Detail: tell(t.kind.String() + " is over")}
}

func (r Reads) add(o Reads) Reads {
	return Reads{r.Logical + o.Logical, r.Physical + o.Physical, r.Watched + o.Watched, r.Target + o.Target}
}

// runRecorder notices whether a run may have sent something.
type runRecorder struct {
	inner game.Recorder
	run   game.RunID
}

func (r *runRecorder) Attempt(a game.Attempt) error {
	err := r.inner.Attempt(a)
	if err == nil {
		r.run = a.Run
	}
	return err
}

func (r *runRecorder) Event(e game.Event) error { return r.inner.Event(e) }
