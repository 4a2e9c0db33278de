package game

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"blockworld-voice/game/horizon"
	"blockworld-voice/game/lab"
	"blockworld-voice/grammar"
)

// labAt starts a lab process and returns a session's options beside its profile.
func labAt(t *testing.T, more ...string) (*LabProcess, Profile, Options) {
	t.Helper()
	l, p, err := StartLab(t.Context(), os.Args[0], filepath.Join(t.TempDir(), "ws"), more...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, p, Options{StateDir: filepath.Join(t.TempDir(), "state"), GameHome: t.TempDir()}
}

// Over TCP the token opens the door and the process behind the port is still the pinned one.
// contract: A2
func TestSessionOverTCP(t *testing.T) {
	_, p, opt := labAt(t, "--speed", "40", "--tcp", "0")
	s, err := Open(t.Context(), p, opt)
	if err != nil {
		t.Fatal(err)
	}
	rec := &recorder{}
	wantKind(t, s.Do(t.Context(), goTo(5, 64, 5), rec), KindReported)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, _, err := NewProfile(t.Context(), NewProfileOptions{Endpoint: p.Binding.Endpoint.String(), TokenFile: p.Binding.TokenFile, Workspace: p.Workspace})
	if err != nil || again.Binding.Process != p.Binding.Process {
		t.Fatal(again, err)
	}
	other := p
	other.Binding.Process.PID = os.Getpid()
	if _, err := Open(t.Context(), other, opt); !errors.Is(err, horizon.ErrWrongPeer) {
		t.Fatal(err)
	}
	if err := os.Chmod(p.Binding.TokenFile, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), p, opt); err == nil {
		t.Fatal("a token that others can read was used")
	}
}

// A wrong token is answered with "denied", and that is the reason, whenever the answer comes.
// contract: A7
func TestWrongTokenIsDenied(t *testing.T) {
	_, p, opt := labAt(t, "--speed", "40", "--tcp", "0")
	if err := os.WriteFile(p.Binding.TokenFile, []byte(strings.Repeat("ab", 16)), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 30 {
		var refused *OpenError
		if _, err := Open(t.Context(), p, opt); !errors.As(err, &refused) || refused.Reason != Denied || !strings.Contains(refused.Detail, "token") || !strings.Contains(refused.Hint, "token file") {
			t.Fatalf("%v", err)
		}
	}
	_, _, err := NewProfile(t.Context(), NewProfileOptions{Endpoint: p.Binding.Endpoint.String(), TokenFile: p.Binding.TokenFile, Workspace: p.Workspace})
	if r, ok := ReasonOf(err); !ok || r != Denied {
		t.Fatal(err)
	}
	checks, _ := CheckProfile(t.Context(), p, opt)
	if last := checks[len(checks)-1]; last.Name != "binding" || !last.Denied {
		t.Fatalf("%+v", checks)
	}
}

// Two clients of one server: each profile drives its own and no other.
// contract: A3
// contract: O1
func TestTwoRemoteClients(t *testing.T) {
	_, first, opt := labAt(t, "--speed", "40", "--serve", "0")
	server := first.Binding.Server
	if first.Binding.Mode != Remote || server == "" || first.Binding.World != "" {
		t.Fatalf("%+v", first.Binding)
	}
	_, second, _ := labAt(t, "--speed", "40", "--join", server, "--name", "person")
	a, err := Open(t.Context(), first, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := Open(t.Context(), second, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	wantKind(t, a.Do(t.Context(), goTo(4, 64, 4), &recorder{}), KindReported)
	st, ok := b.Do(t.Context(), grammar.StateQuery{}, &recorder{}).(Reported)
	if !ok || st.Observed.State.Pos != [3]float64{0.5, 64, 0.5} || st.Observed.State.Name != "person" {
		t.Fatalf("%+v", st)
	}
	crossed := first
	crossed.Binding.Endpoint, crossed.Binding.Process = second.Binding.Endpoint, second.Binding.Process
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	var o *OpenError
	if _, err := Open(t.Context(), crossed, opt); !errors.As(err, &o) || o.Reason != NotBound {
		t.Fatal(err)
	}
}

// A client whose process stands still answers nothing: the stop says so in time.
// contract: X4
// contract: X2
func TestStopOfAFrozenProcess(t *testing.T) {
	l, p, opt := labAt(t)
	p.Binding.Timeout = brief
	s, err := Open(t.Context(), p, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := syscall.Kill(l.Identity().PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for !frozen(t, l.Identity().PID) {
		time.Sleep(time.Millisecond)
	}
	wantRefused(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, &recorder{}), NotBound)
	wantKind(t, s.Stop(t.Context()), KindUnknown)
	wantRefused(t, s.Do(t.Context(), grammar.StateQuery{}, &recorder{}), Disarmed)
	if err := syscall.Kill(l.Identity().PID, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}

// A placement is one action like any other; what stands in the cell is a question of its own.
func TestPlaceOrder(t *testing.T) {
	r := newRig(t, lab.Options{Planks: 3})
	s := r.open()
	wantKind(t, s.Act(t.Context(), PlaceOrder(2, 64, 0), r.rec), KindReported)
	c, err := s.Cell(t.Context(), "minecraft:overworld", [3]int32{2, 64, 0})
	if err != nil || !c.Known || c.Block != "minecraft:oak_planks" {
		t.Fatal(c, err)
	}
	b, err := s.Inventory(t.Context())
	if err != nil || b.Slots[0].Count != 2 {
		t.Fatal(b, err)
	}
	// The cell is taken: the game gives up after its five seconds, and nothing was placed.
	wantKind(t, s.Act(t.Context(), PlaceOrder(2, 64, 0), r.rec), KindCancelled)
	r.g.Arm(lab.Fault{Kind: lab.NoBlock})
	wantKind(t, s.Act(t.Context(), PlaceOrder(0, 64, 2), r.rec), KindReported)
	if c, err = s.Cell(t.Context(), "minecraft:overworld", [3]int32{0, 64, 2}); err != nil || c.Block != "minecraft:air" {
		t.Fatal(c, err)
	}
	if a := r.rec.attempts[0]; a.Line != "place 2 64 0" || a.Score != ScoreBuild || len(r.effects()) != 1 {
		t.Fatalf("%+v", a)
	}
	r.profile.Policy.Actions = []Action{ActGoTo}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, r.open().Act(t.Context(), PlaceOrder(0, 64, 3), r.rec), NotPermitted)
}

// frozen says whether every thread of a process stands still.
func frozen(t *testing.T, pid int) bool {
	t.Helper()
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(stats) == 0 {
		t.Fatal(stats, err)
	}
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			return false // it is just ending
		}
		if !strings.Contains(string(b), ") T ") {
			return false
		}
	}
	return true
}
