package game

import (
	"context"
	"errors"
	"fmt"

	"blockworld-voice/game/horizon"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/digest"
)

// Do carries out one command and says how it ended. Whatever happens in between, at most
// one physical command was sent, and it was on disk before. When ctx ends, the action is
// stopped over a connection of its own; the session goes on only if the stop was seen.
func (s *Session) Do(ctx context.Context, c grammar.Command, rec Recorder) Outcome {
	switch c := c.(type) {
	case grammar.Stop:
		return s.Stop(ctx)
	case grammar.GoTo:
		return s.Act(ctx, WalkOrder(ScoreAssist, c.X, c.Y, c.Z, 0), rec)
	case grammar.LookAt:
		return s.Act(ctx, lookOrder(c), rec)
	case grammar.Say:
		return s.Act(ctx, sayOrder(c), rec)
	case grammar.StateQuery:
		return s.look(ctx, rec, tellState)
	case grammar.StatusQuery:
		return s.look(ctx, rec, tellStatus)
	case grammar.Idle, grammar.Follow, grammar.Build:
		return s.refused(rec, "", refuse(NotPermitted, "%s isn't one action: this session carries out single actions only", c.Kind()))
	}
	return Refused{Reason: NotPermitted, Detail: "there is no such command"}
}

// Act is Do for an order.
func (s *Session) Act(ctx context.Context, o Order, rec Recorder) Outcome {
	if !s.take() {
		return Refused{Reason: Busy, Detail: "another command is being carried out"}
	}
	defer s.give()
	if rec == nil {
		return Refused{Reason: Disarmed, Detail: "there is no recorder, and nothing is sent without a record"}
	}
	s.opt.At(PointBegun)
	v, err := s.check(ctx, o)
	if err != nil {
		return s.refused(rec, "", early(ctx, err))
	}
	s.opt.At(PointChecked)
	return s.attempt(ctx, o, v, rec)
}

// View reads a fresh pair of state and status that fits the binding. The error is a
// refusal with one of the reasons.
func (s *Session) View(ctx context.Context) (View, error) {
	if ok, why := s.Armed(); !ok {
		return View{}, refuse(Disarmed, "%s", why)
	}
	return s.observe(ctx)
}

func (s *Session) take() bool {
	select {
	case s.one <- struct{}{}:
		return true
	default:
		return false
	}
}

func (s *Session) give() { <-s.one }

// look answers a question. It is no attempt: nothing in the world can change by it.
func (s *Session) look(ctx context.Context, rec Recorder, tell func(View) Reported) Outcome {
	if !s.take() {
		return Refused{Reason: Busy, Detail: "another command is being carried out"}
	}
	defer s.give()
	if err := s.authority(); err != nil {
		return s.refused(rec, "", err)
	}
	v, err := s.observe(ctx)
	if err != nil {
		return s.refused(rec, "", early(ctx, err))
	}
	if v.State.Input.User > s.user {
		s.disarm("a person took over the companion")
	}
	s.event(rec, Event{Kind: EventObserved})
	return tell(v)
}

func tellState(v View) Reported {
	at := v.State
	detail := fmt.Sprintf("at %s in %s, health %g", horizon.Where(at.Pos), at.Dimension, at.Health)
	if at.Action != "" {
		detail += ", doing something"
	}
	return Reported{Detail: detail, Observed: &Observed{After: poseOf(at), State: &at}}
}

func tellStatus(v View) Reported {
	st := v.Status
	where := "single player"
	if st.Server != nil {
		where = "on a server"
	}
	return Reported{Detail: fmt.Sprintf("%s, %s, %g frames a second, tick %d", where, st.Dimension, st.FPS, st.Tick), Observed: &Observed{Status: &st}}
}

// authority is what must hold for anything at all.
func (s *Session) authority() error {
	if ok, why := s.Armed(); !ok {
		if s.denied() {
			return refuse(Denied, "%s", why)
		}
		return refuse(Disarmed, "%s", why)
	}
	if !s.opt.Now().Before(s.profile.Policy.Expires) {
		return refuse(Expired, "the game profile has expired")
	}
	return nil
}

func (s *Session) denied() bool {
	s.gate.Lock()
	defer s.gate.Unlock()
	return s.deny
}

// check is admission: everything that is decided before an attempt exists.
func (s *Session) check(ctx context.Context, o Order) (View, error) {
	if err := s.authority(); err != nil {
		return View{}, err
	}
	if err := s.profile.Policy.permit(o, s.opt.Now(), s.count()); err != nil {
		return View{}, err
	}
	if _, err := o.render(s.profile.Policy); err != nil {
		return View{}, refuse(NotPermitted, "%s", err)
	}
	v, err := View{}, error(nil)
	if o.sight != nil {
		v = *o.sight
	} else if v, err = s.observe(ctx); err != nil {
		return View{}, err
	}
	if err := s.fit(v.State); err != nil {
		return View{}, err
	}
	return v, s.profile.Policy.reach(o, v.State.Pos)
}

func (s *Session) count() int {
	s.gate.Lock()
	defer s.gate.Unlock()
	return s.used
}

// refused turns a refusal into an outcome and keeps an event of it. Denied ends the session.
func (s *Session) refused(rec Recorder, run RunID, err error) Outcome {
	var r *refusal
	if !errors.As(err, &r) {
		r = refuse(NotBound, "%s", err)
	}
	if r.reason == Denied {
		s.gate.Lock()
		s.deny = true
		s.disarmLocked(r.detail)
		s.gate.Unlock()
	}
	s.event(rec, Event{Kind: EventRefused, Run: run, Detail: r.reason.String()})
	return Refused{Reason: r.reason, Detail: r.detail}
}

// event keeps an event. A recorder that can't write ends the session after this command.
func (s *Session) event(rec Recorder, e Event) {
	if rec == nil { // a question needs no record
		return
	}
	e.AtNS = s.since()
	if err := rec.Event(e); err != nil {
		s.disarm("the evidence can't be written")
	}
}

// paper is the attempt as it is recorded.
func (s *Session) paper(o Order, run RunID, line horizon.Line) Attempt {
	a := Attempt{Schema: schema, Run: run, Session: s.id, Score: o.score, Command: o.command, LineSHA256: digest.Of([]byte(line.String())),
		PreparedAt: s.opt.Now().UTC(), Binding: s.profile.BindingDigest}
	if !o.secret {
		a.Line = line.String()
	}
	return a
}
