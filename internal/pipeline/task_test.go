package pipeline

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"blockworld-voice/evidence"
	"blockworld-voice/game"
	"blockworld-voice/game/behavior"
	"blockworld-voice/internal/lang"
	"blockworld-voice/synth"
)

// What a task came to, and how a listener tells it from its start, a refusal and an unknown effect.
//
// contract: V7
func TestEndPhrase(t *testing.T) {
	for _, c := range []struct {
		kind   behavior.Kind
		result game.Outcome
		class  synth.Class
	}{
		{behavior.Idle, game.Reported{}, synth.ClassEnded}, {behavior.Idle, game.Cancelled{}, synth.ClassEnded}, {behavior.Idle, game.Refused{Reason: game.NotBound}, synth.ClassEnded},
		{behavior.Follow, game.Reported{}, synth.ClassEnded}, {behavior.Follow, game.Refused{Reason: game.TooFar}, synth.ClassEnded}, {behavior.Follow, game.Unknown{}, synth.ClassUnknown},
		{behavior.Build, game.Reported{}, synth.ClassReported}, {behavior.Build, game.Cancelled{}, synth.ClassEnded},
		{behavior.Build, game.Refused{Reason: game.TooFar}, synth.ClassRefused}, {behavior.Build, game.Unknown{}, synth.ClassUnknown},
	} {
		p := EndPhrase(behavior.End{Kind: c.kind, Result: c.result})
		if p.Key.Class() != c.class || p.Key.Class() == synth.ClassStarted {
			t.Errorf("%s %T: %s", c.kind, c.result, p.Key)
		}
		for _, l := range lang.All() {
			if synth.Words(l, p) == synth.Words(l, synth.Phrase{Key: synth.InternalFailed}) {
				t.Errorf("%s %T has no words in %s", c.kind, c.result, l)
			}
		}
	}
}

// lab binds a bench to a companion with behaviours in a lab of its own. finish waits for the task and ends both.
func (b *bench) lab(told *[]TaskLine) (finish func()) {
	b.t.Helper()
	l, p, err := game.StartLab(b.t.Context(), os.Args[0], filepath.Join(b.t.TempDir(), "ws"))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = l.Close() })
	s, err := game.Open(b.t.Context(), p, game.Options{StateDir: filepath.Join(b.t.TempDir(), "state"), GameHome: b.t.TempDir()})
	if err != nil {
		b.t.Fatal(err)
	}
	var mu sync.Mutex
	b.session.cfg.Task = func(l TaskLine) {
		mu.Lock()
		defer mu.Unlock()
		*told = append(*told, l)
	}
	c := behavior.New(s, behavior.Options{Keeper: b.session.Keeper(), Missing: map[behavior.Kind]string{behavior.Follow: "no target"},
		Works: map[behavior.Kind]func() (behavior.Work, error){behavior.Idle: func() (behavior.Work, error) { return behavior.NewIdle(s, time.Second), nil }}})
	b.session.Bind(c)
	return func() {
		b.t.Helper()
		if err := c.Wait(b.t.Context()); err != nil {
			b.t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			b.t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.t.Fatal(err)
		}
	}
}

// A spoken behaviour: the utterance covers the acceptance, the task has a record of its own, and both verify.
//
// contract: E3
// contract: E6
// contract: V7
func TestASpokenTaskHasItsOwnRecord(t *testing.T) {
	b := newBench(t, lang.SK)
	var told []TaskLine
	finish := b.lab(&told)
	b.engine.text = "čakaj"
	rec := b.do(t.Context(), WAV{clip(t, 1, true)})
	if rec.Outcome.Kind() != game.KindReported || !strings.HasPrefix(rec.Reply.Text, "Úloha sa začala") || !strings.Contains(rec.Outcome.Say(), "t000001") {
		t.Fatalf("%+v %+v", rec.Outcome, rec.Reply)
	}
	b.engine.text = "nasleduj ma"
	rec = b.do(t.Context(), WAV{clip(t, 1, true)})
	if r, ok := rec.Outcome.(game.Refused); !ok || r.Reason != game.NotPermitted || !strings.HasPrefix(rec.Reply.Text, "Odmietnuté") {
		t.Fatalf("%+v %+v", rec.Outcome, rec.Reply)
	}
	finish()
	if len(told) != 1 || told[0].Event != "ended" || told[0].Why != "done" || told[0].BegunBy != "u000001" || told[0].Reply.Language != "sk" || !strings.HasPrefix(told[0].Reply.Text, "Čakanie") {
		t.Fatalf("%+v", told)
	}
	dir := filepath.Join(b.session.Dir(), "t000001")
	var start, result map[string]any
	for name, into := range map[string]*map[string]any{evidence.TaskFile: &start, evidence.ResultFile: &result} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, into); err != nil {
			t.Fatal(err)
		}
	}
	if start["utterance"] != "u000001" || start["kind"] != "idle" || result["model_calls"] != 0.0 || result["why"] != "done" {
		t.Fatalf("%v %v", start, result)
	}
	ticks, err := os.ReadFile(filepath.Join(dir, evidence.TicksFile))
	if err != nil || !strings.Contains(string(ticks), `"did":"observed"`) || !strings.Contains(string(ticks), `"model_calls":0`) {
		t.Fatalf("%s %v", ticks, err)
	}
	if b.engine.calls != 2 {
		t.Fatalf("the recogniser was asked %d times for two utterances", b.engine.calls)
	}
}
