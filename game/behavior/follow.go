package behavior

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"blockworld-voice/game"
	"blockworld-voice/game/horizon"
	"blockworld-voice/grammar"
)

// Distances of following, in blocks.
const (
	// Deadband: nearer than this the companion stays where it is.
	Deadband = 3.5
	// Approach is how near to the target a segment aims.
	Approach = 2.5
	// MaxSegment is the longest way to a waypoint; MinSegment lies outside the radius in which the game takes a
	// waypoint for reached already.
	MaxSegment = 4.0
	MinSegment = horizon.StopRadius
	// MaxSeparation: farther than this the target is lost, whatever the policy allows.
	MaxSeparation = 32.0
	// LeastProgress toward the sample is what counts as having moved.
	LeastProgress = 0.05
)

// Times of following.
const (
	// Fresh is how old a sample may be when the bytes go, and how long the look afterwards may take.
	Fresh = time.Second
	// SampleLife is how old a sample may get before an action that was derived from it is cancelled.
	SampleLife = 3 * time.Second
	// SegmentTime is the game's own timeout for a segment.
	SegmentTime = time.Second
)

// errOutlived is the cause of an action's end that outlived its sample.
var errOutlived = errors.New("the action outlived its sample")

// follow walks after the target, one segment a tick.
type follow struct {
	c      Client
	o      *Observer
	span   time.Duration
	mine   float64 // health at the last look; 0 before the first
	theirs float64
}

// NewFollow makes the work of one follow task. The observer stays the caller's.
func NewFollow(c Client, o *Observer, span time.Duration) Work {
	return &follow{c: c, o: o, span: span}
}

func (w *follow) Kind() Kind             { return Follow }
func (w *follow) Score() game.Score      { return game.ScoreFollow }
func (w *follow) Runs() int              { return runsIn(w.span) }
func (w *follow) Span() time.Duration    { return w.span }
func (w *follow) Cadence() time.Duration { return MinCadence }

func (w *follow) Admit(ctx context.Context) error {
	if err := w.c.Permitted(game.ActFollow); err != nil {
		return err
	}
	if err := Pair(w.c.Profile().Binding, w.o.binding); err != nil {
		return err
	}
	s, err := w.o.Look(ctx, 0)
	if err != nil {
		return game.Refusal(game.NotBound, "%s", err)
	}
	v, err := w.c.View(ctx)
	if err == nil {
		err = w.c.Ready(v)
	}
	if err == nil {
		err = w.together(v, s)
	}
	return err
}

// together says whether the two are near enough to each other.
func (w *follow) together(v game.View, s Sample) error {
	most := min(MaxSeparation, w.c.Profile().Policy.MaxDistance)
	if d := horizon.Distance(v.State.Pos, s.Pos); !(d <= most) {
		return game.Refusal(game.TooFar, "the target is %.1f blocks away, at most %g are followed", d, most)
	}
	return nil
}

// Waypoint is the end of the next segment from a position toward a target, in the coordinates that are sent. ok is
// false where there is none: the target is within the deadband, or rounding leaves no segment of an allowed length.
func Waypoint(from, to [3]float64) (at [3]grammar.Coord, ok bool) {
	d := horizon.Distance(from, to)
	if !(d > Deadband) || math.IsInf(d, 0) {
		return at, false
	}
	n := min(MaxSegment-0.02, d-Approach+horizon.StopRadius)
	for i := range at {
		v := math.Round((from[i] + (to[i]-from[i])/d*n) * 100)
		if !(v >= float64(grammar.MinCoord) && v <= float64(grammar.MaxCoord)) {
			return at, false
		}
		at[i] = grammar.Coord(v)
	}
	n = horizon.Distance(from, place(at))
	return at, n > MinSegment && n <= MaxSegment
}

func place(at [3]grammar.Coord) [3]float64 {
	return [3]float64{at[0].Float(), at[1].Float(), at[2].Float()}
}

func (w *follow) Run(ctx context.Context, t Tick, rec game.Recorder) Result {
	asked, lines := w.c.Queries(), w.o.Lines()
	var f Facts
	end := func(r Result) Result {
		q := w.c.Queries().Sub(asked)
		f.Reads.Physical, f.Reads.Watched, f.Reads.Target = q.Asked, q.Watched, w.o.Lines()-lines
		r.Facts = f
		if !r.More && r.Final == nil && r.Did != DidYield {
			r.Final = r.Outcome
		}
		return r
	}
	stop := func(did Did, err error) Result { return end(Result{Did: did, Outcome: game.AsRefused(err)}) }

	f.Reads.Logical++
	s, err := w.o.Look(ctx, t.Gen)
	switch {
	case ctx.Err() != nil:
		return end(yielded(f))
	case err != nil:
		return stop(DidLose, game.Refusal(game.NotBound, "%s", err))
	}
	f.Sample = s.Seq
	f.Reads.Logical++
	v, err := w.c.View(ctx)
	if err == nil {
		err = w.c.Ready(v)
	}
	switch {
	case ctx.Err() != nil:
		return end(yielded(f))
	case err != nil:
		return stop(DidRefuse, err)
	}
	if err := w.health(v.State.Health, s.Health); err != nil {
		return stop(DidHurt, err)
	}
	apart := horizon.Distance(v.State.Pos, s.Pos)
	f.Separation = rounded(apart)
	if err := w.together(v, s); err != nil {
		return stop(DidPart, err)
	}
	at, ok := Waypoint(v.State.Pos, s.Pos)
	switch {
	case apart <= Deadband:
		return end(Result{Did: DidStay, Outcome: game.Reported{Detail: "the target is near; nothing was sent"}, More: true})
	case !ok:
		return stop(DidRefuse, game.Refusal(game.TooFar, "there is no segment of an allowed length toward the target"))
	}

	// A deadline watcher: what was sent is cancelled when its sample, or the task, is over.
	life := s.Began.Add(SampleLife)
	if t.Until.Before(life) {
		life = t.Until
	}
	actx, cancel := context.WithDeadlineCause(ctx, life, errOutlived)
	defer cancel()
	var sent game.View
	out := w.c.Act(actx, game.FollowOrder(at[0], at[1], at[2], SegmentTime).Sighted(v).Guarded(func(last game.View) error {
		age := time.Since(s.Began)
		f.SampleAge = int64(age)
		switch {
		case !t.Valid() || s.Gen != t.Gen:
			return game.Refusal(game.Disarmed, "the task has no authority any more")
		case age > Fresh:
			return game.Refusal(game.NotBound, "the sample of the target is %d ms old, at most %d are allowed", age.Milliseconds(), Fresh.Milliseconds())
		case !time.Now().Before(t.Until):
			return game.Refusal(game.Expired, "the time of the task is over")
		case last.State.Health < v.State.Health:
			return game.Refusal(game.NotBound, "the companion lost health")
		case horizon.Distance(last.State.Pos, place(at)) <= MinSegment:
			return game.Refusal(game.NotBound, "the waypoint would be reached without a movement")
		}
		sent = last
		return nil
	}), rec)
	switch o := out.(type) {
	case game.Unknown:
		return end(Result{Did: DidNotKnow, Outcome: out})
	case game.Refused:
		switch {
		case ctx.Err() != nil:
			return end(Result{Did: DidYield, Outcome: out})
		case time.Since(s.Began) > Fresh && !o.Answered:
			return end(Result{Did: DidAge, Outcome: out})
		}
		return end(Result{Did: DidRefuse, Outcome: out})
	case game.Cancelled:
		switch {
		case ctx.Err() != nil:
			return end(Result{Did: DidYield, Outcome: out})
		case actx.Err() != nil:
			return end(Result{Did: DidAge, Outcome: out})
		}
		return end(Result{Did: DidCancel, Outcome: out})
	case game.Reported:
		return end(w.prove(ctx, s, sent, out, &f))
	}
	return end(Result{Did: DidNotKnow, Outcome: game.Unknown{Detail: "no outcome"}})
}

// health fences a task in which one of the two lost some.
func (w *follow) health(mine, theirs float64) error {
	defer func() { w.mine, w.theirs = mine, theirs }()
	switch {
	case theirs <= 0:
		return game.Refusal(game.NotBound, "the target is dead")
	case w.mine > 0 && mine < w.mine:
		return game.Refusal(game.NotBound, "the companion lost health")
	case w.theirs > 0 && theirs < w.theirs:
		return game.Refusal(game.NotBound, "the target lost health")
	}
	return nil
}

// prove looks at the companion after the client's report. Only progress toward the original sample lets the task go on.
func (w *follow) prove(ctx context.Context, s Sample, before game.View, out game.Outcome, f *Facts) Result {
	unverified := func(text string) Result {
		return Result{Did: DidUnverified, Outcome: game.Reported{Detail: "the client reported that the segment completed; " + text}}
	}
	f.Reads.Logical++
	began := time.Now()
	v, err := w.c.View(ctx)
	took := time.Since(began)
	switch {
	case err != nil && ctx.Err() != nil:
		return Result{Did: DidYield, Outcome: game.Reported{Detail: "the client reported that the segment completed; the look afterwards was interrupted"}}
	case err != nil:
		return unverified("it could not be seen whether it moved")
	case took > Fresh:
		return unverified("the look afterwards took too long")
	}
	if err := w.c.Ready(v); err != nil {
		return unverified("afterwards the companion wasn't ready: " + game.AsRefused(err).Detail)
	}
	if !w.c.Profile().Policy.Holds(v.State.Pos) {
		return unverified("afterwards the companion stood outside the permitted space")
	}
	if v.State.Health < before.State.Health {
		return unverified("afterwards the companion had less health")
	}
	progress := horizon.Distance(before.State.Pos, s.Pos) - horizon.Distance(v.State.Pos, s.Pos)
	f.Progress = rounded(progress)
	see := &game.Observed{Before: pose(before), After: pose(v), Moved: *rounded(horizon.Distance(before.State.Pos, v.State.Pos)),
		Remaining: *rounded(horizon.Distance(v.State.Pos, s.Pos))}
	if !(progress >= LeastProgress) {
		return Result{Did: DidNotMove, Outcome: game.Reported{Detail: "the client reported that the segment completed; no progress toward the target was seen", Observed: see}}
	}
	return Result{Did: DidMove, Outcome: game.Reported{Detail: fmt.Sprintf("the client reported that the segment completed; it was seen to come %.2f blocks nearer", progress), Observed: see}, More: true}
}

func pose(v game.View) *game.Pose {
	return &game.Pose{Pos: v.State.Pos, Yaw: v.State.Yaw, Pitch: v.State.Pitch}
}

func rounded(v float64) *float64 {
	r := math.Round(v*1000) / 1000
	return &r
}
