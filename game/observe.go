package game

import (
	"context"
	"errors"
	"fmt"

	"blockworld-voice/game/horizon"
)

// View is one fresh pair of state and status. The two were read one after the other: an
// observation over an interval, not a snapshot.
type View struct {
	State  horizon.PlayerState
	Status horizon.ClientStatus
}

// refusal is a reason on its way to become a Refused.
type refusal struct {
	reason Reason
	detail string
	err    error
}

func (r *refusal) Error() string { return r.detail }

func (r *refusal) Unwrap() error { return r.err }

func (r *refusal) hint() string {
	switch r.reason {
	case Denied:
		var bad *horizon.ReplyError
		if errors.As(r.err, &bad) && bad.Token {
			return "look whether the token file is the running game's; only the game's player can turn No AI off"
		}
		return "only the game's player can turn No AI off"
	case NotBound:
		return "write a fresh profile for the running client; use: profile new"
	case NotPermitted, OutOfBounds, TooFar, Budget, Expired, Busy, Disarmed:
	}
	return "use: profile check"
}

// ReasonOf is the reason in the chain of an error of NewProfile, when it has one.
func ReasonOf(err error) (Reason, bool) {
	var r *refusal
	if !errors.As(err, &r) {
		return 0, false
	}
	return r.reason, true
}

func refuse(r Reason, format string, a ...any) *refusal {
	return &refusal{reason: r, detail: fmt.Sprintf(format, a...)}
}

// unread turns a fault of a query into a refusal, in our own words.
func unread(err error) *refusal {
	var bad *horizon.ReplyError
	switch {
	case errors.As(err, &bad) && bad.Kind == horizon.KindDenied && bad.Token:
		return &refusal{Denied, "the game denied access: the token is not the running game's, or No AI is on", err}
	case errors.As(err, &bad) && bad.Kind == horizon.KindDenied:
		return &refusal{Denied, "No AI is on: the game can't be driven", err}
	case errors.As(err, &bad):
		return &refusal{NotBound, "the client didn't answer the question: " + bad.Error(), err}
	case errors.Is(err, horizon.ErrWrongPeer):
		return &refusal{NotBound, "another process than the pinned one answers at the endpoint", err}
	case errors.Is(err, horizon.ErrMalformed):
		return &refusal{NotBound, "the client's answer can't be trusted: " + err.Error(), err}
	}
	return &refusal{NotBound, "the client can't be reached: " + err.Error(), err}
}

// observe reads state and status over the query connection and holds them against the
// binding. The error is a *refusal.
func (s *Session) observe(ctx context.Context) (View, error) {
	st, err := s.readState(ctx)
	if err != nil {
		return View{}, err
	}
	v := View{State: st}
	if err := s.ask(ctx, func(c *horizon.Client) (err error) {
		v.Status, err = c.Status(ctx, s.profile.Binding.Timeout)
		return err
	}); err != nil {
		return View{}, err
	}
	return v, s.profile.Binding.check(v)
}

// readState reads the state alone, unchecked.
func (s *Session) readState(ctx context.Context) (horizon.PlayerState, error) {
	var st horizon.PlayerState
	err := s.ask(ctx, func(c *horizon.Client) (err error) {
		st, err = c.State(ctx, s.profile.Binding.Timeout)
		return err
	})
	return st, err
}

// ask puts one question over the query connection. It connects when there is none, and
// once more when the old one turns out dead before anything was sent: questions may be
// repeated, commands never.
func (s *Session) ask(ctx context.Context, f func(*horizon.Client) error) error {
	s.asking.Lock()
	defer s.asking.Unlock()
	for again := s.query != nil; ; again = false {
		if s.query == nil {
			c, err := s.dial(ctx)
			if err != nil {
				return unread(err)
			}
			s.query = c
		}
		s.note(ctx)
		err := f(s.query)
		var bad *horizon.ReplyError
		if err == nil {
			return nil
		}
		if errors.As(err, &bad) {
			return unread(err)
		}
		_ = s.query.Close()
		s.query = nil
		var lost *horizon.SendError
		if !again || !errors.As(err, &lost) || lost.Sent || ctx.Err() != nil {
			return unread(err)
		}
	}
}

func (s *Session) dial(ctx context.Context) (*horizon.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, s.profile.Binding.Timeout)
	defer cancel()
	if s.opt.Dial != nil {
		return s.opt.Dial(ctx)
	}
	return horizon.Dial(ctx, s.profile.Binding.Endpoint, s.profile.Binding.Process)
}

// check holds what the client shows against what was pinned. Labels and addresses that
// differ are not repeated in the text: they are the client's own data.
func (b Binding) check(v View) error {
	switch {
	case v.State.Name != b.Name:
		return refuse(NotBound, "the client's player isn't the pinned one")
	case v.State.Dimension != b.Dimension || v.Status.Dimension != b.Dimension:
		return refuse(NotBound, "the companion isn't in the pinned dimension")
	case v.State.World != b.World:
		return refuse(NotBound, "the client shows another world label than the pinned one")
	case !v.State.Loaded || !v.State.Joined:
		return refuse(NotBound, "the companion's world isn't joined and loaded")
	}
	switch b.Mode {
	case SinglePlayerLab:
		if v.Status.Server != nil {
			return refuse(NotBound, "the binding is for single player and the client reports a server")
		}
	case Remote:
		switch srv := v.Status.Server; {
		case srv == nil:
			return refuse(NotBound, "the binding is for a server and the client reports none")
		case srv.Address != b.Server:
			return refuse(NotBound, "the client is on another server than the pinned one")
		case !srv.Joined || !srv.Loaded:
			return refuse(NotBound, "the pinned server isn't joined and loaded")
		}
	}
	return nil
}

// fit says whether the companion can act at all.
func (s *Session) fit(st horizon.PlayerState) error {
	switch {
	case st.Input.User > s.user:
		s.disarm("a person took over the companion")
		return refuse(Disarmed, "a person's input was seen on the companion: the session has ended")
	case st.Health <= 0:
		return refuse(NotBound, "the companion is dead")
	case st.Action != "":
		return refuse(Busy, "the companion is doing something else")
	}
	return nil
}
