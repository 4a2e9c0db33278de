package evidence

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/strictjson"
)

// contract: E1
func TestAnUtteranceHasTheDocumentedFiles(t *testing.T) {
	s := newStore(t)
	s.disk = osDisk{}
	e := newSession(t, s)
	u, d, err := writeUtterance(e, 1)
	noError(t, err)
	want := strings.Fields(`1-capture/clip.wav 1-capture/receipt.json 1-capture/speech.wav 2-transcribe/receipt.json
		2-transcribe/transcript.json 3-grammar/decision.json 3-grammar/receipt.json 4-game/attempt.json
		4-game/events.jsonl 4-game/outcome.json 4-game/receipt.json 5-synth/receipt.json 5-synth/reply.json
		5-synth/reply.wav 6-playback/playback.json 6-playback/receipt.json manifest.json`)
	if got := filesBelow(t, u.Dir()); !slices.Equal(got, want) {
		t.Errorf("files %v", got)
	}
	data := must(os.ReadFile(filepath.Join(u.Dir(), manifestName)))
	if digest.Of(data) != d || e.Head() != d {
		t.Error("Seal and Head don't give the manifest's digest")
	}
	if !strings.Contains(string(data), `"previous": ""`) {
		t.Errorf("the first manifest follows something:\n%s", data)
	}
	_, _, err = writeUtterance(e, 2)
	noError(t, err)
	data = must(os.ReadFile(filepath.Join(e.Dir(), "u000002", manifestName)))
	if !strings.Contains(string(data), `"previous": "`+d.String()+`"`) {
		t.Errorf("the second manifest doesn't follow the first:\n%s", data)
	}
	noError(t, e.Close())
	noError(t, e.Close())
	rep := clean(t, s.Root())
	if rep.Scope != ScopeStore || rep.Sessions != 1 || rep.Utterances != 2 || rep.Sealed != 2 || rep.Files != 2+2*17 {
		t.Errorf("report %+v", rep)
	}
	if got := clean(t, e.Dir()); got.Head != e.Head() || got.Scope != ScopeSession {
		t.Errorf("report %+v", got)
	}
	if got := clean(t, u.Dir()); got.Scope != ScopeUtterance {
		t.Errorf("report %+v", got)
	}
}

// contract: E4
func TestEverythingIsPrivate(t *testing.T) {
	s := newStore(t)
	s.disk = osDisk{}
	dir := writeSession(t, s, 1)
	noError(t, filepath.Walk(filepath.Dir(dir), func(p string, fi os.FileInfo, err error) error {
		want := os.FileMode(0o600)
		if fi.IsDir() {
			want = 0o700
		}
		if fi.Mode().Perm() != want {
			t.Errorf("%s has mode %v", p, fi.Mode())
		}
		return err
	}))
}

// contract: E2
func TestReceiptDocument(t *testing.T) {
	u, _, err := writeUtterance(newSession(t, newStore(t)), 1)
	noError(t, err)
	var r Receipt
	noError(t, loadDoc(u.Dir(), "2-transcribe/receipt.json", &r))
	if r.Schema != 1 || r.Stage != Transcribe || r.Verdict != Done || r.StartNS > r.EndNS || r.WallStart.Location() != time.UTC {
		t.Errorf("receipt %+v", r)
	}
	if len(r.Inputs) != 1 || r.Inputs[0] != (Ref{"1-capture/speech.wav", digest.Of([]byte("RIFF speech 1"))}) {
		t.Errorf("inputs %v", r.Inputs)
	}
	if len(r.Outputs) != 1 || r.Outputs[0].Name != "2-transcribe/transcript.json" {
		t.Errorf("outputs %v", r.Outputs)
	}
}

// A receipt that would make the record untrue is refused and nothing of it is written.
// contract: E2
func TestInvariantsAreChecked(t *testing.T) {
	now := time.Now()
	at := func(s Stage, start, end int64) Receipt {
		return Receipt{Stage: s, Verdict: Done, StartNS: start, EndNS: end, WallStart: now}
	}
	with := func(r Receipt, change func(*Receipt)) Receipt { change(&r); return r }
	foreign := []Ref{{"1-capture/clip.wav", digest.Of([]byte("other"))}}
	for name, r := range map[string]Receipt{
		"backwards":       at(Transcribe, 200, 150),
		"overlap":         at(Transcribe, 99, 300),
		"negative":        at(Transcribe, -1, 300),
		"cpu":             with(at(Transcribe, 200, 300), func(r *Receipt) { r.CPUNS = -1 }),
		"wrong stage":     at(Grammar, 200, 300),
		"no verdict":      with(at(Transcribe, 200, 300), func(r *Receipt) { r.Verdict = 0 }),
		"skip, no reason": with(at(Transcribe, 200, 300), func(r *Receipt) { r.Verdict = Skipped }),
		"settlement":      with(at(Transcribe, 200, 300), func(r *Receipt) { r.SettlementNS = 1 }),
		"no wall clock":   with(at(Transcribe, 200, 300), func(r *Receipt) { r.WallStart = time.Time{} }),
		"unknown input":   with(at(Transcribe, 200, 300), func(r *Receipt) { r.Inputs = foreign }),
		"outputs not put": with(at(Transcribe, 200, 300), func(r *Receipt) { r.Outputs = foreign }),
		"output left out": with(at(Transcribe, 200, 300), func(r *Receipt) { r.Outputs = []Ref{} }),
		"no such stage":   at(Stage(9), 200, 300),
	} {
		t.Run(name, func(t *testing.T) {
			u := must(newSession(t, newStore(t)).Begin())
			must(u.BeginStage(Capture))
			must(u.Put(Capture, ClipFile, []byte("clip")))
			noError(t, u.PutReceipt(at(Capture, 50, 100)))
			must(u.BeginStage(Transcribe))
			must(u.Put(Transcribe, TranscriptFile, []byte("{}")))
			var inv *InvariantError
			if err := u.PutReceipt(r); !errors.As(err, &inv) {
				t.Fatalf("error %v", err)
			}
			if _, err := os.Lstat(filepath.Join(u.Dir(), "2-transcribe", receiptName)); err == nil {
				t.Error("the receipt was written")
			}
			noError(t, u.PutReceipt(at(Transcribe, 100, 100)))
		})
	}
}

func TestAReasonMayBeAnyText(t *testing.T) {
	for in, want := range map[string]string{
		"a\xffb": "a\uFFFDb", strings.Repeat("ž", 256): strings.Repeat("ž", 256), strings.Repeat("ž", 300): strings.Repeat("ž", 254) + "…",
	} {
		u := must(newSession(t, newStore(t)).Begin())
		noError(t, u.Skip(Capture, Failed, in))
		var r Receipt
		noError(t, loadDoc(u.Dir(), "1-capture/receipt.json", &r))
		if r.Reason != want {
			t.Errorf("%q became %q", in, r.Reason)
		}
	}
}

func TestCallsOutOfOrderAreRefused(t *testing.T) {
	e := newSession(t, newStore(t))
	u := must(e.Begin())
	refused := func(what string, err error) {
		t.Helper()
		var inv *InvariantError
		if !errors.As(err, &inv) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := e.Begin()
	refused("a second utterance beside the first", err)
	_, err = u.BeginStage(Transcribe)
	refused("transcribe first", err)
	_, err = u.BeginStage(0)
	refused("no stage", err)
	_, err = u.Put(Capture, ClipFile, nil)
	refused("put before begin", err)
	refused("receipt before begin", u.PutReceipt(Receipt{Stage: Capture}))
	_, err = u.Seal()
	refused("seal at once", err)
	must(u.BeginStage(Capture))
	_, err = u.BeginStage(Capture)
	refused("begin twice", err)
	_, err = u.BeginStage(Transcribe)
	refused("begin beside", err)
	must(u.Put(Capture, ClipFile, []byte("x")))
	_, err = u.Put(Capture, ClipFile, []byte("y"))
	refused("a name twice", err)
	_, err = u.Put(Transcribe, ClipFile, []byte("y"))
	refused("another stage's folder", err)
	_, err = u.Put(Capture, "../x", []byte("y"))
	refused("a path", err)
	_, err = u.Put(Capture, receiptName, []byte("y"))
	refused("a forged receipt", err)
	_, err = u.PutJSON(Capture, "a.json", map[string]int{"x": 1})
	refused("a document without schema", err)
	_, err = u.PutJSON(Capture, "a.json", map[string]any{"schema": 2})
	refused("a document of a schema to come", err)
	_, err = u.PutJSON(Capture, "a.json", map[string]any{"schema": 1, "x": strings.Repeat("x", strictjson.MaxSize)})
	refused("a document too long to be read", err)
	_, err = u.OpenLog(Capture, "log.json")
	refused("a log with another ending", err)
	l := must(u.OpenLog(Capture, EventsFile))
	refused("a line too long to be read", l.Append(strings.Repeat("x", strictjson.MaxSize)))
	noError(t, u.PutReceipt(Receipt{Stage: Capture, Verdict: Cancelled, Reason: "stopped", WallStart: time.Now()}))
	refused("a late event", l.Append(1))
	for _, s := range Stages()[1:] {
		noError(t, u.Skip(s, Skipped, "capture was cancelled"))
	}
	must(u.Seal())
	_, err = u.Seal()
	refused("seal twice", err)
	refused("skip after seal", u.Skip(Capture, Skipped, "x"))
	noError(t, e.Close())
	_, err = e.Begin()
	refused("begin after close", err)
	clean(t, e.Dir())
}

func TestTheFilesOfAnUtteranceAreBounded(t *testing.T) {
	u := must(newSession(t, newStore(t)).Begin())
	must(u.BeginStage(Capture))
	for i := range maxFiles {
		must(u.Put(Capture, "f"+strings.Repeat("x", i%10)+time.Duration(i).String(), nil))
	}
	if _, err := u.Put(Capture, "one-more", nil); err == nil {
		t.Error("no bound")
	}
}

func TestLogLinesFromManyGoroutinesAreWhole(t *testing.T) {
	e := newSession(t, newStore(t))
	u := must(e.Begin())
	for _, s := range []Stage{Capture, Transcribe, Grammar} {
		noError(t, u.Skip(s, Skipped, "typed"))
	}
	m := must(u.BeginStage(Game))
	l := must(u.OpenLog(Game, EventsFile))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for k := range 20 {
				if err := l.Append(map[string]any{"i": i, "k": k, "pad": strings.Repeat("ž", 100*i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	noError(t, u.PutReceipt(Receipt{Stage: Game, Verdict: Done, StartNS: m.StartNS, EndNS: e.Elapsed(), WallStart: m.WallStart}))
	f, _, err := openRegular(filepath.Join(u.Dir(), "4-game", EventsFile))
	noError(t, err)
	defer f.Close()
	lines := 0
	noError(t, eachLine(f, func(line []byte, whole bool) {
		lines++
		var v map[string]any
		if err := strictjson.Unmarshal(line, &v); err != nil || !whole {
			t.Errorf("line %d: %v", lines, err)
		}
	}))
	if lines != 1+8*20 {
		t.Errorf("%d lines", lines)
	}
}

func TestOpenRefusesARootThatIsNotPrivate(t *testing.T) {
	dir := t.TempDir()
	open := filepath.Join(dir, "open")
	noError(t, os.Mkdir(open, 0o700))
	noError(t, os.Chmod(open, 0o750))
	link := filepath.Join(dir, "link")
	noError(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	noError(t, os.Symlink("real", link))
	file := filepath.Join(dir, "file")
	noError(t, os.WriteFile(file, nil, 0o600))
	for _, path := range []string{open, link, file} {
		var root *RootError
		if _, err := Open(path); !errors.As(err, &root) || root.Hint() == "" {
			t.Errorf("%s: %v", path, err)
		}
	}
	if fi := must(os.Lstat(open)); fi.Mode().Perm() != 0o750 {
		t.Error("the refused folder was changed")
	}
	deep := filepath.Join(dir, "a", "b")
	must(Open(deep))
	if fi := must(os.Lstat(deep)); fi.Mode().Perm() != 0o700 {
		t.Errorf("mode %v", fi.Mode())
	}
}

func TestTwoProgramsAtOnceGetTheirOwnSessions(t *testing.T) {
	root := newStore(t).Root()
	now := time.Now() // the same moment for all
	var mu sync.Mutex
	seen := map[SessionID]bool{}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			s := must(Open(root))
			for k := range 4 {
				e := must(s.NewSession(now))
				if _, _, err := writeUtterance(e, 10*i+k); err != nil {
					t.Error(err)
				}
				if err := e.Close(); err != nil {
					t.Error(err)
				}
				mu.Lock()
				seen[e.ID()] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(seen) != 32 {
		t.Errorf("%d sessions", len(seen))
	}
	if rep := clean(t, root); rep.Sessions != 32 || rep.Sealed != 32 {
		t.Errorf("report %+v", rep)
	}
}

func TestASessionIsSeenRunningUntilItIsClosed(t *testing.T) {
	s := newStore(t)
	e := newSession(t, s)
	u := must(e.Begin())
	must(u.BeginStage(Capture))
	rep := must(Verify(s.Root()))
	if rep.Running != 1 || rep.Damaged() || rep.Count(Unfinished) != 1 || len(rep.Problems) != 1 || !strings.Contains(rep.Problems[0].Detail, "has not ended yet") {
		t.Errorf("report %+v", rep)
	}
	noError(t, e.Close())
	if rep := must(Verify(s.Root())); rep.Running != 0 || !strings.Contains(rep.Problems[0].Detail, "did not end") {
		t.Errorf("report %+v", rep)
	}
}

// Readers may look at any moment: what is being written is never taken for damage, and no session fails for it.
func TestVerifyWhileSessionsRun(t *testing.T) {
	s := newStore(t)
	s.disk = osDisk{}
	done := make(chan struct{})
	var writers, readers sync.WaitGroup
	for range 2 {
		writers.Go(func() {
			for range 4 {
				e, err := s.NewSession(time.Now())
				if err != nil {
					t.Error(err)
					return
				}
				for k := range 3 {
					if _, _, err := writeUtterance(e, k); err != nil {
						t.Error(err)
					}
				}
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			}
		})
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				rep, err := Verify(s.Root())
				if err != nil || rep.Damaged() {
					t.Errorf("while it runs: %v %v", err, rep.Problems)
					return
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	if rep := clean(t, s.Root()); rep.Sealed != 24 {
		t.Errorf("report %+v", rep)
	}
}
