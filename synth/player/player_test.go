package player

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"blockworld-voice/internal/pcm"
	"blockworld-voice/internal/procgroup"
	"blockworld-voice/synth"
)

// The test's own program is the player's process.
func TestMain(m *testing.M) {
	switch mode := os.Getenv("PLAYER_TEST"); mode {
	case "":
		goleak.VerifyTestMain(m)
		return
	case "mute":
		time.Sleep(time.Minute)
	case "dies":
		os.Exit(3)
	default:
		sink := Clocked
		switch mode {
		case "busy":
			sink = func(int, io.Reader) error { return errors.New("device or resource busy") }
		case "stubborn":
			signal.Ignore(syscall.SIGTERM)
			if err := exec.Command("/bin/sh", "-c", "trap '' TERM; sleep 60 & sleep 60").Start(); err != nil {
				os.Exit(4)
			}
			sink = func(int, io.Reader) error { time.Sleep(time.Minute); return nil }
		}
		if Serve(os.Stdin, os.Stdout, sink) != nil {
			os.Exit(1)
		}
	}
	os.Exit(0)
}

func newPlayer(t *testing.T, mode string) *Player {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &Player{Extra: 2 * time.Second, Start: procgroup.Piped(procgroup.Spec{
		Path: exe, Env: append(os.Environ(), "PLAYER_TEST="+mode), Grace: 100 * time.Millisecond,
	})}
	t.Cleanup(func() {
		if err := p.Close(); err != nil && p.Fenced() == nil {
			t.Error(err)
		}
	})
	return p
}

func reply(t *testing.T, seconds float64) *synth.Audio {
	t.Helper()
	x := make([]float32, int(seconds*22050))
	for i := range x {
		x[i] = float32(0.3 * math.Sin(float64(i)/8))
	}
	a, err := synth.ReadAudio(pcm.WAV(x, 22050))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func problem(err error) Problem {
	var e *Error
	if errors.As(err, &e) {
		return e.Problem
	}
	return 0
}

// contract: V8
func TestTwoRepliesBackToBack(t *testing.T) {
	p := newPlayer(t, "ok")
	var end time.Time
	for range 2 {
		f, err := p.Play(t.Context(), reply(t, 0.2))
		if err != nil || !f.Exited || f.Started.IsZero() || f.Started.Before(end) || f.Ended.Sub(f.Started) < 200*time.Millisecond {
			t.Fatalf("%+v, %v", f, err)
		}
		end = f.Ended
	}
}

// contract: V9
func TestPlayerFails(t *testing.T) {
	for mode, says := range map[string]string{"busy": "busy", "dies": "broke off"} {
		p := newPlayer(t, mode)
		f, err := p.Play(t.Context(), reply(t, 0.1))
		if problem(err) != Failed || !strings.Contains(err.Error(), says) || f.Exited || p.Fenced() != nil {
			t.Errorf("%s: %+v, %v", mode, f, err)
		}
	}
	p := &Player{Start: procgroup.Piped(procgroup.Spec{Path: "/nowhere"})}
	if _, err := p.Play(t.Context(), reply(t, 0.1)); problem(err) != Failed {
		t.Errorf("a program that is not there: %v", err)
	}
}

// living counts the processes of a group that are no zombies.
func living(t *testing.T, group int) int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		rest := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		if rest[0] != "Z" && rest[2] == strconv.Itoa(group) {
			n++
		}
	}
	return n
}

// contract: V8
func TestStopJoinsTheGroup(t *testing.T) {
	for _, mode := range []string{"ok", "mute", "stubborn"} {
		p := newPlayer(t, mode)
		ctx, cancel := context.WithCancel(t.Context())
		var group procgroup.ID
		start := p.Start
		p.Start = func() (procgroup.Child, io.WriteCloser, io.ReadCloser, error) {
			c, in, out, err := start()
			group = c.(*procgroup.Proc).ID()
			time.AfterFunc(300*time.Millisecond, cancel)
			return c, in, out, err
		}
		f, err := p.Play(ctx, reply(t, 20))
		if problem(err) != Stopped || f.Exited {
			t.Fatalf("%s: %+v, %v", mode, f, err)
		}
		if n := living(t, group.PID); n != 0 {
			t.Errorf("%s: %d processes of the group live", mode, n)
		}
		if p.Fenced() != nil {
			t.Errorf("%s: %v", mode, p.Fenced())
		}
	}
	if _, err := newPlayer(t, "mute").Play(t.Context(), reply(t, 0.1)); problem(err) != TimedOut {
		t.Errorf("a process that says nothing: %v", err)
	}
}

// gated is a start that waits.
type gated struct {
	wait  chan struct{}
	stuck error

	mu      sync.Mutex
	wrote   int
	stopped bool
}

func (g *gated) start() (procgroup.Child, io.WriteCloser, io.ReadCloser, error) {
	<-g.wait
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	go func() {
		n, _ := io.Copy(io.Discard, inR)
		g.mu.Lock()
		g.wrote += int(n)
		g.mu.Unlock()
	}()
	return &gatedChild{g, outW}, inW, outR, nil
}

type gatedChild struct {
	g   *gated
	out *io.PipeWriter
}

func (c *gatedChild) Done() <-chan struct{} { return nil }

func (c *gatedChild) Stop() error {
	c.g.mu.Lock()
	defer c.g.mu.Unlock()
	c.g.stopped = true
	_ = c.out.Close()
	return c.g.stuck
}

// contract: V8
func TestLateLaunchIsAdoptedAndRetired(t *testing.T) {
	g := &gated{wait: make(chan struct{})}
	p := &Player{Start: g.start}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel) // stop while the player starts
	time.AfterFunc(100*time.Millisecond, func() { close(g.wait) })
	if _, err := p.Play(ctx, reply(t, 1)); problem(err) != Stopped {
		t.Fatal(err)
	}
	if g.mu.Lock(); !g.stopped || g.wrote != 0 {
		t.Errorf("retired %v, %d bytes of audio", g.stopped, g.wrote)
	}
	g.mu.Unlock()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// contract: V8
func TestUnprovedRetirementFences(t *testing.T) {
	for _, late := range []time.Duration{0, 100 * time.Millisecond, 400 * time.Millisecond} {
		g := &gated{wait: make(chan struct{}), stuck: errors.New("a process may live")}
		p := &Player{Start: g.start, Launch: 150 * time.Millisecond}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		if late == 0 {
			close(g.wait)
		} else {
			time.AfterFunc(late, func() { close(g.wait) })
		}
		if _, err := p.Play(ctx, reply(t, 1)); problem(err) != Unretired || !errors.Is(err, ErrFenced) {
			t.Errorf("late by %v: %v", late, err)
		}
		if _, err := p.Play(t.Context(), reply(t, 1)); problem(err) != Unretired {
			t.Errorf("late by %v: a reply after that: %v", late, err)
		}
		if err := p.Close(); !errors.Is(err, ErrFenced) {
			t.Error(err)
		}
		if g.mu.Lock(); !g.stopped {
			t.Error("it was never told to end")
		}
		g.mu.Unlock()
	}
}

func TestServeRefuses(t *testing.T) {
	var out strings.Builder
	if err := Serve(strings.NewReader(""), &out, nil); err != nil {
		t.Errorf("no reply at all: %v", err)
	}
	for name, in := range map[string]string{"no WAV": "p\x04\x00\x00\x00abcd", "another frame": "x\x00\x00\x00\x00", "a cut frame": "p\x04\x00\x00\x00ab"} {
		played := false
		err := Serve(strings.NewReader(in), &out, func(int, io.Reader) error { played = true; return nil })
		if err == nil || played {
			t.Errorf("%s: %v, played %v", name, err, played)
		}
	}
}

func TestOutputs(t *testing.T) {
	for _, o := range []Output{ALSA, Pulse} {
		got, err := ParseOutput(o.String())
		if err != nil || got != o {
			t.Errorf("%v: %v, %v", o, got, err)
		}
	}
	if _, err := ParseOutput("jack"); err == nil {
		t.Error("jack")
	}
	t.Setenv("ALSA_CONFIG_PATH", "/nowhere/alsa.conf")
	if _, _, err := Program("/bin/true", nil, ALSA, nil); err == nil {
		t.Error("without a configuration the library would try every device")
	}
}
