package build

import (
	"context"
	"errors"
	"fmt"
	"time"

	"blockworld-voice/game"
	"blockworld-voice/game/behavior"
	"blockworld-voice/game/horizon"
)

// Client is what building may do with the companion's session.
type Client interface {
	behavior.Client
	AdmitOrder(game.Order) error
	Remaining() int
	Cell(ctx context.Context, dimension string, at [3]int32) (game.CellSample, error)
	Inventory(context.Context) (horizon.Bag, error)
}

// settleGrace is how long the look after a placement may still take when the plan is interrupted.
const settleGrace = 500 * time.Millisecond

// work is one plan being built.
type work struct {
	c      Client
	p      Plan
	now    func() time.Time
	claim  func() error
	placed int
}

// New makes the work of a plan. claim makes it durable that the plan was accepted, once; now of nil is the wall clock.
func New(c Client, p Plan, claim func() error, now func() time.Time) behavior.Work {
	if now == nil {
		now = time.Now
	}
	return &work{c: c, p: p, now: now, claim: claim}
}

func (w *work) Kind() behavior.Kind    { return behavior.Build }
func (w *work) Score() game.Score      { return game.ScoreBuild }
func (w *work) Runs() int              { return len(w.p.Cells) }
func (w *work) Cadence() time.Duration { return 0 }

// Span is what is left of the plan's life.
func (w *work) Span() time.Duration {
	return min(max(w.p.Expires.Sub(w.now()), time.Nanosecond), MaxLife)
}

// Admit checks what can be checked before the first cell, and then uses the plan up.
func (w *work) Admit(ctx context.Context) error {
	if err := w.p.Fits(w.c.Profile(), w.now()); err != nil {
		return err
	}
	for _, c := range w.p.Cells {
		if err := w.c.AdmitOrder(game.PlaceOrder(c[0], c[1], c[2])); err != nil {
			return err
		}
	}
	if n := w.c.Remaining(); n < len(w.p.Cells) {
		return game.Refusal(game.Budget, "the plan needs %d actions, the session has %d left", len(w.p.Cells), n)
	}
	v, err := w.c.View(ctx)
	if err == nil {
		err = w.c.Ready(v)
	}
	if err == nil {
		err = w.mode(v)
	}
	if err != nil {
		return err
	}
	switch err := w.claim(); {
	case errors.Is(err, ErrUsed):
		return game.Refusal(game.NotPermitted, "%s", ErrUsed)
	case err != nil:
		return game.Refusal(game.Disarmed, "%s", err)
	}
	return nil
}

func (w *work) mode(v game.View) error {
	if v.Status.Creative != (w.p.Mode == Creative) {
		return game.Refusal(game.NotBound, "the client isn't in the game mode that the plan admits")
	}
	return nil
}

// cell is one run under way.
type cell struct {
	w     *work
	at    [3]int32
	left  int // cells that are still to be placed, this one among them
	f     behavior.Facts
	start game.Queries
}

var errReads = errors.New("the cell's reads are used up")

// inspect is one logical read: a fresh pair of state and status, and one fixed query, under one timeout.
func (c *cell) inspect(ctx context.Context, query func(context.Context, game.View) error) (game.View, error) {
	if c.f.Reads.Logical >= ReadsPerCell {
		return game.View{}, game.Refusal(game.Budget, "%s", errReads)
	}
	c.f.Reads.Logical++
	ctx, cancel := context.WithTimeout(ctx, c.w.c.Profile().Binding.Timeout)
	defer cancel()
	v, err := c.w.c.View(ctx)
	if err != nil {
		return v, err
	}
	return v, query(ctx, v)
}

func (c *cell) block(at [3]int32, into *game.CellSample) func(context.Context, game.View) error {
	return func(ctx context.Context, v game.View) (err error) {
		*into, err = c.w.c.Cell(ctx, v.State.Dimension, at)
		return err
	}
}

func (c *cell) bag(into *horizon.Bag) func(context.Context, game.View) error {
	return func(ctx context.Context, _ game.View) (err error) {
		*into, err = c.w.c.Inventory(ctx)
		return err
	}
}

// eligible makes the three looks after which a cell may be placed. It returns the last view and the inventory.
func (c *cell) eligible(ctx context.Context) (game.View, horizon.Bag, error) {
	var target, below game.CellSample
	var bag horizon.Bag
	no := func(err error) (game.View, horizon.Bag, error) { return game.View{}, bag, err }
	v, err := c.inspect(ctx, c.block(c.at, &target))
	if err == nil {
		err = c.able(v)
	}
	if err != nil {
		return no(err)
	}
	c.f.Before = target.Block
	switch {
	case !target.Known:
		return no(game.Refusal(game.NotBound, "what stands in the cell isn't known"))
	case target.Block != Air:
		return no(game.Refusal(game.NotPermitted, "the cell isn't empty; a block that is there already is never credited"))
	}
	if v, err = c.inspect(ctx, c.block([3]int32{c.at[0], c.at[1] - 1, c.at[2]}, &below)); err == nil {
		err = c.able(v)
	}
	switch {
	case err != nil:
		return no(err)
	case !below.Known || below.Block != Support:
		return no(game.Refusal(game.NotPermitted, "there is no plain stone below the cell"))
	}
	if v, err = c.inspect(ctx, c.bag(&bag)); err == nil {
		err = c.able(v)
	}
	if err != nil {
		return no(err)
	}
	return v, bag, c.stocked(v, bag)
}

// able is what must hold of the companion at every look.
func (c *cell) able(v game.View) error {
	if err := c.w.c.Ready(v); err != nil {
		return err
	}
	if err := c.w.mode(v); err != nil {
		return err
	}
	pos := v.State.Pos
	centre := [3]float64{float64(c.at[0]) + 0.5, float64(c.at[1]) + 0.5, float64(c.at[2]) + 0.5}
	eye := [3]float64{pos[0], pos[1] + eyeHeight, pos[2]}
	switch d := horizon.Distance(pos, centre); {
	case !(d <= c.w.c.Profile().Policy.MaxDistance):
		return game.Refusal(game.TooFar, "the cell is farther away than the policy permits")
	case !(horizon.Distance(eye, centre) <= Reach):
		return game.Refusal(game.TooFar, "the cell is out of reach: %.1f blocks from the eyes, at most %g", horizon.Distance(eye, centre), Reach)
	case overlaps(pos, c.at):
		return game.Refusal(game.NotPermitted, "the companion stands in the cell")
	}
	return nil
}

// Reach from the eyes to the middle of a cell is kept well inside what the game allows.
const (
	Reach     = 4.0
	eyeHeight = 1.62
	halfWidth = 0.3
	bodyTall  = 1.8
)

// overlaps says whether a body at pos is in the cell.
func overlaps(pos [3]float64, at [3]int32) bool {
	x, y, z := float64(at[0]), float64(at[1]), float64(at[2])
	return pos[0]+halfWidth > x && pos[0]-halfWidth < x+1 && pos[2]+halfWidth > z && pos[2]-halfWidth < z+1 && pos[1]+bodyTall > y && pos[1] < y+1
}

// stocked says whether ordinary planks are selected, enough of them, and nothing is in the way of an exact count.
func (c *cell) stocked(v game.View, bag horizon.Bag) error {
	need := 1
	if c.w.p.Mode == Survival {
		need = c.left
	}
	held, ok := slot(bag, bag.Selected)
	switch {
	case bag.Offhand != nil || bag.Carried != nil:
		return game.Refusal(game.NotPermitted, "the offhand and the cursor must be empty")
	case bag.Selected != v.State.Selected || v.State.Held == nil || !ok || *v.State.Held != held:
		return game.Refusal(game.NotPermitted, "what is held isn't what is selected")
	case held.Item != Material || held.Special:
		return game.Refusal(game.NotPermitted, "ordinary oak planks must be selected already; nothing is selected for a plan")
	case held.Count < need:
		return game.Refusal(game.NotPermitted, "%d planks are held, the plan needs %d", held.Count, need)
	}
	return nil
}

func slot(b horizon.Bag, n int) (horizon.Stack, bool) {
	for _, s := range b.Slots {
		if s.Slot == n {
			return s.Stack, true
		}
	}
	return horizon.Stack{}, false
}

// Run is one cell.
func (w *work) Run(ctx context.Context, t behavior.Tick, rec game.Recorder) behavior.Result {
	at := w.p.Cells[t.N-1]
	c := &cell{w: w, at: at, left: len(w.p.Cells) - t.N + 1, start: w.c.Queries()}
	c.f.Cell = &at
	r := c.run(ctx, t, rec)
	q := w.c.Queries().Sub(c.start)
	c.f.Reads.Physical, c.f.Reads.Watched = q.Asked, q.Watched
	r.Facts = c.f
	if r.Did == behavior.DidPlace {
		w.placed++
		r.More = ctx.Err() == nil && t.N < len(w.p.Cells)
	}
	switch {
	case r.Outcome.Kind() == game.KindUnknown || r.More:
	case w.placed == len(w.p.Cells):
		r.Final = game.Reported{Detail: fmt.Sprintf("%d of %d blocks were placed and seen", w.placed, len(w.p.Cells))}
	case r.Outcome.Kind() == game.KindRefused && w.placed == 0:
		r.Final = r.Outcome
	default:
		r.Final = game.Cancelled{Detail: fmt.Sprintf("the plan ended after %d of %d blocks: %s", w.placed, len(w.p.Cells), r.Outcome.Say())}
	}
	return r
}

func (c *cell) run(ctx context.Context, t behavior.Tick, rec game.Recorder) behavior.Result {
	refused := func(err error) behavior.Result {
		if ctx.Err() != nil {
			return behavior.Result{Did: behavior.DidYield, Outcome: game.Refused{Reason: game.Disarmed, Detail: "interrupted before anything was sent"}}
		}
		return behavior.Result{Did: behavior.DidRefuse, Outcome: game.AsRefused(err)}
	}
	// Once for the decision, and once more right before the effect: somebody else may build there too.
	if _, _, err := c.eligible(ctx); err != nil {
		return refused(err)
	}
	before, bag, err := c.eligible(ctx)
	if err != nil {
		return refused(err)
	}
	order := game.PlaceOrder(c.at[0], c.at[1], c.at[2]).Sighted(before).Guarded(func(last game.View) error {
		switch {
		case !t.Valid():
			return game.Refusal(game.Disarmed, "the plan has no authority any more")
		case !c.w.now().Before(c.w.p.Expires):
			return game.Refusal(game.Expired, "the plan has expired")
		}
		return c.able(last)
	})
	out := c.w.c.Act(ctx, order, rec)
	switch o := out.(type) {
	case game.Unknown:
		return behavior.Result{Did: behavior.DidNotKnow, Outcome: out}
	case game.Refused:
		if ctx.Err() != nil {
			return behavior.Result{Did: behavior.DidYield, Outcome: out}
		}
		return behavior.Result{Did: behavior.DidRefuse, Outcome: out}
	case game.Cancelled:
		// What was placed all the same is not undone: the record says what stands there.
		_, what := c.prove(ctx, before, bag)
		did := behavior.DidCancel
		if ctx.Err() != nil {
			did = behavior.DidYield
		}
		return behavior.Result{Did: did, Outcome: game.Cancelled{Detail: o.Detail + "; " + what, Observed: o.Observed}}
	case game.Reported:
		ok, what := c.prove(ctx, before, bag)
		switch {
		case ok:
			return behavior.Result{Did: behavior.DidPlace, Outcome: game.Reported{Detail: "the client reported the placement, and " + what}}
		case c.f.After == "":
			return behavior.Result{Did: behavior.DidUnverified, Outcome: game.Reported{Detail: "the client reported the placement; " + what}}
		}
		return behavior.Result{Did: behavior.DidDiffer, Outcome: game.Reported{Detail: "the client reported the placement; " + what}}
	}
	return behavior.Result{Did: behavior.DidNotKnow, Outcome: game.Unknown{Detail: "no outcome"}}
}

// prove looks at the cell and the inventory after the effect. It says whether exactly one placement shows. An
// interruption leaves it a moment: it settles what has already happened.
func (c *cell) prove(ctx context.Context, before game.View, bag horizon.Bag) (bool, string) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	grace := time.AfterFunc(time.Hour, cancel)
	defer grace.Stop()
	defer context.AfterFunc(ctx, func() { grace.Reset(settleGrace) })()

	var target game.CellSample
	if _, err := c.inspect(own, c.block(c.at, &target)); err != nil || !target.Known {
		return false, "what stands in the cell could not be seen"
	}
	c.f.After = target.Block
	var after horizon.Bag
	v, err := c.inspect(own, c.bag(&after))
	if err != nil {
		c.f.After = ""
		return false, "the inventory could not be seen"
	}
	held, _ := slot(bag, bag.Selected)
	rest, _ := slot(after, after.Selected)
	used := held.Count - rest.Count
	c.f.Used = &used
	switch {
	case target.Block == Air:
		return false, "the cell is seen to be empty"
	case target.Block != Material:
		return false, "another block is seen in the cell"
	case c.able(v) != nil:
		return false, "afterwards the companion wasn't as the plan needs it"
	case used != c.w.p.Mode.used() || !onlySelected(bag, after, used):
		return false, "the inventory didn't change by exactly what one placement uses"
	}
	return true, "the block and the exact change of the inventory were seen"
}

// onlySelected says whether two inventories differ by the used items of the selected slot and by nothing else.
func onlySelected(a, b horizon.Bag, used int) bool {
	if a.Selected != b.Selected || b.Offhand != nil || b.Carried != nil {
		return false
	}
	want := map[int]horizon.Stack{}
	for _, s := range a.Slots {
		if s.Slot == a.Selected {
			if s.Count -= used; s.Count <= 0 {
				continue
			}
		}
		want[s.Slot] = s.Stack
	}
	if len(want) != len(b.Slots) {
		return false
	}
	for _, s := range b.Slots {
		if want[s.Slot] != s.Stack {
			return false
		}
	}
	return true
}
