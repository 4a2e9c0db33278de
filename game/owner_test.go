package game

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"blockworld-voice/game/horizon"
	"blockworld-voice/game/lab"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/procgroup"
)

// contract: O1
func TestSecondControllerIsRefusedThroughAnyPath(t *testing.T) {
	r := newRig(t, lab.Options{})
	first := r.open()
	link := filepath.Join(t.TempDir(), "link.sock")
	if err := os.Symlink(r.srv.Endpoint(), link); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(t.TempDir(), "moved.sock")
	if err := os.Link(r.srv.Endpoint(), moved); err != nil {
		t.Fatal(err)
	}
	other := *r
	for _, path := range []string{r.srv.Endpoint(), link, moved} {
		e, err := horizon.ParseEndpoint(path, "")
		if err != nil {
			t.Fatal(err)
		}
		other.profile.Binding.Endpoint = e
		wantClosed(t, &other, Busy, "another session")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	other.open()
}

// contract: O1
func TestRaceForOneClientHasOneWinner(t *testing.T) {
	r := newRig(t, lab.Options{})
	for range 5 {
		var won, lost atomic.Int32
		var wg sync.WaitGroup
		open := make([]*Session, 6)
		for i := range open {
			wg.Go(func() {
				s, err := Open(t.Context(), r.profile, r.opt)
				var o *OpenError
				switch {
				case err == nil:
					won.Add(1)
					open[i] = s
				case errors.As(err, &o) && o.Reason == Busy:
					lost.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 || lost.Load() != 5 {
			t.Fatalf("%d won, %d lost", won.Load(), lost.Load())
		}
		for _, s := range open {
			if s != nil {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// contract: O2
func TestRecordIsThereBeforeTheFirstSend(t *testing.T) {
	r := newRig(t, lab.Options{})
	path, err := ownerFile(r.opt.StateDir, r.profile.Binding.Process)
	if err != nil {
		t.Fatal(err)
	}
	s := r.open()
	r.rec.onTry = func() {
		data, err := os.ReadFile(path)
		if h := readHistory(data); err != nil || !h.open || h.session != s.ID() {
			t.Errorf("%+v %v", h, err)
		}
	}
	wantKind(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, r.rec), KindReported)
	if r.rec.count() != 1 {
		t.Fatal("no attempt")
	}
}

// abandon lets go of a session as a crash does: the lock goes, the record stays as it is.
func abandon(t *testing.T, s *Session) {
	t.Helper()
	if err := s.owner.release(); err != nil {
		t.Fatal(err)
	}
	s.owner = nil
}

// contract: O2
func TestInterruptedClientNeedsReconcile(t *testing.T) {
	r := newRig(t, lab.Options{})
	s := r.open()
	wantKind(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, r.rec), KindReported)
	abandon(t, s)
	for range 3 {
		wantClosed(t, r, Disarmed, "interrupted")
	}
	left, err := Reconcile(r.opt.StateDir)
	if err != nil || len(left) != 1 || left[0].State != "interrupted" || left[0].Ended {
		t.Fatalf("%+v %v", left, err)
	}
	next := r.open()
	wantKind(t, next.Do(t.Context(), grammar.Say{Text: "znova"}, r.rec), KindReported)
	if err := next.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := Reconcile(r.opt.StateDir); err != nil || len(left) != 0 {
		t.Fatalf("%+v %v", left, err)
	}
}

// contract: O2
// contract: S5
// contract: X2
func TestUnknownStaysUntilReconcile(t *testing.T) {
	r := newRig(t, lab.Options{Faults: []lab.Fault{{Kind: lab.DisconnectAfter}}})
	s := r.open()
	wantKind(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, r.rec), KindUnknown)
	wantRefused(t, s.Do(t.Context(), grammar.Say{Text: "znova"}, r.rec), Disarmed)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantClosed(t, r, Disarmed, "unknown")
	if len(r.effects()) != 1 {
		t.Fatalf("%+v", r.effects())
	}
	left, err := Reconcile(r.opt.StateDir)
	if err != nil || len(left) != 1 || left[0].State != "unknown" {
		t.Fatalf("%+v %v", left, err)
	}
	r.open()
}

// contract: O2
func TestEndedClientGenerationFreesItsSuccessor(t *testing.T) {
	dir, state := filepath.Join(t.TempDir(), "ws"), filepath.Join(t.TempDir(), "state")
	sock := filepath.Join(dir, "c.sock")
	opt := Options{StateDir: state, GameHome: t.TempDir()}
	start := func() (*LabProcess, Profile) {
		l, p, err := StartLab(t.Context(), os.Args[0], dir, "--speed", "40", "--socket", sock, "--fault", "disconnect-after@chat:1")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return l, p
	}
	first, p := start()
	s, err := Open(t.Context(), p, opt)
	if err != nil {
		t.Fatal(err)
	}
	wantKind(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, &recorder{}), KindUnknown)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), p, opt); err == nil {
		t.Fatal("the unknown client was taken again")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	// Another process at the same path is another client: nothing has to be reconciled.
	_, p = start()
	if s, err = Open(t.Context(), p, opt); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// contract: S5
// contract: O3
func TestFencedRunIsReportedOnceAndRetired(t *testing.T) {
	r := newRig(t, lab.Options{})
	s := r.open()
	run := newRun()
	if err := s.owner.fence(run); err != nil {
		t.Fatal(err)
	}
	if err := s.owner.fence(run); err == nil {
		t.Fatal("a run was fenced twice")
	}
	abandon(t, s)
	_, err := Open(t.Context(), r.profile, r.opt)
	var o *OpenError
	if !errors.As(err, &o) || o.Reason != Disarmed || len(o.Recovered) != 1 || o.Recovered[0].Run != run || o.Recovered[0].Session != s.ID() || o.Recovered[0].Workspace != r.profile.Workspace {
		t.Fatalf("%+v", o)
	}
	if o.Recovered[0].Outcome().Kind() != KindUnknown {
		t.Fatal(o.Recovered[0].Outcome())
	}
	if k, err := Fate(r.opt.StateDir, run); err != nil || k != KindUnknown {
		t.Fatal(k, err)
	}
	if k, err := Fate(r.opt.StateDir, newRun()); err != nil || k != KindRefused {
		t.Fatal(k, err)
	}
	if again, err := Recover(r.opt.StateDir); err != nil || len(again) != 0 {
		t.Fatal(again, err)
	}
	if _, err := Reconcile(r.opt.StateDir); err != nil {
		t.Fatal(err)
	}
	next := r.open()
	if err := next.owner.fence(run); err == nil {
		t.Fatal("a retired run was fenced again")
	}
	// Nothing was resumed.
	if len(r.effects()) != 0 {
		t.Fatalf("%+v", r.effects())
	}
}

func TestTornAndDamagedRecords(t *testing.T) {
	dir := t.TempDir()
	self, err := procgroup.Self()
	if err != nil {
		t.Fatal(err)
	}
	path, err := ownerFile(dir, self)
	if err != nil {
		t.Fatal(err)
	}
	o, err := lockOwner(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.begin("s", "/w", self); err != nil {
		t.Fatal(err)
	}
	run := newRun()
	if err := errors.Join(o.fence(run), o.settle(run, KindReported), o.end()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ends := map[int]string{}
	for i := range whole {
		h := readHistory(whole[:i])
		if h.damaged {
			t.Fatalf("cut at %d: damaged", i)
		}
		ends[strings.Count(string(whole[:i]), "\n")] = h.state()
	}
	if ends[0] != "clean" || ends[1] != "interrupted" || ends[2] != "unknown" || ends[3] != "interrupted" {
		t.Fatal(ends)
	}
	// A torn line is cut off and what follows is good again.
	if err := os.WriteFile(path, whole[:len(whole)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	if o, err = lockOwner(path, time.Now); err != nil || o.past.state() != "interrupted" {
		t.Fatal(err)
	}
	if err := errors.Join(o.add(ownerLine{Op: opReconcile}, true), o.release()); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(path); readHistory(data).state() != "clean" {
		t.Fatalf("%s", data)
	}
	// Anything else in the middle is damage, and damage refuses until it is reconciled.
	for _, bad := range []string{"nonsense\n", `{"schema":2,"op":"close","at":"2026-01-01T00:00:00Z"}` + "\n", `{"schema":1,"op":"settle","run":"x","at":"2026-01-01T00:00:00Z"}` + "\n",
		`{"schema":1,"op":"dance","at":"2026-01-01T00:00:00Z"}` + "\n"} {
		if err := os.WriteFile(path, append([]byte(bad), whole...), 0o600); err != nil {
			t.Fatal(err)
		}
		if o, err = lockOwner(path, time.Now); err != nil || o.past.state() != "damaged" || o.past.clean() {
			t.Fatal(bad, err)
		}
		if err := o.release(); err != nil {
			t.Fatal(err)
		}
	}
	left, err := Reconcile(dir)
	if err != nil || len(left) != 1 || left[0].State != "damaged" {
		t.Fatal(left, err)
	}
	if o, err = lockOwner(path, time.Now); err != nil || !o.past.clean() {
		t.Fatal(err)
	}
	if err := o.release(); err != nil {
		t.Fatal(err)
	}
}

// Records don't grow with the sessions, and an old run keeps its fate.
// contract: S5
func TestSettledRunsGoToTheArchive(t *testing.T) {
	r := newRig(t, lab.Options{})
	var runs []RunID
	for range 4 {
		s := r.open()
		wantKind(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, r.rec), KindReported)
		runs = append(runs, r.rec.attempts[len(r.rec.attempts)-1].Run)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	path, err := ownerFile(r.opt.StateDir, r.profile.Binding.Process)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if h := readHistory(data); err != nil || len(h.runs) != 1 || strings.Count(string(data), "\n") != 4 {
		t.Fatalf("%s %v", data, err)
	}
	fates := func() {
		t.Helper()
		for _, run := range runs {
			if k, err := Fate(r.opt.StateDir, run); err != nil || k != KindReported {
				t.Fatal(k, err)
			}
		}
	}
	fates()
	// When the client is gone its record goes, and the fates stay.
	gone := strings.Replace(path, ".jsonl", "9.jsonl", 1)
	if err := os.Rename(path, gone); err != nil {
		t.Fatal(err)
	}
	if lost, err := Recover(r.opt.StateDir); err != nil || len(lost) != 0 {
		t.Fatal(lost, err)
	}
	if _, err := os.Stat(gone); err == nil {
		t.Fatal("the record of a client that is gone stayed")
	}
	fates()
}

// contract: E4
func TestHalfALineOfAFullDiskSpoilsNothing(t *testing.T) {
	self, err := procgroup.Self()
	if err != nil {
		t.Fatal(err)
	}
	path, err := ownerFile(t.TempDir(), self)
	if err != nil {
		t.Fatal(err)
	}
	o, err := lockOwner(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.begin("s", "/w", self); err != nil {
		t.Fatal(err)
	}
	good, full := o.f, (*os.File)(nil)
	if full, err = os.OpenFile("/dev/full", os.O_RDWR, 0); err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	o.f = full
	if err := o.fence(newRun()); err == nil {
		t.Fatal("a full disk took the fence")
	}
	o.f = good
	if err := errors.Join(o.fence(newRun()), o.release()); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || readHistory(data).damaged {
		t.Fatalf("%s %v", data, err)
	}
}

// contract: S4
func TestNoFenceNoSend(t *testing.T) {
	r := newRig(t, lab.Options{})
	s := r.open()
	r.rec.onTry = func() { _ = s.owner.f.Close() } // the disk goes away after the attempt
	wantRefused(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, r.rec), Disarmed)
	if len(r.effects()) != 0 {
		t.Fatalf("%+v", r.effects())
	}
	s.owner = nil
}

// A full disk after the send ends the session, and the outcome is still told.
// contract: E4
func TestRecorderThatFailsAfterTheSend(t *testing.T) {
	r := newRig(t, lab.Options{})
	s := r.open()
	r.rec.failNote = os.ErrInvalid
	wantRefused(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, r.rec), Disarmed) // the note before the send failed
	if len(r.effects()) != 0 {
		t.Fatalf("%+v", r.effects())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	next := r.open()
	note := &failing{after: 2}
	wantKind(t, next.Do(t.Context(), grammar.Say{Text: "ahoj"}, note), KindReported)
	wantRefused(t, next.Do(t.Context(), grammar.Say{Text: "znova"}, note), Disarmed)
}

// failing is a recorder whose events fail after some.
type failing struct {
	recorder
	after int
}

func (f *failing) Event(e Event) error {
	if f.after--; f.after < 0 {
		return os.ErrInvalid
	}
	return f.recorder.Event(e)
}

// contract: S4
func TestNothingIsReplayed(t *testing.T) {
	for _, k := range []lab.Kind{lab.DisconnectAfter, lab.DisconnectBefore, lab.HalfLine, lab.NUL} {
		r := newRig(t, lab.Options{Faults: []lab.Fault{{Kind: k}}})
		r.profile.Binding.Timeout = brief
		s := r.open()
		wantKind(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, r.rec), KindUnknown)
		wantRefused(t, s.Do(context.Background(), grammar.Say{Text: "ahoj"}, r.rec), Disarmed)
		if n := len(r.effects()); n > 1 || r.rec.count() != 1 {
			t.Fatalf("%s: %d effects, %d attempts", k, n, r.rec.count())
		}
	}
}
