package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// screenTest is the program on a terminal.
type screenTest struct {
	t     *testing.T
	state string
	cmd   *exec.Cmd
	pty   *os.File
	mu    sync.Mutex
	emu   *vt.Emulator
	all   strings.Builder // everything that was written
	ended chan error
	done  bool
}

// onScreen starts the program on a terminal of 80 × 24.
func onScreen(t *testing.T, env []string, args ...string) *screenTest {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &screenTest{t: t, state: private(t), emu: vt.NewEmulator(80, 24), ended: make(chan error, 1)}
	s.cmd = &exec.Cmd{Path: exe, Args: append([]string{"blockworld-voice"}, args...), Dir: t.TempDir(),
		Env: append(append(os.Environ(), "XDG_STATE_HOME="+s.state, "XDG_DATA_HOME="+dataHome(t), "HORIZON_HOME="+s.state, "TERM=xterm-256color", "NO_COLOR=1"), env...)}
	if s.pty, err = pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() { // what the terminal answers
		buf := make([]byte, 256)
		for {
			n, err := s.emu.Read(buf)
			if err != nil {
				return
			}
			_, _ = s.pty.Write(buf[:n])
		}
	})
	all.Go(func() {
		buf := make([]byte, 4096)
		for {
			n, err := s.pty.Read(buf)
			if n > 0 {
				s.mu.Lock()
				_, _ = s.emu.Write(buf[:n])
				s.all.Write(buf[:n])
				s.mu.Unlock()
			}
			if err != nil {
				break
			}
		}
		if in, ok := s.emu.InputPipe().(io.Closer); ok { // Close itself races with Read
			_ = in.Close()
		}
		s.ended <- s.cmd.Wait()
	})
	t.Cleanup(func() {
		if !s.done {
			_ = s.cmd.Process.Kill()
			<-s.ended
		}
		_ = s.pty.Close()
		all.Wait()
	})
	return s
}

func (s *screenTest) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.emu.String()
}

// see waits until the screen shows a text.
func (s *screenTest) see(within time.Duration, text string) string {
	s.t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(10 * time.Millisecond) {
		got := s.text()
		if strings.Contains(got, text) {
			return got
		}
		if time.Now().After(end) {
			s.t.Fatalf("%q doesn't show within %v:\n%s", text, within, got)
		}
		select {
		case err := <-s.ended:
			s.ended <- err
			s.t.Fatalf("the program ended (%v) before it showed %q:\n%s", err, text, s.written())
		default:
		}
	}
}

func (s *screenTest) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

func (s *screenTest) keys(k string) {
	s.t.Helper()
	if _, err := io.WriteString(s.pty, k); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits for the program's end and returns its exit status.
func (s *screenTest) ends(within time.Duration) int {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), within)
	defer cancel()
	select {
	case err := <-s.ended:
		s.done = true
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			s.t.Fatal(err)
		}
		return s.cmd.ProcessState.ExitCode()
	case <-ctx.Done():
		s.t.Fatalf("it didn't end within %v:\n%s", within, s.text())
	}
	return -1
}

// helpers counts the program's own processes that live, by name.
func (s *screenTest) helpers() map[string]int {
	s.t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		s.t.Fatal(err)
	}
	n := map[string]int{}
	for _, f := range files {
		env, err := os.ReadFile(f)
		if err != nil || !strings.Contains(string(env), "XDG_STATE_HOME="+s.state+"\x00") {
			continue
		}
		args, err := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
		if err != nil || len(args) == 0 {
			continue // a zombie
		}
		parts := strings.Split(string(args), "\x00")
		name := "program"
		if len(parts) > 1 && parts[1] != "" && !strings.HasPrefix(parts[1], "-") {
			name = parts[1]
		}
		n[name]++
	}
	return n
}

func (s *screenTest) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// told is what a program has printed so far.
type told struct {
	mu  sync.Mutex
	buf strings.Builder
}

func (t *told) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.Write(b)
}

func (t *told) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}

// waitFor waits until a text was printed; "text@2" is its second time.
func waitFor(t *testing.T, out *told, text string) {
	t.Helper()
	n := 1
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		n, text = int(text[at+1]-'0'), text[:at]
	}
	for end := time.Now().Add(30 * time.Second); strings.Count(out.String(), text) < n; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%q was not printed %d times:\n%s", text, n, out)
		}
	}
}

// startWithInput starts the program with an input that stays open.
func startWithInput(t *testing.T, state string, env []string, args ...string) (*exec.Cmd, *told, *told, io.WriteCloser) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, errs := &told{}, &told{}
	c := &exec.Cmd{
		Path: exe, Args: append([]string{"blockworld-voice"}, args...), Dir: t.TempDir(), Stdout: out, Stderr: errs,
		Env: append(append(os.Environ(), "XDG_STATE_HOME="+state, "XDG_DATA_HOME="+dataHome(t), "HORIZON_HOME="+state), env...),
	}
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	return c, out, errs, in
}
