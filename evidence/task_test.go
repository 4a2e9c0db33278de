package evidence

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeTask writes an ordinary task of n runs that each sent something.
func writeTask(t *testing.T, s *Session, runs int, seal bool) *Task {
	t.Helper()
	k := must(s.BeginTask())
	must(k.PutJSON(TaskFile, map[string]any{"schema": 1, "kind": "follow", "utterance": "u000001"}))
	log := must(k.OpenLog(TicksFile))
	for n := range runs {
		name := string(rune('1'+n)) + ".json"
		must(k.PutJSON("attempt-00"+name, map[string]any{"schema": 1, "run": n}))
		must(k.PutJSON("outcome-00"+name, map[string]any{"schema": 1, "kind": "reported"}))
		noError(t, log.Append(map[string]any{"schema": 1, "tick": n + 1}))
	}
	must(k.PutJSON(ResultFile, map[string]any{"schema": 1, "why": "done", "runs": runs, "outcome": map[string]any{"kind": "reported", "detail": "x"}}))
	if seal {
		must(k.Seal())
	}
	return k
}

// Tasks lie beside utterances, begin and end between their boundaries, and both chains verify.
//
// contract: E3
func TestTasksAreKeptBesideUtterances(t *testing.T) {
	store := newStore(t)
	dir := ""
	func() {
		s := newSession(t, store)
		dir = s.Dir()
		u := must(s.Begin())
		k := must(s.BeginTask()) // while the utterance is under way
		if _, err := s.BeginTask(); err == nil {
			t.Fatal("two tasks at once")
		}
		for _, st := range Stages() {
			must(writeStage(u, st, 1, nil))
		}
		must(u.Seal())
		must(k.PutJSON(TaskFile, map[string]any{"schema": 1, "kind": "idle"}))
		if _, err := k.PutJSON(TaskFile, map[string]any{"schema": 1}); err == nil {
			t.Fatal("a file was written twice")
		}
		if _, err := k.PutJSON("x.json", map[string]any{}); err == nil {
			t.Fatal("a document without a schema")
		}
		must(k.Seal())
		if _, err := k.PutJSON("y.json", map[string]any{"schema": 1}); err == nil {
			t.Fatal("written into a sealed task")
		}
		writeTask(t, s, 2, true)
		noError(t, s.Close())
	}()
	clean(t, store.Root())
	if rep := must(Verify(dir)); rep.Tasks != 2 || rep.Utterances != 1 {
		t.Fatalf("%+v", rep)
	}
	var lines []string
	for i, err := range Tasks(dir) {
		noError(t, err)
		lines = append(lines, i.String())
	}
	if len(lines) != 2 || lines[1] != "t000002  follow (begun by u000001)  → reported (done), 2 runs" {
		t.Fatalf("%q", lines)
	}
	v := must(ShowTask(filepath.Join(dir, "t000002")))
	var b bytes.Buffer
	must(v.WriteTo(&b))
	if len(v.Problems) != 0 || !strings.Contains(b.String(), `"tick":2`) || !strings.Contains(b.String(), "verified") {
		t.Fatal(b.String())
	}
}

// One changed byte in any file of a task is found, from the store, the session, and mostly the task itself.
func TestEveryChangedByteOfATaskIsFound(t *testing.T) {
	store := newStore(t)
	s := newSession(t, store)
	writeTask(t, s, 1, true)
	writeTask(t, s, 1, true)
	noError(t, s.Close())
	for _, name := range filesBelow(t, s.Dir()) {
		if !strings.HasPrefix(name, "t") {
			continue
		}
		path := filepath.Join(s.Dir(), name)
		size := len(must(os.ReadFile(path)))
		for _, pos := range []int{0, size / 3, size / 2, size - 1} {
			edit(t, path, func(b []byte) []byte { b[pos] ^= 1; return b }, func() {
				damaged(t, s.Dir(), name)
				damaged(t, store.Root(), name)
				damaged(t, filepath.Join(s.Dir(), filepath.Dir(name)), name)
			})
		}
	}
	// A lost file, a strange one, a lost task.
	gone := filepath.Join(s.Dir(), "t000001", "attempt-001.json")
	b := must(os.ReadFile(gone))
	noError(t, os.Remove(gone))
	damaged(t, s.Dir(), "lost file")
	noError(t, os.WriteFile(gone, b, 0o600))
	extra := filepath.Join(s.Dir(), "t000002", "extra.json")
	noError(t, os.WriteFile(extra, []byte(`{"schema":1}`), 0o600))
	damaged(t, s.Dir(), "added file")
	noError(t, os.Remove(extra))
	away := filepath.Join(t.TempDir(), "t")
	for _, name := range []string{"t000001", "t000002"} {
		noError(t, os.Rename(filepath.Join(s.Dir(), name), away))
		damaged(t, s.Dir(), "lost task "+name)
		noError(t, os.Rename(away, filepath.Join(s.Dir(), name)))
	}
	clean(t, store.Root())
}

// A task that a crash cut is told as such, and never taken for whole.
func TestAnInterruptedTaskIsSaid(t *testing.T) {
	store := newStore(t)
	s := newSession(t, store)
	writeTask(t, s, 1, true)
	k := must(s.BeginTask())
	must(k.PutJSON(TaskFile, map[string]any{"schema": 1, "kind": "build"}))
	must(k.PutJSON("attempt-001.json", map[string]any{"schema": 1}))
	rep := must(Verify(s.Dir()))
	if rep.Damaged() || rep.Count(Unfinished) != 1 || rep.Running != 1 {
		t.Fatalf("%+v", rep.Problems)
	}
	noError(t, s.lock.Close()) // the process ended
	rep = must(Verify(s.Dir()))
	if rep.Damaged() || rep.Count(Unfinished) != 1 || !strings.Contains(rep.Problems[0].Detail, "its effect is unknown") {
		t.Fatalf("%+v", rep.Problems)
	}
	for i, err := range Tasks(s.Dir()) {
		noError(t, err)
		if i.ID == 2 && (i.Outcome != "unknown" || i.Sealed || i.String() != "t000002  build  → unknown  [did not end]") {
			t.Fatalf("%+v %s", i, i)
		}
	}
}

func TestTaskIDs(t *testing.T) {
	for _, s := range []string{"", "t", "u000001", "t000000", "t00001", "t0000001", "T000001", "t00000x"} {
		if id, err := ParseTaskID(s); err == nil {
			t.Errorf("%q is %v", s, id)
		}
	}
	if id, err := ParseTaskID("t000042"); err != nil || id != 42 || id.String() != "t000042" {
		t.Fatal(id, err)
	}
}
