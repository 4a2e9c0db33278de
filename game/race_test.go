package game

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"blockworld-voice/game/lab"
	"blockworld-voice/internal/procgroup"
)

// Programs that race for one client through different paths of its socket take turns or
// are refused: what they send never mixes.
// contract: O1
// contract: S1
func TestProgramsRaceForOneClient(t *testing.T) {
	dir := t.TempDir()
	ws, log, state := filepath.Join(dir, "ws"), filepath.Join(dir, "log"), filepath.Join(dir, "state")
	if err := os.MkdirAll(log, 0o700); err != nil {
		t.Fatal(err)
	}
	l, p, err := StartLab(t.Context(), os.Args[0], ws, "--speed", "200", "--lines", filepath.Join(log, "lines.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	other := filepath.Join(ws, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	second := filepath.Join(other, "moved.sock")
	if err := os.Link(p.Binding.Endpoint.String(), second); err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(filepath.Join(ws, "profile.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "profile.json"), []byte(strings.Replace(string(doc), p.Binding.Endpoint.String(), second, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	const programs = 6
	for i := range programs {
		mine := filepath.Join(log, string(rune('a'+i)))
		if err := os.Mkdir(mine, 0o700); err != nil {
			t.Fatal(err)
		}
		d := drive{Dir: []string{ws, other}[i%2], State: state, Log: mine, Seed: uint64(i), First: i * 100, Count: 8}
		config, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			c, err := procgroup.Start(t.Context(), procgroup.Spec{Path: os.Args[0], Args: []string{"ledger-driver", string(config)}, Stderr: os.Stderr})
			if err == nil {
				err = c.Wait()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	led := &ledger{t: t}
	owner := map[string]int{}
	opened := 0
	for i := range programs {
		mine := filepath.Join(log, string(rune('a'+i)))
		for _, a := range readLines[Attempt](led, mine, "attempts.jsonl") {
			owner[a.LineSHA256.String()] = i
		}
		switch s := readLines[keptSession](led, mine, "sessions.jsonl")[0]; {
		case s.Opened:
			opened++
		case s.Reason != Busy.String():
			t.Errorf("program %d was refused: %s", i, s.Reason)
		}
	}
	if opened == 0 {
		t.Fatal("nobody got the client")
	}
	last, seen := -1, map[int]bool{}
	for _, n := range readLines[lab.LineNote](led, log, "lines.jsonl") {
		i, ok := owner[n.Line]
		switch {
		case !ok:
			t.Error("a line of nobody")
		case i != last && seen[i]:
			t.Error("two programs drove at once")
		}
		last, seen[i] = i, true
	}
}
