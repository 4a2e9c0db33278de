package game

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"blockworld-voice/game/horizon"
	"blockworld-voice/game/lab"
	"blockworld-voice/grammar"
)

// walking begins a long walk and returns when the companion moves.
func walking(t *testing.T, r *rig, s *Session, ctx context.Context) <-chan Outcome {
	t.Helper()
	out := make(chan Outcome, 1)
	go func() { out <- s.Do(ctx, goTo(60, 64, 0), r.rec) }()
	for len(r.g.Journal()) == 0 {
		select {
		case o := <-out:
			t.Fatalf("it ended early: %+v", o)
		case <-time.After(time.Millisecond):
		}
	}
	return out
}

// contract: X1
// contract: X3
func TestCancelStopsOverASecondConnection(t *testing.T) {
	r := newRig(t, lab.Options{Speed: 1})
	s := r.open()
	ctx, cancel := context.WithCancel(t.Context())
	out := walking(t, r, s, ctx)
	cancel()
	o, ok := (<-out).(Cancelled)
	if !ok || o.Observed == nil || o.Observed.State.Action != "" || !strings.Contains(o.Detail, "not undone") {
		t.Fatalf("%+v", o)
	}
	at := r.g.Pos()
	time.Sleep(150 * time.Millisecond)
	if r.g.Pos() != at {
		t.Fatal("the companion walks on")
	}
	if j := r.g.Journal(); j[len(j)-1].Effect != lab.EffectWalkEnd || j[len(j)-2].Effect != lab.EffectStop {
		t.Fatalf("%+v", j)
	}
	if got := r.rec.kinds(); got != "admitted prepared sent answered stop_sent stopped observed" {
		t.Fatal(got)
	}
	// The stop was seen: the session may go on.
	wantKind(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, r.rec), KindReported)
}

// contract: X1
func TestCancelBeforeTheSendSendsNothing(t *testing.T) {
	r := newRig(t, lab.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	s := r.open()
	r.rec.onTry = cancel
	wantRefused(t, s.Do(ctx, goTo(10, 64, 0), r.rec), Disarmed)
	if len(r.g.Journal()) != 0 {
		t.Fatalf("%+v", r.g.Journal())
	}
	wantRefused(t, s.Do(ctx, goTo(10, 64, 0), r.rec), Disarmed)
}

// contract: X2
func TestIgnoredStopIsUnknownAndDisarms(t *testing.T) {
	r := newRig(t, lab.Options{Speed: 1, Faults: []lab.Fault{{Kind: lab.StopIgnored, N: -1}}})
	r.profile.Binding.Timeout = brief
	s := r.open()
	ctx, cancel := context.WithCancel(t.Context())
	out := walking(t, r, s, ctx)
	cancel()
	wantKind(t, <-out, KindUnknown)
	wantRefused(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, r.rec), Disarmed)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantClosed(t, r, Disarmed, "unknown")
}

// The stop works, and every look at it fails: nobody saw the boundary.
// contract: X2
func TestStopThatCantBeSeen(t *testing.T) {
	r := newRig(t, lab.Options{Speed: 1})
	s := r.open()
	ctx, cancel := context.WithCancel(t.Context())
	out := walking(t, r, s, ctx)
	r.g.Arm(lab.Fault{Kind: lab.NaN, Word: "state", N: -1})
	cancel()
	wantKind(t, <-out, KindUnknown)
	if j := r.g.Journal(); j[len(j)-2].Effect != lab.EffectStop {
		t.Fatalf("%+v", j)
	}
}

// contract: X1
func TestStopIsSaidAgainToALateAction(t *testing.T) {
	r := newRig(t, lab.Options{Speed: 1, Faults: []lab.Fault{{Kind: lab.StopIgnored}}}) // only the first
	s := r.open()
	ctx, cancel := context.WithCancel(t.Context())
	out := walking(t, r, s, ctx)
	cancel()
	wantKind(t, <-out, KindCancelled)
}

// contract: X2
func TestLostReplyOfAWalkIsContained(t *testing.T) {
	r := newRig(t, lab.Options{Speed: 1, Faults: []lab.Fault{{Kind: lab.NoReply}}})
	r.profile.Binding.Timeout = brief
	r.profile.Policy.ActionSeconds = 0.5
	s := r.open()
	wantKind(t, s.Do(t.Context(), goTo(60, 64, 0), r.rec), KindUnknown)
	at := r.g.Pos()
	time.Sleep(150 * time.Millisecond)
	if r.g.Pos() != at {
		t.Fatal("the companion walks on")
	}
}

// contract: X4
func TestStopEndsTheSession(t *testing.T) {
	r := newRig(t, lab.Options{Speed: 1})
	s := r.open()
	out := walking(t, r, s, t.Context())
	wantKind(t, s.Stop(t.Context()), KindCancelled)
	wantKind(t, <-out, KindCancelled)
	wantRefused(t, s.Do(t.Context(), grammar.StateQuery{}, r.rec), Disarmed)
	wantRefused(t, s.Do(t.Context(), goTo(1, 64, 1), r.rec), Disarmed)
	wantKind(t, s.Do(t.Context(), grammar.Stop{}, r.rec), KindCancelled) // a stop is never refused
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	fresh := r.open()
	wantKind(t, fresh.Do(t.Context(), grammar.Say{Text: "ahoj"}, r.rec), KindReported)
}

// contract: X4
func TestStopWorksWhileTheRecorderHangs(t *testing.T) {
	r := newRig(t, lab.Options{})
	s := r.open()
	hung, free := make(chan struct{}), make(chan struct{})
	r.rec.onTry = func() {
		close(hung)
		<-free
	}
	out := make(chan Outcome, 1)
	go func() { out <- s.Do(t.Context(), goTo(10, 64, 0), r.rec) }()
	<-hung
	wantKind(t, s.Stop(t.Context()), KindCancelled)
	close(free)
	wantRefused(t, <-out, Disarmed)
	if len(r.effects()) != 0 {
		t.Fatalf("%+v", r.effects())
	}
}

// contract: X4
func TestStopWorksWhileTheGameHangs(t *testing.T) {
	r := newRig(t, lab.Options{Speed: 1, Faults: []lab.Fault{{Kind: lab.NoReply, N: -1}, {Kind: lab.NoReply, Word: "state", N: 6}}})
	r.profile.Binding.Timeout = brief
	s := r.open()
	out := walking(t, r, s, t.Context())
	began := time.Now()
	k := s.Stop(t.Context()).Kind()
	if k != KindUnknown { // no answer to the walk will ever come
		t.Fatal(k)
	}
	wantKind(t, <-out, KindUnknown)
	if d := time.Since(began); d > 20*s.profile.Binding.Timeout {
		t.Fatal(d)
	}
	at := r.g.Pos()
	time.Sleep(120 * time.Millisecond)
	if r.g.Pos() != at {
		t.Fatal("the companion walks on")
	}
}

// contract: X2
func TestStopOfAGoneGameIsUnknown(t *testing.T) {
	r := newRig(t, lab.Options{})
	s := r.open()
	r.srv.Close()
	wantKind(t, s.Stop(t.Context()), KindUnknown)
}

// Something that isn't ours runs on and ignores the stop: nobody may say that it is idle.
// contract: X2
func TestStopOfAnotherActionThatGoesOn(t *testing.T) {
	r := newRig(t, lab.Options{Speed: 1, Faults: []lab.Fault{{Kind: lab.StopIgnored, N: -1}}})
	r.profile.Binding.Timeout = brief
	s := r.open()
	other, err := horizon.Dial(t.Context(), r.profile.Binding.Endpoint, r.profile.Binding.Process)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	p, err := other.Post(t.Context(), mustRender(t, horizon.GoTo{X: 6000, Y: 6400}), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for len(r.g.Journal()) == 0 {
		time.Sleep(time.Millisecond)
	}
	wantKind(t, s.Stop(t.Context()), KindUnknown)
	_ = other.Close()
	_, _ = p.Await(t.Context(), time.Second)
}

// contract: X1
func TestCloseStopsWhatRuns(t *testing.T) {
	r := newRig(t, lab.Options{Speed: 1})
	s := r.open()
	out := walking(t, r, s, t.Context())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantKind(t, <-out, KindCancelled)
	r.open()
}

// Whatever a stop meets, what is said about it never claims that it undid something.
// contract: X3
// A stop that came late would hit the action of the client's next owner.
//
// contract: O1
// contract: X1
func TestCloseKeepsTheClientUntilEveryStopIsOver(t *testing.T) {
	r := newRig(t, lab.Options{})
	reached, goOn := make(chan struct{}), make(chan struct{})
	r.opt.At = func(p Point) {
		if p == PointStopping {
			close(reached)
			<-goOn
		}
	}
	s := r.open()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantKind(t, s.Stop(ctx), KindUnknown)
	<-reached
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	next := r.opt
	next.At = nil
	var refused *OpenError
	if _, err := Open(t.Context(), r.profile, next); !errors.As(err, &refused) || refused.Reason != Busy {
		t.Fatalf("the client was given away while a stop was on its way: %v", err)
	}
	close(goOn)
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	lines := len(r.g.Journal())
	wantRefused(t, s.Stop(t.Context()), Disarmed)
	if len(r.g.Journal()) != lines {
		t.Fatalf("a stop was sent after the session had closed: %+v", r.g.Journal())
	}
	again, err := Open(t.Context(), r.profile, next)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// A client that gives an action up by itself is stopped all the same: only a stop that was observed makes it cancelled.
// contract: X2
func TestClientThatGivesUpIsStopped(t *testing.T) {
	for _, fault := range []lab.Fault{{Kind: lab.Death, Word: "goto", N: 0}, {Kind: lab.NoDisplacement, Word: "goto", N: 0}} {
		r := newRig(t, lab.Options{Faults: []lab.Fault{fault}})
		r.profile.Policy.ActionSeconds = 1
		s := r.open()
		target := goTo(30, 64, 30)
		if fault.Kind == lab.NoDisplacement { // walled in: the time runs out
			target = goTo(0, 120, 0)
		}
		o := s.Do(t.Context(), target, r.rec)
		if kind := o.Kind(); kind != KindCancelled || !strings.Contains(o.Say(), "gave up") {
			t.Fatalf("%s: %+v", fault.Kind, o)
		}
		if got := r.rec.kinds(); !strings.Contains(got, "answered stop_sent stopped observed") {
			t.Errorf("%s: %s", fault.Kind, got)
		}
		if ok, why := s.Armed(); !ok {
			t.Errorf("%s: %s", fault.Kind, why)
		}
	}
}

// contract: X2
func TestClientThatGivesUpAndCantBeStopped(t *testing.T) {
	r := newRig(t, lab.Options{Faults: []lab.Fault{{Kind: lab.Death, Word: "goto", N: 0}, {Kind: lab.DisconnectBefore, Word: "stop", N: 0}}})
	s := r.open()
	wantKind(t, s.Do(t.Context(), goTo(30, 64, 30), r.rec), KindUnknown)
	if ok, _ := s.Armed(); ok {
		t.Error("the session goes on after an unknown outcome")
	}
}

func TestNoOutcomeClaimsToUndo(t *testing.T) {
	r := newRig(t, lab.Options{Speed: 1})
	s := r.open()
	ctx, cancel := context.WithCancel(t.Context())
	out := walking(t, r, s, ctx)
	before := r.g.Pos()
	cancel()
	o := <-out
	for _, word := range []string{"undid", "reverted", "restored", "rolled back"} {
		if strings.Contains(o.Say(), word) {
			t.Error(o.Say())
		}
	}
	if now := r.g.Pos(); now[0] < before[0] {
		t.Fatal("the companion went back", before, now)
	}
	for range 50 {
		o := s.Stop(t.Context())
		if !strings.Contains(o.Say(), "not undone") && !strings.Contains(o.Say(), "nothing of ours was running") {
			t.Fatal(o.Say())
		}
	}
}
