package behavior

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"blockworld-voice/game"
	"blockworld-voice/game/horizon"
)

// asker is all that an observer can do with a client: there is no action, no stop and no line in it.
type asker interface {
	State(context.Context, time.Duration) (horizon.PlayerState, error)
	Status(context.Context, time.Duration) (horizon.ClientStatus, error)
	Close() error
}

// Observer is a query-only view of the target's own client. Once it is retired it stays so: it never connects again
// and never looks for another player.
type Observer struct {
	binding game.Binding

	mu      sync.Mutex // one look at a time
	client  asker
	seq     uint64
	lines   uint64
	retired error
}

// Sample is one look at the target.
type Sample struct {
	Seq    uint64
	Gen    Generation // of the task that it was taken for
	Began  time.Time  // with the monotonic clock; the age counts from here
	Ended  time.Time
	Pos    [3]float64
	Health float64
}

// Pair says whether a target can be followed by a companion: two remote clients of one server, in one dimension with
// the same labels, in different processes behind different endpoints.
func Pair(companion, target game.Binding) error {
	switch {
	case companion.Mode != game.Remote || target.Mode != game.Remote:
		return game.Refusal(game.NotPermitted, "both the companion and the target must be bound as remote clients")
	case companion.Server != target.Server:
		return game.Refusal(game.NotPermitted, "the target is bound to another server than the companion")
	case companion.Dimension != target.Dimension:
		return game.Refusal(game.NotPermitted, "the target is bound to another dimension than the companion")
	case companion.World != target.World:
		return game.Refusal(game.NotPermitted, "the target is bound to another world label than the companion")
	case companion.Process == target.Process:
		return game.Refusal(game.NotPermitted, "the target is the companion's own process")
	case companion.Endpoint == target.Endpoint:
		return game.Refusal(game.NotPermitted, "the target has the companion's own endpoint")
	}
	return nil
}

// Observe connects to the target's client and looks once. dial of nil is the binding's endpoint, with the proof of
// who is behind it.
func Observe(ctx context.Context, companion, target game.Binding, dial game.Dialer) (*Observer, error) {
	if err := Pair(companion, target); err != nil {
		return nil, err
	}
	if dial == nil {
		dial = func(ctx context.Context) (*horizon.Client, error) {
			return horizon.Dial(ctx, target.Endpoint, target.Process)
		}
	}
	dctx, cancel := context.WithTimeout(ctx, target.Timeout)
	defer cancel()
	c, err := dial(dctx)
	if err != nil {
		return nil, fmt.Errorf("the target's client can't be reached: %w", err)
	}
	o := newObserver(c, target)
	if _, err := o.Look(ctx, 0); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

func newObserver(c asker, b game.Binding) *Observer { return &Observer{client: c, binding: b} }

// Look reads a sample. A read that has begun is always waited for, at most twice the binding's timeout, also when ctx
// ends: then the sample is dropped and the cause of ctx is returned. What the read itself meets (no answer in time,
// another identity, an end of the connection, an answer that can't be trusted) retires the observer. A target that is
// itself, but loading or elsewhere, gives no sample this time.
func (o *Observer) Look(ctx context.Context, gen Generation) (Sample, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.retired != nil:
		return Sample{}, o.retired
	case ctx.Err() != nil:
		return Sample{}, context.Cause(ctx)
	}
	o.seq++
	s := Sample{Seq: o.seq, Gen: gen, Began: time.Now()}
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*o.binding.Timeout)
	defer cancel()
	v, err := o.read(own)
	if err != nil && !o.passing(v, err) {
		o.retire(err)
		err = o.retired
	}
	switch {
	case ctx.Err() != nil:
		return Sample{}, context.Cause(ctx)
	case err != nil:
		return Sample{}, err
	}
	s.Ended, s.Pos, s.Health = time.Now(), v.State.Pos, v.State.Health
	return s, nil
}

func (o *Observer) read(ctx context.Context) (game.View, error) {
	var v game.View
	var err error
	o.lines++
	if v.State, err = o.client.State(ctx, o.binding.Timeout); err != nil {
		return v, err
	}
	o.lines++
	if v.Status, err = o.client.Status(ctx, o.binding.Timeout); err != nil {
		return v, err
	}
	return v, o.binding.Check(v)
}

// passing says whether a fault can be over at the next look: the answer is good, and it is the pinned player on the
// pinned server, in another dimension or world, or loading; or the client declined to answer.
func (o *Observer) passing(v game.View, err error) bool {
	var declined *horizon.ReplyError
	if errors.As(err, &declined) {
		return declined.Kind != horizon.KindDenied
	}
	return v.State.Name == o.binding.Name && v.Status.Server != nil && v.Status.Server.Address == o.binding.Server
}

func (o *Observer) retire(err error) {
	o.retired = &RetiredError{err}
	_ = o.client.Close()
}

// RetiredError says that the target can't be observed any more in this session.
type RetiredError struct{ Err error }

func (e *RetiredError) Error() string {
	return "the target's client can't be observed any more: " + e.Err.Error()
}

func (e *RetiredError) Unwrap() error { return e.Err }

var errObserverClosed = errors.New("the observer was closed")

// Retired is why the observer can't be used any more, nil while it can.
func (o *Observer) Retired() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.retired
}

// Lines is how many lines of questions went to the target's client.
func (o *Observer) Lines() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lines
}

// Close retires the observer. It waits for a look that is under way.
func (o *Observer) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.retired == nil {
		o.retire(errObserverClosed)
	}
	return nil
}
