package game

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blockworld-voice/game/horizon"
	"blockworld-voice/game/lab"
	"blockworld-voice/grammar"
)

func wantClosed(t *testing.T, r *rig, reason Reason, text string) {
	t.Helper()
	s, err := Open(t.Context(), r.profile, r.opt)
	if err == nil {
		_ = s.Close()
		t.Fatalf("a session was opened, want %s", reason)
	}
	var o *OpenError
	if !errors.As(err, &o) || o.Reason != reason || o.Hint == "" || !strings.Contains(o.Detail, text) {
		t.Fatalf("%+v, want %s with %q", err, reason, text)
	}
}

// contract: A2
func TestOnlyThePinnedProcessIsDriven(t *testing.T) {
	r := newRig(t, lab.Options{})
	good := r.profile.Binding.Process
	r.profile.Binding.Process.StartTicks++ // the same number, another generation
	wantClosed(t, r, NotBound, "another process")
	r.profile.Binding.Process.PID = os.Getppid()
	wantClosed(t, r, NotBound, "another process")
	r.profile.Binding.Process = good
	r.profile.Binding.Name = "somebody"
	wantClosed(t, r, NotBound, "player")
	r.profile.Binding.Name = "companion"
	r.profile.Binding.Dimension = "minecraft:the_end"
	wantClosed(t, r, NotBound, "dimension")
	r.profile.Binding.Dimension = "minecraft:overworld"
	r.profile.Binding.World = ""
	wantClosed(t, r, NotBound, "label")
	r.profile.Binding.World = "Lab World"
	r.open()
}

// contract: A2
func TestReplacedProcessAtTheSamePathGetsNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	sock := filepath.Join(dir, "c.sock")
	first, p, err := StartLab(t.Context(), os.Args[0], dir, "--speed", "40", "--socket", sock)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	s, err := Open(t.Context(), p, Options{StateDir: filepath.Join(t.TempDir(), "state"), GameHome: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.Remove(sock); err != nil {
		t.Fatal(err)
	}
	second, _, err := StartLab(t.Context(), os.Args[0], dir, "--speed", "40", "--socket", sock, "--journal", filepath.Join(dir, "second.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	// The first client lives and its query connection still answers: only the action's
	// own connection meets the impostor.
	wantRefused(t, s.Do(t.Context(), grammar.Say{Text: "hello"}, &recorder{}), NotBound)
	first.Kill()
	<-first.Done()
	wantRefused(t, s.Do(t.Context(), grammar.Say{Text: "hello"}, &recorder{}), NotBound)
	for _, name := range []string{"journal.jsonl", "second.jsonl"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || len(b) != 0 {
			t.Fatalf("%s: %q %v", name, b, err)
		}
	}
}

// contract: A3
func TestModesRefuseEachOther(t *testing.T) {
	single := newRig(t, lab.Options{})
	single.profile.Binding.Mode, single.profile.Binding.Server = Remote, "127.0.0.1:25565"
	wantClosed(t, single, NotBound, "reports none")

	hub, err := lab.NewHub(0, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	defer hub.Close()
	link, err := lab.Join(hub.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(link.Close)
	remote := newRig(t, lab.Options{Link: link})
	good := remote.profile
	remote.profile.Binding.Mode, remote.profile.Binding.Server = SinglePlayerLab, ""
	wantClosed(t, remote, NotBound, "reports a server")
	remote.profile = good
	remote.profile.Binding.Server = "127.0.0.1:1"
	wantClosed(t, remote, NotBound, "another server")
	// The empty label of a fresh remote client fits only an empty pin.
	remote.profile = good
	remote.profile.Binding.World = "Our World"
	wantClosed(t, remote, NotBound, "label")
	remote.profile = good
	s := remote.open()
	wantKind(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, remote.rec), KindReported)
	hub.Close()
	for link.Up() {
		time.Sleep(time.Millisecond)
	}
	wantRefused(t, s.Do(t.Context(), grammar.Say{Text: "znova"}, remote.rec), NotBound)
	if len(remote.effects()) != 1 {
		t.Fatalf("%+v", remote.effects())
	}
}

// contract: A4
func TestPolicyRefusesBeforeAnAttempt(t *testing.T) {
	r := newRig(t, lab.Options{})
	r.profile.Policy.Actions = []Action{ActGoTo}
	r.profile.Policy.Min, r.profile.Policy.Max = [3]grammar.Coord{-2000, 6000, -2000}, [3]grammar.Coord{2000, 7000, 2000}
	r.profile.Policy.MaxDistance = 12
	s := r.open()
	wantRefused(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, r.rec), NotPermitted)
	wantRefused(t, s.Do(t.Context(), grammar.LookAt{}, r.rec), NotPermitted)
	for _, c := range []grammar.Command{grammar.Idle{}, grammar.Follow{}, grammar.Build{}} {
		wantRefused(t, s.Do(t.Context(), c, r.rec), NotPermitted)
	}
	wantRefused(t, s.Do(t.Context(), grammar.GoTo{X: 2001, Y: 6400}, r.rec), OutOfBounds)
	wantRefused(t, s.Do(t.Context(), grammar.GoTo{X: 0, Y: 5999}, r.rec), OutOfBounds)
	wantRefused(t, s.Do(t.Context(), grammar.GoTo{X: 0, Y: 6400, Z: -2001}, r.rec), OutOfBounds)
	wantRefused(t, s.Do(t.Context(), goTo(13, 64, 0), r.rec), TooFar)
	if r.rec.count() != 0 || len(r.effects()) != 0 {
		t.Fatal("an attempt was recorded")
	}
	wantKind(t, s.Do(t.Context(), goTo(12, 64, 0), r.rec), KindReported)
	if a := r.rec.attempts[0]; a.Line != "goto 12 64 0 --timeout 30" {
		t.Fatal(a.Line)
	}
}

// contract: A4
func TestBudgetAndExpiry(t *testing.T) {
	r := newRig(t, lab.Options{})
	r.profile.Policy.MaxActions = 2
	now := time.Now()
	r.opt.Now = func() time.Time { return now }
	s := r.open()
	for range 2 {
		wantKind(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, r.rec), KindReported)
	}
	wantRefused(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, r.rec), Budget)
	now = r.profile.Policy.Expires
	wantRefused(t, s.Do(t.Context(), grammar.StateQuery{}, r.rec), Expired)
	wantRefused(t, s.Do(t.Context(), goTo(1, 64, 1), r.rec), Expired)
	if r.rec.count() != 2 || len(r.effects()) != 2 {
		t.Fatal(r.rec.attempts)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantClosed(t, r, Expired, "expired")
}

// contract: A6
func TestPersonsInputEndsTheSession(t *testing.T) {
	r := newRig(t, lab.Options{})
	r.g.UserInput() // before the session: the person who started the game
	s := r.open()
	wantKind(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, r.rec), KindReported)
	r.g.UserInput()
	wantRefused(t, s.Do(t.Context(), grammar.Say{Text: "znova"}, r.rec), Disarmed)
	if ok, why := s.Armed(); ok || !strings.Contains(why, "person") {
		t.Fatal(why)
	}
	wantRefused(t, s.Do(t.Context(), goTo(1, 64, 1), r.rec), Disarmed)
	if r.rec.count() != 1 {
		t.Fatal(r.rec.attempts)
	}
}

// contract: A6
func TestPersonsInputDuringAWalkStopsIt(t *testing.T) {
	r := newRig(t, lab.Options{Speed: 1})
	s := r.open()
	go func() {
		for len(r.g.Journal()) == 0 {
			time.Sleep(time.Millisecond)
		}
		r.g.UserInput()
	}()
	wantKind(t, s.Do(t.Context(), goTo(60, 64, 0), r.rec), KindCancelled)
	if !strings.Contains(r.rec.kinds(), "user_input") {
		t.Fatal(r.rec.kinds())
	}
	wantRefused(t, s.Do(t.Context(), grammar.Say{Text: "znova"}, r.rec), Disarmed)
}

// contract: A7
func TestNoAIRefuses(t *testing.T) {
	r := newRig(t, lab.Options{Faults: []lab.Fault{{Kind: lab.Denied, Word: "chat"}}})
	s := r.open()
	out := s.Do(t.Context(), grammar.Say{Text: "ahoj"}, r.rec)
	wantRefused(t, out, Denied)
	if !out.(Refused).Answered || len(r.effects()) != 0 {
		t.Fatalf("%+v", out)
	}
	wantRefused(t, s.Do(t.Context(), grammar.StateQuery{}, r.rec), Denied)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r.g.Arm(lab.Fault{Kind: lab.Denied, Word: "state"})
	wantClosed(t, r, Denied, "No AI")
	if err := os.MkdirAll(r.opt.GameHome, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.opt.GameHome, "horizon-extras.txt"), []byte("a:1\r\nnoAi:true\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantClosed(t, r, Denied, "No AI")
}

// contract: A7
func TestNoAITurnedOnWhileDriving(t *testing.T) {
	home := t.TempDir()
	r := newRig(t, lab.Options{Home: home, Speed: 1})
	r.opt.GameHome = home
	s := r.open()
	go func() {
		for len(r.g.Journal()) == 0 {
			time.Sleep(time.Millisecond)
		}
		_ = os.WriteFile(filepath.Join(home, "horizon-extras.txt"), []byte("noAi:true\n"), 0o600)
	}()
	// The socket is gone in the middle of a walk: nobody can say how that ended.
	wantKind(t, s.Do(t.Context(), goTo(60, 64, 0), r.rec), KindUnknown)
	wantRefused(t, s.Do(t.Context(), grammar.StateQuery{}, r.rec), Disarmed)
}

// contract: S3
func TestAuthorityIsCheckedRightBeforeTheBytes(t *testing.T) {
	for name, c := range map[string]struct {
		at     Point
		change func(r *rig, s *Session, cancel context.CancelFunc)
		reason Reason
	}{
		"stopped":     {PointRechecked, func(_ *rig, s *Session, _ context.CancelFunc) { s.disarm("stopped") }, Disarmed},
		"cancelled":   {PointRechecked, func(_ *rig, _ *Session, cancel context.CancelFunc) { cancel() }, Disarmed},
		"expired":     {PointRechecked, func(r *rig, _ *Session, _ context.CancelFunc) { r.profile.Policy.Expires = time.Time{} }, Expired},
		"budget":      {PointRechecked, func(_ *rig, s *Session, _ context.CancelFunc) { s.used = 1000 }, Budget},
		"dimension":   {PointFenced, func(r *rig, _ *Session, _ context.CancelFunc) { r.g.Travel("minecraft:the_end") }, NotBound},
		"world":       {PointFenced, func(r *rig, _ *Session, _ context.CancelFunc) { r.g.Rename("Other") }, NotBound},
		"person":      {PointFenced, func(r *rig, _ *Session, _ context.CancelFunc) { r.g.UserInput() }, Disarmed},
		"dead":        {PointFenced, func(r *rig, _ *Session, _ context.CancelFunc) { r.g.Hurt(100) }, NotBound},
		"carried off": {PointFenced, func(r *rig, _ *Session, _ context.CancelFunc) { r.g.Teleport(100.5, 64, 0.5) }, TooFar},
		"gone":        {PointFenced, func(r *rig, _ *Session, _ context.CancelFunc) { r.srv.Close() }, NotBound},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, lab.Options{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			expires := time.Now().Add(time.Hour)
			r.profile.Policy.Expires = expires
			r.opt.Now = func() time.Time {
				if r.profile.Policy.Expires.IsZero() {
					return expires
				}
				return time.Now()
			}
			var s *Session
			r.opt.At = func(p Point) {
				if p == c.at && s != nil {
					c.change(r, s, cancel)
				}
			}
			s = r.open()
			wantRefused(t, s.Do(ctx, goTo(8, 64, 0), r.rec), c.reason)
			if r.rec.count() != 1 || len(r.effects()) != 0 {
				t.Fatalf("%d attempts, %+v", r.rec.count(), r.effects())
			}
		})
	}
}

// contract: S3
func TestGuardIsAskedLast(t *testing.T) {
	r := newRig(t, lab.Options{})
	s := r.open()
	asked := 0
	o := WalkOrder(ScoreFollow, 800, 6400, 0, time.Second).Guarded(func(v View) error {
		asked++
		if v.State.Pos != [3]float64{0.5, 64, 0.5} {
			t.Error(v.State.Pos)
		}
		return errors.New("the sample is stale")
	})
	wantRefused(t, s.Act(t.Context(), o, r.rec), NotBound)
	if asked != 1 || len(r.effects()) != 0 {
		t.Fatal(asked, r.effects())
	}
}

// contract: S1
func TestOneActionAtATime(t *testing.T) {
	r := newRig(t, lab.Options{Speed: 1})
	s := r.open()
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan Outcome, 1)
	go func() { first <- s.Do(ctx, goTo(60, 64, 0), r.rec) }()
	for len(r.g.Journal()) == 0 {
		time.Sleep(time.Millisecond)
	}
	other := &recorder{}
	wantRefused(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, other), Busy)
	wantRefused(t, s.Do(t.Context(), grammar.StateQuery{}, other), Busy)
	if other.count() != 0 {
		t.Fatal("an attempt was recorded")
	}
	cancel()
	wantKind(t, <-first, KindCancelled)
	wantKind(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, r.rec), KindReported)
}

// contract: S1
func TestBusyClientIsNotDisturbed(t *testing.T) {
	r := newRig(t, lab.Options{Speed: 1})
	s := r.open()
	e := r.profile.Binding.Endpoint
	other, err := horizon.Dial(t.Context(), e, r.profile.Binding.Process)
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
	wantRefused(t, s.Do(t.Context(), goTo(1, 64, 1), r.rec), Busy)
	if r.rec.count() != 0 {
		t.Fatal("an attempt was recorded")
	}
	_ = other.Close()
	_, _ = p.Await(t.Context(), time.Second)
}

func mustRender(t *testing.T, r horizon.Request) horizon.Line {
	t.Helper()
	l, err := horizon.Render(r)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// contract: A5
func TestEvidenceLiesInsideTheWorkspace(t *testing.T) {
	dir := t.TempDir()
	ws := filepath.Join(dir, "ws")
	for _, d := range []string{"ws/kept", "outside", "checkout/.git"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "outside"), filepath.Join(ws, "link")); err != nil {
		t.Fatal(err)
	}
	for path, good := range map[string]bool{
		"ws/evidence": true, "ws/kept": true, "ws/kept/new/deep": true,
		"ws": false, "outside": false, ".": false, "wsx": false, "ws/link": false, "ws/link/deep": false,
	} {
		if err := CheckEvidence(filepath.Join(dir, path), ws); (err == nil) != good {
			t.Errorf("%s: %v", path, err)
		}
	}
	roots := []string{filepath.Join(dir, "checkout")}
	for path, good := range map[string]bool{"outside/new": true, "checkout/new": false, ".": false, "ws/link/new": false} {
		if err := CheckOutside(filepath.Join(dir, path), roots); (err == nil) != good {
			t.Errorf("%s: %v", path, err)
		}
	}
}
