package procgroup

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func sh(t *testing.T, script string, grace time.Duration, out *bytes.Buffer) *Proc {
	t.Helper()
	s := Spec{Path: "/bin/sh", Args: []string{"-c", script}, Grace: grace}
	if out != nil {
		s.Stdout = out
	}
	p, err := Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop() })
	return p
}

func TestIdentityOfSelfIsStable(t *testing.T) {
	a, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	b, err := Identity(os.Getpid())
	if err != nil || a != b || a.StartTicks == 0 {
		t.Fatalf("%v %v %v", a, b, err)
	}
	if ended, err := a.Ended(); err != nil || ended {
		t.Fatalf("ended %v, %v", ended, err)
	}
	if ended, err := (ID{PID: a.PID, StartTicks: a.StartTicks + 1}).Ended(); err != nil || !ended {
		t.Fatalf("another generation of the same id: ended %v, %v", ended, err)
	}
}

func TestIdentityOfZombieAndNobody(t *testing.T) {
	c := exec.Command("/bin/true")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	for {
		st, err := readStat(c.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		if st.ended() {
			break
		}
		time.Sleep(time.Millisecond)
	}
	for _, pid := range []int{c.Process.Pid, 0, -1, 1 << 30} {
		if _, err := Identity(pid); !errors.Is(err, ErrNoProcess) {
			t.Errorf("process %d: %v", pid, err)
		}
	}
}

func TestParseStatTakesTheLastBracket(t *testing.T) {
	st, err := parseStat("12 (a) R (b) S 1 77 " + strings.Repeat("0 ", 16) + "424242 0 0")
	if err != nil || st.state != 'S' || st.group != 77 || st.startTicks != 424242 {
		t.Fatalf("%+v %v", st, err)
	}
	for _, bad := range []string{"", "12 x S 1", "1 (x) S", "1 (x) S 1 g " + strings.Repeat("0 ", 17)} {
		if _, err := parseStat(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestWaitReturnsOutputAndExit(t *testing.T) {
	var out bytes.Buffer
	p := sh(t, "echo hello; exit 3", 0, &out)
	var exit *exec.ExitError
	if err := p.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 3 || out.String() != "hello\n" {
		t.Fatalf("%v %q", err, out.String())
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
}

func TestStopTakesGrandchildrenThatIgnoreTerm(t *testing.T) {
	var out bytes.Buffer
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := Start(t.Context(), Spec{Path: "/bin/sh", Args: []string{"-c", "trap '' TERM; (trap '' TERM; sleep 600) & echo $!; wait; sleep 600"}, Stdout: w, Grace: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	b := make([]byte, 32)
	n, err := r.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(b[:n])
	pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	id, err := Identity(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	if ended, err := id.Ended(); err != nil || !ended {
		t.Fatalf("grandchild ended %v, %v", ended, err)
	}
}

func TestLeaderThatLeavesAChildBehind(t *testing.T) {
	var out bytes.Buffer
	p := sh(t, "sleep 600 & echo $!", 0, &out)
	if err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(out.String()))
	if _, err := Identity(pid); !errors.Is(err, ErrNoProcess) {
		t.Fatalf("child %d outlived its group: %v", pid, err)
	}
}

func TestCancelledContextStopsTheGroup(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Start(ctx, Spec{Path: "/bin/sleep", Args: []string{"600"}})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-p.Done()
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(ctx, Spec{Path: "/bin/sleep", Args: []string{"600"}}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), Spec{Path: "/nonexistent/program"}); err == nil {
		t.Fatal("a missing program was started")
	}
}
