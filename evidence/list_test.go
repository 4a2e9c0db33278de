package evidence

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

func TestListTellsSessionsAndUtterances(t *testing.T) {
	s := newStore(t)
	closed := writeSession(t, s, 2)
	e := newSession(t, s)
	u := must(e.Begin())
	must(u.BeginStage(Capture))
	noError(t, os.Mkdir(filepath.Join(s.Root(), "foreign"), 0o700))
	var lines []string
	for info, err := range Sessions(s.Root()) {
		noError(t, err)
		lines = append(lines, info.String())
	}
	if len(lines) != 2 || !strings.HasSuffix(lines[0], "closed  2 utterances") || !strings.HasSuffix(lines[1], "running  1 utterances, 1 unfinished") {
		t.Errorf("sessions %q", lines)
	}
	lines = nil
	for info, err := range Utterances(closed) {
		noError(t, err)
		lines = append(lines, info.String())
	}
	if len(lines) != 2 || lines[1] != "u000002  “choď na desať”  → goto 10 64 -5  → reported" {
		t.Errorf("utterances %q", lines)
	}
	for info, err := range Utterances(e.Dir()) {
		noError(t, err)
		if info.String() != "u000001  [capture started, has not ended yet]" {
			t.Errorf("utterance %q", info)
		}
	}
	noError(t, e.Close())
	noError(t, os.Remove(filepath.Join(s.Root(), "foreign")))
	for range Sessions(filepath.Join(s.Root(), "nothing")) {
	}
	for _, err := range Sessions(filepath.Join(s.Root(), "nothing")) {
		if err == nil {
			t.Error("a store that is not there was listed")
		}
	}
}

func TestListGoesOnAfterDamage(t *testing.T) {
	s := newStore(t)
	dir := writeSession(t, s, 3)
	noError(t, os.Remove(filepath.Join(dir, headName)))
	noError(t, os.RemoveAll(filepath.Join(dir, "u000002")))
	noError(t, os.WriteFile(filepath.Join(dir, "u000003", "2-transcribe", receiptName), []byte("{"), 0o600))
	for info, err := range Sessions(s.Root()) {
		noError(t, err)
		if !strings.Contains(info.String(), "damaged: head.json") {
			t.Errorf("session %q", info)
		}
	}
	var got []string
	for info, err := range Utterances(dir) {
		noError(t, err)
		got = append(got, info.String())
	}
	if len(got) != 2 || !strings.Contains(got[1], "bad_document: 2-transcribe/receipt.json") {
		t.Errorf("utterances %q", got)
	}
	noError(t, os.RemoveAll(dir))
}

func TestShowTellsEverythingOfOneUtterance(t *testing.T) {
	dir := filepath.Join(writeSession(t, newStore(t), 1), "u000001")
	v := must(Show(dir))
	var text bytes.Buffer
	must(v.WriteTo(&text))
	for _, want := range []string{
		"sealed\n", "heard      choď na desať", "understood goto 10 64 -5", "outcome    reported", "capture     done", "playback    done",
		"4-game/events.jsonl", `{"seq":2}`, "verified: every file is as it was written",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in:\n%s", want, text.String())
		}
	}
	data := must(v.JSON())
	var doc struct {
		Schema    int
		Course    string
		Documents map[string]map[string]any
		Files     []ViewFile
	}
	noError(t, json.Unmarshal(data, &doc, json.MatchCaseInsensitiveNames(true)))
	if doc.Schema != 1 || len(doc.Files) != 16 || doc.Documents["3-grammar/decision.json"]["command"] != "goto 10 64 -5" {
		t.Errorf("document %+v", doc)
	}
	edit(t, filepath.Join(dir, "1-capture", ClipFile), func(b []byte) []byte { b[0] = 'X'; return b }, func() {
		text.Reset()
		must(must(Show(dir)).WriteTo(&text))
		if !strings.Contains(text.String(), "changed: 1-capture/clip.wav") || strings.Contains(text.String(), "verified") {
			t.Errorf("a changed clip is shown as\n%s", text.String())
		}
	})
}

func TestShowMakesTerminalCodesHarmless(t *testing.T) {
	e := newSession(t, newStore(t))
	u := must(e.Begin())
	noError(t, u.Skip(Capture, Skipped, "typed"))
	must(u.BeginStage(Transcribe))
	must(u.PutJSON(Transcribe, TranscriptFile, map[string]any{"schema": 1, "text": "a\x1b[2J\u202eb"}))
	noError(t, u.PutReceipt(Receipt{Stage: Transcribe, Verdict: Failed, Reason: "x\x1b]0;y\a", WallStart: time.Now(), StartNS: e.Elapsed(), EndNS: e.Elapsed()}))
	noError(t, e.Close())
	var text bytes.Buffer
	must(must(Show(u.Dir())).WriteTo(&text))
	if strings.ContainsAny(text.String(), "\x1b\a\u202e") {
		t.Errorf("%q", text.String())
	}
}

// A log of a stage that died within a line shows its whole lines, and Verify says that one was cut.
func TestATornLogLine(t *testing.T) {
	e := newSession(t, newStore(t))
	u := must(e.Begin())
	must(u.BeginStage(Capture))
	l := must(u.OpenLog(Capture, EventsFile))
	noError(t, l.Append("whole"))
	noError(t, e.Close())
	path := filepath.Join(u.Dir(), "1-capture", EventsFile)
	old := must(os.ReadFile(path))
	noError(t, os.WriteFile(path, append(bytes.Clone(old), `{"half":`...), 0o600))
	v := must(Show(u.Dir()))
	if got := v.Logs["1-capture/events.jsonl"]; len(got) != 2 || got[1] != `"whole"` {
		t.Errorf("lines %q", got)
	}
	if rep := must(Verify(e.Dir())); rep.Count(Torn) != 1 || rep.Damaged() {
		t.Errorf("problems %v", rep.Problems)
	}
	noError(t, os.WriteFile(path, append(bytes.Clone(old), "no json\n"...), 0o600))
	if rep := must(Verify(e.Dir())); rep.Count(BadDocument) != 1 {
		t.Errorf("problems %v", rep.Problems)
	}
	noError(t, os.WriteFile(path, old, 0o600))
}

func TestFind(t *testing.T) {
	s := newStore(t)
	dir := writeSession(t, s, 1)
	for name, want := range map[string]string{
		dir: dir, filepath.Base(dir): dir, filepath.Base(dir) + "/u000001": filepath.Join(dir, "u000001"),
	} {
		if got, err := Find(s.Root(), name); err != nil || got != want {
			t.Errorf("%s: %s %v", name, got, err)
		}
	}
	for _, bad := range []string{"", "..", "x", filepath.Base(dir) + "/..", filepath.Base(dir) + "/u000002", filepath.Base(dir) + "/u000001/1-capture"} {
		if got, err := Find(filepath.Join(s.Root()), bad); err == nil && bad != ".." {
			t.Errorf("%q found %s", bad, got)
		}
	}
}
