package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blockworld-voice/evidence"
	"blockworld-voice/game"
	"blockworld-voice/game/build"
	"blockworld-voice/game/horizon"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/pipeline"
)

// child starts a lab as the program does.
func child(t *testing.T, more ...string) (string, game.Profile) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(t.TempDir(), "ws")
	l, p, err := game.StartLab(t.Context(), exe, ws, more...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return ws, p
}

// program runs the program against a profile and returns what it printed, by kind of line.
func against(t *testing.T, ws string, args ...string) (out []pipeline.Line, told []pipeline.TaskLine, code int, errs string) {
	t.Helper()
	state := private(t)
	c, stdout, stderr := start(t, state, nil, append([]string{"--profile", filepath.Join(ws, "profile.json"), "--json"}, args...)...)
	_ = c.Wait()
	for line := range strings.Lines(stdout.String()) {
		var l pipeline.Line
		var k pipeline.TaskLine
		if strings.Contains(line, `"task":`) {
			if err := json.Unmarshal([]byte(line), &k); err != nil {
				t.Fatal(line, err)
			}
			told = append(told, k)
			continue
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(line, err)
		}
		out = append(out, l)
	}
	return out, told, c.ProcessState.ExitCode(), stderr.String()
}

func verified(t *testing.T, ws string) *evidence.Report {
	t.Helper()
	rep, err := evidence.Verify(filepath.Join(ws, "evidence"))
	if err != nil || !rep.OK() {
		t.Fatalf("%v %+v", err, rep)
	}
	return rep
}

// contract: F1
func TestFollowFromTheCommandLine(t *testing.T) {
	ws, p := child(t, "--serve", "0", "--speed", "4")
	other, q := child(t, "--join", p.Binding.Server, "--name", "person", "--speed", "20")
	target := filepath.Join(ws, "target.json")
	w, _, errs := start(t, private(t), nil, "profile", "new", "--target", "--socket", q.Binding.Endpoint.String(), "--workspace", ws, "--output", target)
	if err := w.Wait(); err != nil {
		t.Fatal(err, errs)
	}
	c, err := horizon.Dial(t.Context(), q.Binding.Endpoint, q.Binding.Process)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Ask(t.Context(), horizon.GoTo{X: horizon.Centi(grammar.Blocks(9)), Y: horizon.Centi(grammar.Blocks(64)), Z: 0}, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	out, told, code, said := against(t, ws, "--target-profile", target, "--behavior-seconds", "4", "--text", "nasleduj ma")
	if code != 0 || len(out) != 1 || len(told) != 1 || out[0].Outcome.Kind != "reported" || out[0].Reply.Text != "Úloha sa začala: nasledovanie." {
		t.Fatalf("%d %+v %+v %s", code, out, told, said)
	}
	if k := told[0]; k.Event != "ended" || k.Why != "done" || k.Runs != 4 || k.Attempts < 1 || !strings.HasPrefix(k.Reply.Text, "Nasledovanie") {
		t.Fatalf("%+v", k)
	}
	if rep := verified(t, ws); rep.Tasks != 1 {
		t.Fatalf("%+v", rep)
	}
	// The target's own profile is not to be had from outside the workspace, and not with more than a binding in it.
	_, _, code, said = against(t, ws, "--target-profile", filepath.Join(other, "profile.json"), "--text", "follow me")
	if code != 2 || !strings.Contains(said, "target profile") {
		t.Fatal(code, said)
	}
}

// contract: B1
func TestBuildFromTheCommandLine(t *testing.T) {
	ws, p := child(t, "--planks", "5")
	profile := filepath.Join(ws, "profile.json")
	plan := filepath.Join(ws, "plan.json")
	state := private(t)
	run := func(args ...string) (string, string, int) {
		t.Helper()
		c, stdout, stderr := start(t, state, nil, args...)
		_ = c.Wait()
		return stdout.String(), stderr.String(), c.ProcessState.ExitCode()
	}
	if _, errs, code := run("plan", "new", "--profile", profile, "--cells=2,64,0 2,64,1 2,64,-1", "--output", plan); code != 0 {
		t.Fatal(code, errs)
	}
	if said, errs, code := run("plan", "check", plan, "--profile", profile); code != 0 || !strings.Contains(said, "3 blocks of minecraft:oak_planks in survival mode") {
		t.Fatal(code, said, errs)
	}
	read, err := build.Read(plan, p.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	if said, _, code := run("plan", "digest", plan); code != 0 || said != "sha256:"+read.Digest.String()+"\n" {
		t.Fatal(code, said)
	}
	out, told, code, errs := against(t, ws, "--build-plan", plan, "--reply-language", "sk", "--text", "postav schválený plán")
	if code != 0 || len(out) != 1 || len(told) != 1 || out[0].Outcome.Kind != "reported" {
		t.Fatalf("%d %+v %+v %s", code, out, told, errs)
	}
	if k := told[0]; k.Outcome.Kind != "reported" || k.Runs != 3 || k.Attempts != 3 || !strings.HasPrefix(k.Reply.Text, "Hra hlási") {
		t.Fatalf("%+v", k)
	}
	journal, err := os.ReadFile(filepath.Join(ws, "journal.jsonl"))
	if err != nil || strings.Count(string(journal), `"effect":"place"`) != 3 {
		t.Fatalf("%s %v", journal, err)
	}
	// The same bytes again, in a fresh session: nothing is built twice.
	out, told, code, errs = against(t, ws, "--build-plan", plan, "--text", "build approved plan")
	if code != 3 || len(told) != 0 || out[0].Decision.Reason != "not_permitted" || !strings.Contains(out[0].Decision.Detail, "accepted before") {
		t.Fatalf("%d %+v %+v %s", code, out, told, errs)
	}
	verified(t, ws)
	// A changed cell is another plan than the approved one.
	b, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(plan, []byte(strings.Replace(string(b), "64", "65", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, code, errs = against(t, ws, "--build-plan", plan, "--text", "build approved plan"); code != 2 || !strings.Contains(errs, "another digest") {
		t.Fatal(code, errs)
	}
}

// The program is killed in the middle of a task. What is on the disk says so, is whole, and is never taken for more.
// contract: E4
func TestKilledInATask(t *testing.T) {
	state := private(t)
	c, _, errs := start(t, state, nil, "--text", "idle")
	dir := ""
	for range 200 {
		time.Sleep(50 * time.Millisecond)
		if found, _ := filepath.Glob(filepath.Join(state, "blockworld-voice", "*", "evidence", "*", "t000001", "ticks.jsonl")); len(found) == 1 {
			if b, _ := os.ReadFile(found[0]); strings.Count(string(b), "\n") >= 2 { // its head and a run
				dir = filepath.Dir(found[0])
				break
			}
		}
	}
	if dir == "" {
		t.Fatal("no task began: ", errs)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	rep, err := evidence.Verify(only(t, state))
	if err != nil || rep.Damaged() || rep.OK() || rep.Tasks != 1 || rep.Count(evidence.Unfinished) == 0 {
		t.Fatalf("%v %+v", err, rep)
	}
	for i, err := range evidence.Tasks(filepath.Dir(dir)) {
		if err != nil || i.Sealed || i.Running || i.Kind != "idle" || i.Outcome != "" {
			t.Fatalf("%+v %v", i, err)
		}
	}
}

// In a session the gesture ends the task before the microphone opens, and the end of the session ends the last one.
// contract: T2
// contract: V7
func TestGestureEndsATask(t *testing.T) {
	docs, errs, code := plain(t, pretended{Mic: true, Hears: "idle"}, []string{"--behavior-seconds", "60", "--reply-language", "en"},
		"type ", "wait RECORDING", "900ms", "type ", "wait OFF:@2", "1200ms", "type ", "wait RECORDING@2", "900ms", "type ", "wait OFF:@3", "300ms", "type q")
	var why, begun []string
	for _, d := range docs {
		if field(d, "task") != "" {
			why = append(why, field(d, "task")+" "+field(d, "why"))
			continue
		}
		begun = append(begun, field(d, "outcome", "kind")+" "+field(d, "reply", "text"))
	}
	want := "reported Task started: waiting and watching."
	if len(begun) != 2 || begun[0] != want || begun[1] != want || len(why) != 2 || why[0] != "t000001 capture" || why[1] != "t000002 stopped" || code == 5 {
		t.Fatalf("%d %q %q\n%s", code, begun, why, errs)
	}
	// Between the two: the line of the first task comes before that of the utterance whose gesture ended it.
	if field(docs[1], "task") != "t000001" {
		t.Fatalf("%v", docs)
	}
}
