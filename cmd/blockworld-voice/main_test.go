package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"blockworld-voice/evidence"
	"blockworld-voice/internal/pipeline"
)

// killAt names a boundary, as "game/attempted", at which the program under test ends itself. Only this test binary
// knows the variable.
const killAt = "TEST_KILL_AT"

func TestMain(m *testing.M) {
	program := func() {
		pretend()
		if where := os.Getenv(killAt); where != "" {
			at = func(s evidence.Stage, b pipeline.Boundary) {
				if s.String()+"/"+b.String() == where {
					_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
					select {}
				}
			}
		}
		main()
	}
	if len(os.Args) > 1 && (os.Args[1] == "lab" || os.Args[1] == recorderProcess || os.Args[1] == playerProcess || os.Args[1] == "--session") { // the program re-executes itself: here that is the test binary
		program()
	}
	testscript.Main(m, map[string]func(){"blockworld-voice": program})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
			e.Setenv("XDG_DATA_HOME", dataHome(t))
			e.Setenv("HORIZON_HOME", filepath.Join(e.WorkDir, "horizon"))
			e.Setenv("CLIPS", clips(t))
			return os.Mkdir(filepath.Join(e.WorkDir, "state"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"flip":    flip,
			"heard":   heard,
			"silence": silence,
		},
	})
}

// dataHome is where the speech models are, since a script has another home.
func dataHome(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(home, ".local", "share")
}

func clips(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "testdata", "clips"))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// exits runs a program and wants an exact exit status: exits STATUS PROGRAM ARGS...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// flip changes one bit of the file that a glob names: flip GLOB
func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: flip GLOB")
	}
	files, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(files) == 0 {
		ts.Fatalf("no file matches %s", args[0])
	}
	data, err := os.ReadFile(files[0])
	ts.Check(err)
	data[len(data)/2] ^= 1
	ts.Check(os.WriteFile(files[0], data, 0o600))
}

// silence writes a WAV file of one second without a sound: silence FILE
func silence(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: silence FILE")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), silentWAV(), 0o600))
}
