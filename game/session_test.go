package game

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blockworld-voice/game/lab"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/digest"
)

// contract: S1
// contract: S6
func TestGoToIsReportedAndSeen(t *testing.T) {
	r := newRig(t, lab.Options{})
	s := r.open()
	out, ok := s.Do(t.Context(), goTo(10, 64, -5), r.rec).(Reported)
	if !ok || out.Observed == nil || !out.Observed.Arrived || out.Observed.Moved < 8 || out.Observed.Remaining > 1.5 {
		t.Fatalf("%+v %+v", out, out.Observed)
	}
	if n := r.rec.count(); n != 1 || len(r.effects()) != 1 {
		t.Fatalf("%d attempts, %+v", n, r.effects())
	}
	a := r.rec.attempts[0]
	if a.Line != "goto 10 64 -5 --timeout 30" || a.LineSHA256 != digest.Of([]byte(a.Line)) || a.Command != "goto 10 64 -5" || a.Score != ScoreAssist {
		t.Fatalf("%+v", a)
	}
	if a.LineSHA256.String() != r.effects()[0].Line {
		t.Fatal("the journal shows another line")
	}
	if got := r.rec.kinds(); got != "admitted prepared sent answered observed" {
		t.Fatal(got)
	}
}

// contract: S6
func TestOkWithoutDisplacementIsSaid(t *testing.T) {
	r := newRig(t, lab.Options{Faults: []lab.Fault{{Kind: lab.NoDisplacement}}})
	out, ok := r.open().Do(t.Context(), goTo(10, 64, 0), r.rec).(Reported)
	if !ok || out.Observed.Arrived || out.Observed.Moved != 0 || !strings.Contains(out.Detail, "no movement was seen") {
		t.Fatalf("%+v", out)
	}
}

func TestQueriesAreNoAttempts(t *testing.T) {
	r := newRig(t, lab.Options{})
	s := r.open()
	st, ok := s.Do(t.Context(), grammar.StateQuery{}, r.rec).(Reported)
	if !ok || st.Observed.State == nil || !strings.Contains(st.Detail, "0.5 64.0 0.5") {
		t.Fatalf("%+v", st)
	}
	status, ok := s.Do(t.Context(), grammar.StatusQuery{}, r.rec).(Reported)
	if !ok || status.Observed.Status == nil {
		t.Fatalf("%+v", status)
	}
	if r.rec.count() != 0 {
		t.Fatal("a question was recorded as an attempt")
	}
}

func TestLookAndSay(t *testing.T) {
	r := newRig(t, lab.Options{})
	s := r.open()
	wantKind(t, s.Do(t.Context(), grammar.LookAt{X: 1000, Y: 6400, Z: 50}, r.rec), KindReported)
	wantKind(t, s.Do(t.Context(), grammar.Say{Text: "dobrý deň"}, r.rec), KindReported)
	e := r.effects()
	if len(e) != 2 || e[0].Effect != lab.EffectTurn || e[1].Effect != lab.EffectSay || e[1].Note != "dobrý deň" {
		t.Fatalf("%+v", e)
	}
	if a := r.rec.attempts[1]; a.Line != "" || a.Command != "say" || a.LineSHA256.String() != e[1].Line {
		t.Fatalf("%+v", a)
	}
}

// contract: S2
func TestSayNeverBecomesACommand(t *testing.T) {
	r := newRig(t, lab.Options{})
	s := r.open()
	for _, text := range []string{"/gamemode creative", "hi\nstop", "hi\x00", "a --since 3", "", " ", "§4red", strings.Repeat("x", 257), "\xff", "a\u202eb"} {
		wantRefused(t, s.Do(t.Context(), grammar.Say{Text: text}, r.rec), NotPermitted)
	}
	if r.rec.count() != 0 || len(r.effects()) != 0 {
		t.Fatal("something was sent")
	}
}

// contract: S4
func TestAttemptIsKeptBeforeTheSend(t *testing.T) {
	r := newRig(t, lab.Options{})
	s := r.open()
	r.rec.onTry = func() {
		if len(r.g.Journal()) != 0 {
			t.Error("the effect came before the attempt")
		}
	}
	wantKind(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, r.rec), KindReported)
	r.rec.fail = os.ErrInvalid
	wantRefused(t, s.Do(t.Context(), grammar.Say{Text: "znova"}, r.rec), Disarmed)
	wantRefused(t, s.Do(t.Context(), grammar.Say{Text: "znova"}, r.rec), Disarmed)
	if len(r.effects()) != 1 {
		t.Fatalf("%+v", r.effects())
	}
}

// contract: S4
func TestNothingIsSentWithoutARecorder(t *testing.T) {
	r := newRig(t, lab.Options{})
	s := r.open()
	wantRefused(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, nil), Disarmed)
	wantRefused(t, s.Do(t.Context(), grammar.Idle{}, nil), NotPermitted)
	wantKind(t, s.Do(t.Context(), grammar.StateQuery{}, nil), KindReported)
	if len(r.effects()) != 0 {
		t.Fatalf("%+v", r.effects())
	}
}

func TestStartLabServesAndEnds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	l, p, err := StartLab(t.Context(), os.Args[0], dir, "--speed", "40")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if p.Binding.Process != l.Identity() || p.Workspace != dir {
		t.Fatalf("%+v", p)
	}
	if again, err := ReadProfile(filepath.Join(dir, "profile.json")); err != nil || again.Digest != p.Digest {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), p, Options{StateDir: filepath.Join(t.TempDir(), "state"), GameHome: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	out := s.Do(t.Context(), goTo(5, 64, 5), &recorder{})
	wantKind(t, out, KindReported)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if ended, err := l.Identity().Ended(); err != nil || !ended {
		t.Fatal("the lab lives on")
	}
}

// However long the workspace's path is, a lab leaves nothing outside it, also one that is killed.
func TestLabLeavesNothingBehind(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40), "ws")
	l, p, err := StartLab(t.Context(), os.Args[0], dir, "--speed", "40")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), p, Options{StateDir: filepath.Join(t.TempDir(), "state"), GameHome: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	wantKind(t, s.Do(t.Context(), goTo(5, 64, 5), &recorder{}), KindReported)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	l.Kill()
	_ = l.Close()
	if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
		t.Fatal(left, err)
	}
}
