package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"blockworld-voice/game"
)

// Nobody reads standard output any more: what runs is settled, the client is given back clean, and the status says that
// we failed. The next session needs no reconcile.
// contract: O2
func TestClosedOutputClosesTheSession(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	state := private(t)
	lab, profile, err := game.StartLab(t.Context(), exe, filepath.Join(t.TempDir(), "ws"), "--speed", "40")
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	run := func(out *os.File, texts ...string) (int, string) {
		t.Helper()
		var errs bytes.Buffer
		c := exec.Command(exe, append([]string{"--profile", filepath.Join(profile.Workspace, "profile.json"), "--json", "--text"}, texts...)...)
		c.Args[0] = "blockworld-voice"
		c.Dir, c.Stdout, c.Stderr = t.TempDir(), out, &errs
		c.Env = append(os.Environ(), "XDG_STATE_HOME="+state, "HORIZON_HOME="+state)
		_ = c.Run()
		return c.ProcessState.ExitCode(), errs.String()
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	got, errs := run(writer, "go to 3 64 3", "state")
	if got != int(statusFailed) || strings.Count(errs, "\n") != 2 || !strings.Contains(errs, "standard output") {
		t.Errorf("status %d: %s", got, errs)
	}
	none, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	if got, errs := run(none, "state"); got != 0 {
		t.Errorf("the next session: status %d: %s", got, errs)
	}
}
