package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"blockworld-voice/evidence"
	"blockworld-voice/internal/pcm"
	"blockworld-voice/internal/pipeline"
)

func silentWAV() []byte { return pcm.WAV(make([]float32, 16000), 16000) }

// start starts the program with a private state folder.
func start(t *testing.T, state string, env []string, args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	c := &exec.Cmd{
		Path: exe, Args: append([]string{"blockworld-voice"}, args...), Dir: t.TempDir(), Stdout: &out, Stderr: &errs,
		Env: append(append(os.Environ(), "XDG_STATE_HOME="+state, "XDG_DATA_HOME="+dataHome(t), "HORIZON_HOME="+state), env...),
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, &out, &errs
}

func private(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// only returns the one evidence folder below a state folder.
func only(t *testing.T, state string) string {
	t.Helper()
	roots, err := filepath.Glob(filepath.Join(state, "blockworld-voice", "*", "evidence"))
	if err != nil || len(roots) != 1 {
		t.Fatalf("evidence folders: %v, %v", roots, err)
	}
	return roots[0]
}

// The program is killed at every boundary. What is on the disk says what had started, is whole, and is never taken for more.
// contract: E4
func TestKillAtEveryBoundary(t *testing.T) {
	for _, s := range evidence.Stages() {
		for _, b := range pipeline.Boundaries() {
			if s != evidence.Game && (b == pipeline.Attempted || b == pipeline.Settled) || s != evidence.Playback && b == pipeline.Sealed {
				continue
			}
			t.Run(s.String()+"/"+b.String(), func(t *testing.T) { killAtBoundary(t, s, b) })
		}
	}
}

func killAtBoundary(t *testing.T, s evidence.Stage, b pipeline.Boundary) {
	state := private(t)
	args := []string{"--text", "go to 3 64 3"}
	if s <= evidence.Transcribe { // of a typed instruction these are skipped
		args = []string{"--language", "en", "--wav", spoken(t)}
	}
	c, _, errs := start(t, state, []string{killAt + "=" + s.String() + "/" + b.String()}, args...)
	err := c.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("it was not killed: %v\n%s", err, errs)
	}
	root := only(t, state)
	rep, err := evidence.Verify(root)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Damaged() {
		t.Errorf("taken for damage: %v", rep.Problems)
	}
	if b != pipeline.Sealed && rep.OK() {
		t.Error("taken for whole")
	}
	for info, err := range evidence.Sessions(root) {
		if err != nil {
			t.Fatal(err)
		}
		for u, err := range evidence.Utterances(info.Path) {
			if err != nil {
				t.Fatal(err)
			}
			check(t, u, s, b)
		}
	}
}

func check(t *testing.T, u evidence.Info, s evidence.Stage, b pipeline.Boundary) {
	t.Helper()
	if len(u.State.Stages) != int(s) {
		t.Fatalf("%d stages, want %d: %s", len(u.State.Stages), s, u.State.Describe())
	}
	for i, st := range u.State.Stages {
		last := i == len(u.State.Stages)-1
		if ended := st.Receipt != nil; ended != (!last || b == pipeline.Receipted || b == pipeline.Sealed) {
			t.Errorf("%s has ended: %v", st.Stage, ended)
		}
	}
	open := s == evidence.Game && (b == pipeline.Attempted || b == pipeline.Settled)
	if got := len(u.State.OpenAttempts) > 0; got != open {
		t.Errorf("an attempt without an outcome: %v, want %v", got, open)
	}
	if open && u.Outcome != "unknown" {
		t.Errorf("the outcome is taken for %q", u.Outcome)
	}
}

// spoken is a committed clip of an English command.
func spoken(t *testing.T) string { return filepath.Join(clips(t), "en", "goto_10_64_m5.wav") }

// Ctrl-C during a long walk: the walk is stopped, the outcome is recorded, the program says so.
// contract: X2
func TestInterruptDuringAWalk(t *testing.T) {
	state := private(t)
	c, out, errs := start(t, state, nil, "--json", "--text", "go to 400 64 400", "state")
	interruptWhen(t, c, state, "4-game/events.jsonl", `"sent"`)
	wantCancelled(t, c, state, out, errs)
}

// Ctrl-C while the recogniser works: it lets go, nothing is sent, and the clip is kept.
func TestInterruptDuringRecognition(t *testing.T) {
	state := private(t)
	c, out, errs := start(t, state, nil, "--json", "--wav", spoken(t), spoken(t))
	interruptWhen(t, c, state, "2-transcribe/started.json", "stage")
	wantCancelled(t, c, state, out, errs)
	if kept, _ := filepath.Glob(filepath.Join(only(t, state), "*", "u000001", "1-capture", "clip.wav")); len(kept) != 1 {
		t.Error("the clip was not kept")
	}
}

// interruptWhen sends SIGINT as soon as a file of the first utterance holds a text.
func interruptWhen(t *testing.T, c *exec.Cmd, state, file, text string) {
	t.Helper()
	there := func() bool {
		files, _ := filepath.Glob(filepath.Join(state, "blockworld-voice", "*", "evidence", "*", "u000001", file))
		if len(files) != 1 {
			return false
		}
		data, _ := os.ReadFile(files[0])
		return strings.Contains(string(data), text)
	}
	for end := time.Now().Add(time.Minute); !there(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			_ = c.Process.Kill()
			_ = c.Wait()
			t.Fatalf("%s never held %s", file, text)
		}
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
}

func wantCancelled(t *testing.T, c *exec.Cmd, state string, out, errs *bytes.Buffer) {
	t.Helper()
	_ = c.Wait()
	if got := c.ProcessState.ExitCode(); got != int(statusCancelled) {
		t.Errorf("exit status %d\n%s%s", got, out, errs)
	}
	var lines []pipeline.Line
	for _, l := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		var line pipeline.Line
		if err := json.Unmarshal([]byte(l), &line); err != nil {
			t.Fatalf("%v: %q", err, l)
		}
		lines = append(lines, line)
	}
	if len(lines) != 2 {
		t.Errorf("lines: %+v", lines)
	}
	for _, l := range lines { // also what had not begun
		if l.Outcome.Kind != "cancelled" || l.Decision.Kind == "refusal" && l.Decision.Reason != "disarmed" {
			t.Errorf("%+v", l)
		}
	}
	rep, err := evidence.Verify(only(t, state))
	if err != nil || !rep.OK() {
		t.Errorf("%v %v", err, rep)
	}
}
