package behavior

import (
	"context"
	"fmt"
	"time"

	"blockworld-voice/game"
	"blockworld-voice/game/horizon"
)

// Client is what a behaviour may do with the companion's session.
type Client interface {
	Profile() game.Profile
	Permitted(game.Action) error
	View(context.Context) (game.View, error)
	Ready(game.View) error
	Act(context.Context, game.Order, game.Recorder) game.Outcome
	Queries() game.Queries
}

// idle looks and tells what changed. It never acts.
type idle struct {
	c    Client
	span time.Duration
	last *game.View
}

// NewIdle makes the work of one idle task.
func NewIdle(c Client, span time.Duration) Work { return &idle{c: c, span: span} }

func (w *idle) Kind() Kind             { return Idle }
func (w *idle) Score() game.Score      { return game.ScoreIdle }
func (w *idle) Runs() int              { return runsIn(w.span) }
func (w *idle) Span() time.Duration    { return w.span }
func (w *idle) Cadence() time.Duration { return MinCadence }

func runsIn(span time.Duration) int {
	return max(1, min(MaxTicks, int((span+MinCadence-1)/MinCadence)))
}

func (w *idle) Admit(ctx context.Context) error {
	if err := w.c.Permitted(game.ActIdle); err != nil {
		return err
	}
	_, err := w.c.View(ctx)
	return err
}

func (w *idle) Run(ctx context.Context, t Tick, _ game.Recorder) Result {
	before := w.c.Queries()
	v, err := w.c.View(ctx)
	f := Facts{Reads: Reads{Logical: 1, Physical: w.c.Queries().Sub(before).Asked}}
	if err == nil {
		err = w.person(v)
	}
	switch {
	case ctx.Err() != nil:
		return yielded(f)
	case err != nil:
		return Result{Did: DidLose, Outcome: game.AsRefused(err), Facts: f, Final: game.AsRefused(err)}
	}
	did, detail := DidObserve, "the companion was observed"
	if w.last != nil {
		did, detail = DidNotNotice, "nothing changed"
		if f.Changes = changes(*w.last, v); len(f.Changes) > 0 {
			did, detail = DidNotice, fmt.Sprintf("%d changes were seen", len(f.Changes))
		}
	}
	w.last = &v
	return Result{Did: did, Outcome: game.Reported{Detail: detail, Observed: &game.Observed{State: &v.State}}, Facts: f, More: true}
}

// person is the part of readiness that ends even a look: that a person took over.
func (w *idle) person(v game.View) error {
	err := w.c.Ready(v)
	if err != nil && game.AsRefused(err).Reason == game.Disarmed {
		return err
	}
	return nil
}

// leastMove is the displacement that counts, in blocks.
const leastMove = 0.05

// changes lists what differs, in our own words: no label and no name of the world gets in.
func changes(a, b game.View) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if d := horizon.Distance(a.State.Pos, b.State.Pos); d >= leastMove {
		add("moved %.2f blocks", d)
	}
	if a.State.Health != b.State.Health {
		add("health %g, was %g", b.State.Health, a.State.Health)
	}
	if a.State.Selected != b.State.Selected {
		add("slot %d is selected", b.State.Selected)
	}
	if held(a) != held(b) {
		add("holds something else")
	}
	if (a.State.Action == "") != (b.State.Action == "") {
		if b.State.Action == "" {
			add("does nothing any more")
		} else {
			add("does something")
		}
	}
	if a.Status.Screen != b.Status.Screen {
		add("another screen")
	}
	if a.Status.Creative != b.Status.Creative {
		add("another game mode")
	}
	return out
}

func held(v game.View) horizon.Stack {
	if v.State.Held == nil {
		return horizon.Stack{}
	}
	return *v.State.Held
}

// yielded is a run that was interrupted before it sent anything.
func yielded(f Facts) Result {
	return Result{Did: DidYield, Outcome: game.Cancelled{Detail: "interrupted before anything was sent"}, Facts: f}
}
