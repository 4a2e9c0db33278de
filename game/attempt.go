package game

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"blockworld-voice/game/horizon"
)

// flight is one command between its send and its settlement.
type flight struct {
	answered chan struct{} // closed when reply and err stand
	reply    horizon.Reply
	err      error
	stop     *halting // guarded by the gate; nil until somebody stops it
	gaveUp   bool     // the client ended it by itself, before any stop; belongs to whoever waits
}

// errEarly is a cancellation that came before the bytes.
var errEarly = refuse(Disarmed, "cancelled before anything was sent")

func early(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errEarly
	}
	return err
}

// attempt records, fences, checks again, sends, waits and settles.
func (s *Session) attempt(ctx context.Context, o Order, before View, rec Recorder) Outcome {
	line, err := o.render(s.profile.Policy)
	if err != nil {
		return s.refused(rec, "", refuse(NotPermitted, "%s", err))
	}
	run := newRun()
	conn, hangUp := s.reachOut(ctx)
	defer hangUp()
	s.event(rec, Event{Kind: EventAdmitted, Run: run})
	s.opt.At(PointBeforeDisk)
	if err := rec.Attempt(s.paper(o, run, line)); err != nil {
		s.disarm("the evidence can't be written")
		return s.refused(rec, run, &refusal{Disarmed, "the attempt could not be recorded, so nothing was sent", err})
	}
	s.opt.At(PointAttempt)
	if err := s.owner.fence(run); err != nil {
		s.disarm("the ownership record can't be written")
		return s.refused(rec, run, &refusal{Disarmed, "the run could not be fenced, so nothing was sent", err})
	}
	s.opt.At(PointFenced)
	s.event(rec, Event{Kind: EventPrepared, Run: run})
	out := s.carry(ctx, conn, o, run, line, before, rec)
	s.opt.At(PointSettling)
	if err := s.owner.settle(run, out.Kind()); err != nil {
		s.disarm("the ownership record can't be written")
	}
	if out.Kind() == KindUnknown {
		s.disarm("the effect of an earlier command is unknown")
		s.event(rec, Event{Kind: EventDisarmed, Run: run})
	}
	s.opt.At(PointSettled)
	return out
}

// reachOut makes the connection of one action while its records go to the disk. It is this
// action's alone, so that no answer to an earlier one can ever stand in it. The first
// function waits for it; the second closes it and must be called.
func (s *Session) reachOut(ctx context.Context) (wait func() (*horizon.Client, error), hangUp func()) {
	ctx, cancel := context.WithCancel(ctx)
	var conn *horizon.Client
	var err error
	made := make(chan struct{})
	go func() {
		defer close(made)
		conn, err = s.dial(ctx)
	}()
	wait = func() (*horizon.Client, error) {
		<-made
		return conn, err
	}
	return wait, func() {
		cancel()
		if conn, err := wait(); err == nil {
			_ = conn.Close()
		}
	}
}

// carry sends a fenced run and finds out how it ended.
func (s *Session) carry(ctx context.Context, reached func() (*horizon.Client, error), o Order, run RunID, line horizon.Line, before View, rec Recorder) Outcome {
	conn, err := reached()
	if err != nil {
		return s.refused(rec, run, early(ctx, unread(err)))
	}
	s.opt.At(PointConnected)
	last, err := s.observe(ctx)
	if err == nil {
		err = s.fit(last.State)
	}
	if err == nil {
		err = s.profile.Policy.reach(o, last.State.Pos)
	}
	if err != nil {
		return s.refused(rec, run, early(ctx, err))
	}
	before = last
	s.opt.At(PointRechecked)
	wait := s.profile.Binding.Timeout
	if o.long {
		wait += o.timeout(s.profile.Policy)
	}
	f, err := s.send(ctx, conn, o, line, before, wait)
	if err != nil {
		var lost *horizon.SendError
		if errors.As(err, &lost) && lost.Sent {
			return Unknown{Detail: "the connection failed while the command was being sent"}
		}
		return s.refused(rec, run, err)
	}
	s.opt.At(PointSent)
	s.event(rec, Event{Kind: EventSent, Run: run})
	person := s.wait(ctx, f, o)
	s.opt.At(PointAnswered)
	s.gate.Lock()
	halt := f.stop
	s.live = nil
	s.gate.Unlock()
	out := s.judge(ctx, o, run, f, halt, before, rec)
	if person != "" {
		s.disarm(person)
		s.event(rec, Event{Kind: EventPerson, Run: run, Detail: person})
	}
	return out
}

// send makes the last check and writes the bytes. Nothing can come between the two: a
// Stop either comes first and nothing goes, or finds the flight and stops it.
func (s *Session) send(ctx context.Context, conn *horizon.Client, o Order, line horizon.Line, last View, wait time.Duration) (*flight, error) {
	s.gate.Lock()
	defer s.gate.Unlock()
	if s.why != "" {
		return nil, refuse(Disarmed, "%s", s.why)
	}
	if ctx.Err() != nil {
		return nil, errEarly
	}
	if err := s.profile.Policy.permit(o, s.opt.Now(), s.used); err != nil {
		return nil, err
	}
	if ended, err := s.profile.Binding.Process.Ended(); err != nil || ended {
		return nil, refuse(NotBound, "the companion's process has ended")
	}
	if o.guard != nil {
		if err := o.guard(last); err != nil {
			var r *refusal
			if !errors.As(err, &r) {
				err = refuse(NotBound, "%s", err)
			}
			return nil, err
		}
	}
	s.used++
	p, err := conn.Post(context.WithoutCancel(ctx), line, s.profile.Binding.Timeout)
	if err != nil {
		var lost *horizon.SendError
		var bad *horizon.ReplyError
		if errors.As(err, &lost) && !lost.Sent || errors.As(err, &bad) {
			return nil, unread(err)
		}
		return nil, err
	}
	f := &flight{answered: make(chan struct{})}
	s.live = f
	go func() {
		defer close(f.answered)
		f.reply, f.err = p.Await(context.WithoutCancel(ctx), wait)
	}()
	return f, nil
}

// watchEvery is how often the client is looked at while a long action runs.
const watchEvery = 250 * time.Millisecond

// watchPlace is when the watch over a placement begins: one that goes well is over by then, and its questions are counted.
const watchPlace = time.Second

// wait returns when the reply is there or the stop has been settled. It stops the action
// when ctx ends, and when a look shows a person's input or another world; the text says that then.
func (s *Session) wait(ctx context.Context, f *flight, o Order) (person string) {
	look := make(chan string, 1)
	if o.long {
		watch, end := context.WithCancel(context.WithoutCancel(ctx))
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.watch(watch, f, o, look)
		}()
		defer func() {
			end()
			<-done
		}()
	}
	select {
	case <-f.answered:
		if f.gaveUp = o.long && f.ended(); !o.long || f.standing() == stoodBy && !f.gaveUp {
			return ""
		}
		// The reply is lost, or says no more than that the action isn't complete: contain it.
	case <-s.halt:
	case <-ctx.Done():
	case person = <-look:
		s.disarm(person)
	}
	// When the stop is over without a reply, the connection is closed: that ends the wait
	// for it and stops nothing.
	<-s.halting(f).done
	return person
}

// watch looks at the client until something is wrong with it or ctx ends.
func (s *Session) watch(ctx context.Context, f *flight, o Order, found chan<- string) {
	ctx = context.WithValue(ctx, watching{}, true)
	if o.action == ActPlace {
		late := time.NewTimer(watchPlace)
		defer late.Stop()
		select {
		case <-ctx.Done():
			return
		case <-f.answered:
			return
		case <-late.C:
		}
	}
	t := time.NewTicker(watchEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.answered:
			return
		case <-t.C:
		}
		v, err := s.observe(ctx)
		var r *refusal
		switch {
		case err == nil && v.State.Input.User > s.user:
			found <- "a person took over the companion"
			return
		case errors.As(err, &r) && r.err == nil: // it answered, and shows something else than pinned
			found <- r.detail
			return
		}
	}
}

// judge names the outcome from the reply, the stop and, for movement, a fresh look.
func (s *Session) judge(ctx context.Context, o Order, run RunID, f *flight, halt *halting, before View, rec Recorder) Outcome {
	var err error
	select {
	case <-f.answered:
		if err = f.err; err == nil {
			err = f.reply.Done()
		}
	default:
		err = errors.New("no reply")
	}
	var bad *horizon.ReplyError
	isReply := err == nil || errors.As(err, &bad)
	if isReply {
		s.event(rec, Event{Kind: EventAnswered, Run: run, Detail: answer(bad)})
	}
	if halt != nil {
		s.event(rec, Event{Kind: EventStopSent, Run: run})
		if !halt.seen || !isReply {
			return Unknown{Detail: "the command was sent, and neither its end nor that of a stop was observed"}
		}
		s.event(rec, Event{Kind: EventStopped, Run: run})
	}
	switch {
	case err == nil:
		return s.report(ctx, o, run, before, rec)
	case bad == nil:
		return Unknown{Detail: "the command was sent and no answer came that can be trusted"}
	case halt != nil && f.gaveUp && bad.Kind == horizon.KindTimeout:
		return Cancelled{Detail: "the client gave up when the time for the action was over; then it was stopped, and what was done before is not undone", Observed: s.after(o, before, run, rec)}
	case halt != nil && f.gaveUp:
		return Cancelled{Detail: "the client gave up before the action was complete; then it was stopped, and what was done before is not undone", Observed: s.after(o, before, run, rec)}
	case halt != nil && f.ended():
		return Cancelled{Detail: "the action was stopped; what was done before is not undone", Observed: s.after(o, before, run, rec)}
	}
	return s.declined(o, run, bad, rec)
}

func answer(bad *horizon.ReplyError) string {
	if bad == nil {
		return "ok"
	}
	return bad.Kind.String()
}

// ended says whether the reply is an error that leaves open how much of a long action was done.
func (f *flight) ended() bool {
	var bad *horizon.ReplyError
	if !errors.As(f.err, &bad) {
		return false
	}
	switch bad.Kind {
	case horizon.KindState, horizon.KindTimeout, horizon.KindConnection, horizon.KindOther:
		return true
	case horizon.KindUsage, horizon.KindUnknown, horizon.KindBusy, horizon.KindDenied, horizon.KindAPI:
	}
	return false
}

// declined sorts an error reply that no stop followed. Kinds that mean "not taken on" are refusals.
func (s *Session) declined(o Order, run RunID, bad *horizon.ReplyError, rec Recorder) Outcome {
	answered := func(r Reason, text string) Outcome {
		if r == Denied {
			s.gate.Lock()
			s.deny = true
			s.disarmLocked(text)
			s.gate.Unlock()
		}
		s.event(rec, Event{Kind: EventRefused, Run: run, Detail: r.String()})
		return Refused{Reason: r, Detail: text, Answered: true}
	}
	switch bad.Kind {
	case horizon.KindBusy:
		return answered(Busy, "the client answered that it is busy and took nothing on")
	case horizon.KindDenied:
		return answered(Denied, "the client answered that No AI is on and took nothing on")
	case horizon.KindUsage, horizon.KindUnknown, horizon.KindAPI:
		return answered(NotPermitted, "the client answered that it doesn't know this command and took nothing on")
	case horizon.KindState:
		if !o.long {
			return answered(NotBound, "the client answered that its state doesn't allow this and took nothing on")
		}
	case horizon.KindTimeout, horizon.KindConnection, horizon.KindOther:
	}
	return Unknown{Detail: "the client answered with an error that doesn't say what was done"}
}

// report is the client's ok, and for movement what we saw afterwards.
func (s *Session) report(ctx context.Context, o Order, run RunID, before View, rec Recorder) Outcome {
	if o.target == nil || o.proved {
		return Reported{Detail: "the client reported that it completed"}
	}
	see := s.after(o, before, run, rec)
	switch {
	case see == nil:
		return Reported{Detail: "the client reported that it completed; a look afterwards failed"}
	case o.action != ActGoTo && o.action != ActFollow:
		return Reported{Detail: "the client reported that it completed", Observed: see}
	case see.Moved < 0.05 && !see.Arrived:
		return Reported{Detail: "the client reported that it completed; no movement was seen", Observed: see}
	case see.Arrived:
		return Reported{Detail: fmt.Sprintf("the client reported that it completed; it was seen to move %.1f blocks and stands within %.1f of the target", see.Moved, see.Remaining), Observed: see}
	}
	return Reported{Detail: fmt.Sprintf("the client reported that it completed; it was seen to move %.1f blocks and is %.1f from the target", see.Moved, see.Remaining), Observed: see}
}

// after takes the fresh look. It is nil when the client could not be read. A look that
// doesn't fit the binding any more ends the session.
func (s *Session) after(o Order, before View, run RunID, rec Recorder) *Observed {
	ctx, cancel := context.WithTimeout(context.Background(), 2*s.profile.Binding.Timeout)
	defer cancel()
	v, err := s.observe(ctx)
	s.opt.At(PointObserved)
	if err != nil {
		var r *refusal
		if errors.As(err, &r) && r.err == nil {
			s.disarm("after the action: " + r.detail)
		}
		return nil
	}
	s.event(rec, Event{Kind: EventObserved, Run: run})
	see := &Observed{Before: poseOf(before.State), After: poseOf(v.State), State: &v.State, Moved: round(horizon.Distance(before.State.Pos, v.State.Pos))}
	if o.target != nil {
		see.Remaining = round(horizon.Distance(v.State.Pos, o.place()))
		see.Arrived = see.Remaining <= horizon.StopRadius
	}
	if v.State.Input.User > s.user {
		see.Person = true
		s.disarm("a person took over the companion")
		s.event(rec, Event{Kind: EventPerson, Run: run})
	}
	return see
}

func round(v float64) float64 { return math.Round(v*1000) / 1000 }
