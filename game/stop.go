package game

import (
	"context"
	"errors"
	"time"

	"blockworld-voice/game/horizon"
)

// halting is one effort to stop the companion. It is shared by everybody who wants it.
type halting struct {
	done chan struct{}
	seen bool // the boundary was observed; set before done is closed
}

// stopAgain is how often an action that still runs is told to stop again: a line that
// was under way may begin after the first stop.
const stopAgain = 100 * time.Millisecond

// halting stops a flight, once: whoever asks first starts it.
func (s *Session) halting(f *flight) *halting {
	s.gate.Lock()
	defer s.gate.Unlock()
	return s.haltingLocked(f)
}

func (s *Session) haltingLocked(f *flight) *halting {
	if f != nil && f.stop != nil {
		return f.stop
	}
	h := &halting{done: make(chan struct{})}
	if f != nil {
		f.stop = h
	}
	if s.gone { // the client may be another session's already
		close(h.done)
		return h
	}
	s.stops.Go(func() {
		defer close(h.done)
		h.seen = s.contain(f)
	})
	return h
}

// contain uses a control connection of its own to stop the action, and looks until the
// boundary is there: the client says that nothing runs, and the stopped line has been
// answered. Both are needed: a line that nobody has read yet can still begin.
func (s *Session) contain(f *flight) bool {
	ctx, cancel := context.WithTimeout(context.Background(), s.profile.Binding.Timeout)
	defer cancel()
	s.opt.At(PointStopping)
	c, err := s.dial(ctx)
	if err != nil {
		return false
	}
	defer c.Close()
	for {
		if err := c.Stop(ctx, s.profile.Binding.Timeout); err != nil {
			return false
		}
		st, err := c.State(ctx, s.profile.Binding.Timeout)
		if err != nil {
			return false
		}
		if st.Action == "" {
			switch f.standing() {
			case stoodBy:
				s.opt.At(PointStopped)
				return true
			case stoodLost:
				return false
			case stoodOpen:
			}
		}
		t := time.NewTimer(stopAgain)
		select {
		case <-ctx.Done():
			t.Stop()
			return false
		case <-answeredOf(f):
			t.Stop()
		case <-t.C:
		}
	}
}

// standing is what is known of a line's reply. No flight has nothing to wait for.
type standing uint8

const (
	stoodOpen standing = iota // still waited for
	stoodBy                   // answered
	stoodLost                 // no answer will come that can be trusted
)

func (f *flight) standing() standing {
	if f == nil {
		return stoodBy
	}
	select {
	case <-f.answered:
	default:
		return stoodOpen
	}
	var bad *horizon.ReplyError
	if f.err == nil || errors.As(f.err, &bad) {
		return stoodBy
	}
	return stoodLost
}

func answeredOf(f *flight) <-chan struct{} {
	if f.standing() != stoodOpen {
		return nil
	}
	return f.answered
}

// Stop fences every later send, stops what runs over a connection of its own, and ends
// the session's authority for good. It waits for nobody but the game: it works while a
// command, a disk or a recorder hangs. A stop undoes nothing.
func (s *Session) Stop(ctx context.Context) Outcome {
	s.gate.Lock()
	first := s.why == ""
	s.disarmLocked("the session was stopped; a new one has to be opened")
	select {
	case <-s.halt:
	default:
		close(s.halt)
	}
	f := s.live
	if s.gone {
		s.gate.Unlock()
		return Refused{Reason: Disarmed, Detail: "the session is closed; nothing was sent"}
	}
	h := s.haltingLocked(f)
	s.gate.Unlock()
	select {
	case <-h.done:
	case <-ctx.Done():
		return Unknown{Detail: "the stop is under way and its boundary wasn't observed in time"}
	}
	switch {
	case !h.seen:
		return Unknown{Detail: "a stop was tried and its boundary wasn't observed"}
	case f == nil && first:
		return Cancelled{Detail: "nothing of ours was running; the client was seen to be idle and the session has ended"}
	}
	return Cancelled{Detail: "the client was seen to be idle and the session has ended; what was done before is not undone"}
}
