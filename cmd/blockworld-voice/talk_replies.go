package main

import (
	"context"
	"errors"
	"sync"

	"blockworld-voice/synth"
	"blockworld-voice/synth/player"
)

// replies plays replies for the pipeline and lets a gesture end one.
type replies struct {
	player *player.Player
	told   func(any)

	mu     sync.Mutex
	cancel context.CancelCauseFunc // of the reply that is being played
}

var errNextGesture = errors.New("the next gesture began")

// Play implements pipeline.Player.
func (r *replies) Play(ctx context.Context, a *synth.Audio) (player.Facts, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.set(cancel)
	defer r.set(nil)
	r.told(speaking{true})
	return r.player.Play(ctx, a)
}

func (r *replies) set(c context.CancelCauseFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel = c
}

// interrupt ends the reply that is being played, and says whether there is one.
func (r *replies) interrupt() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancel == nil {
		return false
	}
	r.cancel(errNextGesture)
	return true
}
