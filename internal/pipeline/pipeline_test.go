package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"blockworld-voice/evidence"
	"blockworld-voice/game"
	"blockworld-voice/game/lab"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/lang"
	"blockworld-voice/internal/pcm"
	"blockworld-voice/internal/strictjson"
	"blockworld-voice/synth"
	"blockworld-voice/transcribe"
)

// The test program is also the lab that tests start as a child.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "lab" {
		os.Exit(lab.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

// hears is an engine that hears what it is told to, by the grammar's own judge.
type hears struct {
	text  string
	err   error
	calls int
	first func(context.Context)
}

func (e *hears) Transcribe(ctx context.Context, r transcribe.Request) (*transcribe.Transcript, error) {
	e.calls++
	if e.first != nil {
		e.first(ctx)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if e.err != nil {
		return nil, e.err
	}
	t := &transcribe.Transcript{Text: e.text, Model: "fake", Used: r.Lexicons[0].Language}
	reading, ok := r.Judge(e.text)
	if !ok {
		t.Confidence.Why = "no sentence of the grammar was found"
		return t, nil
	}
	t.Verdict = transcribe.Understood
	t.Readings = []transcribe.Scored{{Text: e.text, Key: reading.Key, Class: reading.Class}}
	return t, nil
}

// obeys is a companion that answers with a fixed outcome.
type obeys struct {
	outcome game.Outcome
	calls   []string
	first   func(context.Context)
	rec     error // what Attempt returned
}

func (c *obeys) Limits() game.Limits {
	far := grammar.Blocks(512)
	return game.Limits{Permitted: grammar.Kinds(), Min: [3]grammar.Coord{-far, grammar.Blocks(-64), -far}, Max: [3]grammar.Coord{far, grammar.Blocks(319), far}}
}

func (c *obeys) Do(ctx context.Context, cmd grammar.Command, rec game.Recorder) game.Outcome {
	if c.rec = rec.Attempt(game.Attempt{Schema: 1, Run: "0123456789abcdef0123456789abcdef", Command: cmd.String()}); c.rec != nil {
		return game.Refused{Reason: game.Disarmed, Detail: "the attempt could not be recorded"}
	}
	c.calls = append(c.calls, cmd.String())
	_ = rec.Event(game.Event{Kind: game.EventSent})
	if c.first != nil {
		c.first(ctx)
	}
	_ = rec.Event(game.Event{Kind: game.EventAnswered})
	return c.outcome
}

// speaks is a voice that makes a short sound.
type speaks struct {
	err   error
	said  []string
	first func()
}

func (v *speaks) Speak(ctx context.Context, l lang.Language, text string) (*synth.Reply, error) {
	v.said = append(v.said, text)
	if v.first != nil {
		v.first()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if v.err != nil {
		return nil, v.err
	}
	return &synth.Reply{Audio: &synth.Audio{WAV: tone(0.2)}, Facts: synth.Facts{Engine: "fake", Language: l, Text: text}}, nil
}

type bench struct {
	t         *testing.T
	engine    *hears
	companion *obeys
	voice     *speaks
	session   *Session
	store     *evidence.Store
	torn      bool // evidence is expected not to verify
}

// newBench makes a session on fakes. At the end of the test the evidence must verify.
func newBench(t *testing.T, langs ...lang.Language) *bench {
	t.Helper()
	store, err := evidence.Open(filepath.Join(t.TempDir(), "evidence"))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, engine: &hears{}, companion: &obeys{outcome: game.Reported{Detail: "done"}}, voice: &speaks{}, store: store}
	if len(langs) == 0 {
		langs = []lang.Language{lang.EN}
	}
	if b.session, err = Open(Config{Store: store, Engine: b.engine, Voice: b.voice, Languages: langs}); err != nil {
		t.Fatal(err)
	}
	b.session.Bind(b.companion)
	t.Cleanup(func() {
		if err := b.session.Close(); err != nil && !b.torn {
			t.Error(err)
		}
		rep, err := evidence.Verify(b.store.Root())
		if err != nil {
			t.Fatal(err)
		}
		if !rep.OK() && !b.torn {
			t.Errorf("the evidence doesn't verify: %v", rep.Problems)
		}
	})
	return b
}

func (b *bench) do(ctx context.Context, src Source) *Record {
	b.t.Helper()
	rec, err := b.session.Do(ctx, src)
	if err != nil {
		b.t.Fatal(err)
	}
	b.check(rec)
	return rec
}

func (b *bench) check(rec *Record) {
	b.t.Helper()
	if err := rec.Check(); err != nil {
		b.t.Errorf("the record is inconsistent: %v", err)
	}
	if n := len(rec.Line().Stages); n != 6 {
		b.t.Errorf("the line has %d stages", n)
	}
}

// clip writes a WAV file: seconds of a voice-like sound, or of silence.
func clip(t *testing.T, seconds float64, voiced bool) string {
	t.Helper()
	data := pcm.WAV(make([]float32, int(seconds*16000)), 16000)
	if voiced {
		data = tone(seconds)
	}
	path := filepath.Join(t.TempDir(), "clip.wav")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// tone is a sound that the gate takes for a voice: pulses at a wavering pitch, in syllables.
func tone(seconds float64) []byte {
	s := make([]float32, int(seconds*16000))
	phase := 0.0
	for i := range s {
		at := float64(i) / 16000
		f := 120 + 20*triangle(at*3)
		phase += f / 16000
		x := phase - float64(int(phase))
		v := 0.6 * (1 - 4*x)
		if x > 0.5 {
			v = 0.6 * (1 - 4*(1-x))
		}
		s[i] = float32(v * (0.2 + 0.8*(1+triangle(at*4))/2) * 0.5)
	}
	return pcm.WAV(s, 16000)
}

func triangle(x float64) float64 {
	x -= float64(int(x))
	if x > 0.5 {
		return 3 - 4*x
	}
	return 4*x - 1
}

func verdicts(r *Record) string {
	var out []string
	for _, rc := range r.Trail {
		out = append(out, rc.Verdict.String())
	}
	return strings.Join(out, " ")
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// contract: S1
// contract: E1
func TestTypedInstruction(t *testing.T) {
	b := newBench(t)
	rec := b.do(t.Context(), Typed{"go to 10 64 -5"})
	want(t, "verdicts", verdicts(rec), "skipped skipped done done done skipped")
	want(t, "sent", strings.Join(b.companion.calls, ","), "goto 10 64 -5")
	l := rec.Line()
	want(t, "command", l.Decision.Command, "goto 10 64 -5")
	want(t, "outcome", l.Outcome.Kind, "reported")
	want(t, "playback", l.Playback.State, "not_attempted")
	if _, err := os.Stat(l.Reply.WAV); err != nil {
		t.Error(err)
	}
}

func TestSpokenInstruction(t *testing.T) {
	b := newBench(t, lang.SK)
	b.engine.text = "choď na desať šesťdesiatštyri mínus päť"
	rec := b.do(t.Context(), WAV{clip(t, 1, true)})
	want(t, "verdicts", verdicts(rec), "done done done done done skipped")
	want(t, "sent", strings.Join(b.companion.calls, ","), "goto 10 64 -5")
	for _, name := range []string{
		"1-capture/clip.wav", "1-capture/speech.wav", "1-capture/speech.json", "2-transcribe/transcript.json", "3-grammar/decision.json",
		"4-game/attempt.json", "4-game/events.jsonl", "4-game/outcome.json", "5-synth/reply.wav", "5-synth/reply.json", "6-playback/playback.json", "manifest.json",
	} {
		if _, err := os.Stat(filepath.Join(rec.Dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// contract: S2
func TestRefusalsSendNothing(t *testing.T) {
	b := newBench(t)
	for text, reason := range map[string]string{
		"": "no_speech", "hello": "unknown_command", "go to 1 2": "missing_coordinate", "go to 1 2 3 4": "extra_coordinate",
		"stop that and dig": "unknown_command", "go to 10 64 -5 go to 10 64 -5": "ambiguous",
	} {
		rec := b.do(t.Context(), Typed{text})
		l := rec.Line()
		want(t, text, l.Decision.Kind+" "+l.Outcome.Kind, "refusal refused")
		if l.Decision.Reason != reason {
			t.Errorf("%q: %s, want %s", text, l.Decision.Reason, reason)
		}
	}
	if len(b.companion.calls) > 0 {
		t.Errorf("sent: %v", b.companion.calls)
	}
}

// Any bytes are an instruction, or a name, and give a record.
func TestAnyBytes(t *testing.T) {
	b := newBench(t)
	for _, text := range []string{"go to \xff 1 2", "\x00", "say \xc3\x28", strings.Repeat("go to 1 2 3 ", 20_000), strings.Repeat("\xfe", 100_000), "say " + strings.Repeat("ď", 300)} {
		rec := b.do(t.Context(), Typed{text})
		if _, err := strictjson.Line(rec.Line()); err != nil {
			t.Errorf("%.20q: %v", text, err)
		}
		want(t, "decision", rec.Line().Decision.Kind, "refusal")
	}
	path := filepath.Join(t.TempDir(), "odd\xff\n.wav")
	if err := os.WriteFile(path, tone(1), 0o600); err != nil {
		t.Fatal(err)
	}
	b.engine.text = "state"
	rec := b.do(t.Context(), WAV{path})
	want(t, "outcome", rec.Line().Outcome.Kind, "reported")
	if _, err := strictjson.Line(rec.Line()); err != nil {
		t.Error(err)
	}
	b.do(t.Context(), WAV{path + "\xff"})
}

func TestSilenceNeverReachesTheEngine(t *testing.T) {
	b := newBench(t)
	for _, seconds := range []float64{1, 180} {
		rec := b.do(t.Context(), WAV{clip(t, seconds, false)})
		want(t, "reason", rec.Line().Decision.Reason, "no_speech")
		want(t, "verdicts", verdicts(rec), "done skipped refused skipped done skipped")
	}
	if b.engine.calls > 0 {
		t.Error("the engine was asked")
	}
}

func TestUncertainSpeechIsRefused(t *testing.T) {
	b := newBench(t)
	b.engine.text = "good morning everybody"
	rec := b.do(t.Context(), WAV{clip(t, 1, true)})
	want(t, "reason", rec.Line().Decision.Reason, "not_understood")
	want(t, "verdicts", verdicts(rec), "done refused refused skipped done skipped")
}

// A source that is no clip is an utterance all the same: what could be read of it is kept.
// contract: E5
func TestBadSources(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.wav")
	if err := os.WriteFile(broken, []byte("RIFF\x00\x00\x00\x00WAVEnothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	for _, path := range []string{broken, filepath.Join(dir, "none.wav"), dir} {
		rec := b.do(t.Context(), WAV{path})
		want(t, path, verdicts(rec), "refused skipped refused skipped done skipped")
		want(t, path, rec.Line().Outcome.Kind, "refused")
		if rec.BadSource == nil {
			t.Error("nobody is told why")
		}
		if strings.Contains(rec.why(evidence.Capture), dir) {
			t.Errorf("the evidence names the folder: %s", rec.why(evidence.Capture))
		}
		_, err := os.Stat(filepath.Join(rec.Dir, "1-capture", "clip.wav"))
		if kept := err == nil; kept != (path == broken) {
			t.Errorf("%s: kept %v", path, kept)
		}
	}
}

func TestEngineFailureEndsTheCourse(t *testing.T) {
	b := newBench(t)
	b.engine.err = errors.New("the native library failed")
	rec := b.do(t.Context(), WAV{clip(t, 1, true)})
	want(t, "verdicts", verdicts(rec), "done failed skipped skipped done skipped")
	want(t, "outcome", rec.Line().Outcome.Kind, "refused")
	if rec.Fault == nil || len(b.companion.calls) > 0 {
		t.Errorf("fault %v, sent %v", rec.Fault, b.companion.calls)
	}
}

// contract: V9
func TestFailedReplyKeepsTheOutcome(t *testing.T) {
	b := newBench(t)
	b.voice.err = errors.New("the voice failed")
	rec := b.do(t.Context(), Typed{"state"})
	want(t, "verdicts", verdicts(rec), "skipped skipped done done failed skipped")
	want(t, "outcome", rec.Line().Outcome.Kind, "reported")
	want(t, "wav", rec.Line().Reply.WAV, "")
}

func TestStopWhereverItComes(t *testing.T) {
	for _, c := range []struct {
		name, verdicts, outcome string
		set                     func(*bench, context.CancelFunc)
	}{
		{"before", "cancelled skipped skipped skipped skipped skipped", "cancelled", func(_ *bench, stop context.CancelFunc) { stop() }},
		{"in the engine", "done cancelled skipped skipped skipped skipped", "cancelled",
			func(b *bench, stop context.CancelFunc) { b.engine.first = func(context.Context) { stop() } }},
		{"in the game", "done done done cancelled skipped skipped", "cancelled", func(b *bench, stop context.CancelFunc) {
			b.companion.first = func(context.Context) { stop() }
			b.companion.outcome = game.Cancelled{Detail: "stopped"}
		}},
		{"in the game, unseen", "done done done failed skipped skipped", "unknown", func(b *bench, stop context.CancelFunc) {
			b.companion.first = func(context.Context) { stop() }
			b.companion.outcome = game.Unknown{Detail: "not observed"}
		}},
		{"in the voice", "done done done done cancelled skipped", "reported",
			func(b *bench, stop context.CancelFunc) { b.voice.first = func() { stop() } }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.engine.text = "state"
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			c.set(b, stop)
			rec := b.do(ctx, WAV{clip(t, 1, true)})
			want(t, "verdicts", verdicts(rec), c.verdicts)
			want(t, "outcome", rec.Line().Outcome.Kind, c.outcome)
			if !rec.Halted {
				t.Error("the record doesn't say that it was stopped")
			}
		})
	}
}

// Evidence that can't be written before the send: nothing is sent.
// contract: S4
func TestNoEvidenceNoSend(t *testing.T) {
	b := newBench(t)
	b.torn = true
	b.engine.text = "go to 1 64 1"
	b.engine.first = func(context.Context) { b.pull() }
	rec, err := b.session.Do(t.Context(), WAV{clip(t, 1, true)})
	if !errors.Is(err, evidence.ErrStorage) {
		t.Fatalf("error %v", err)
	}
	b.check(rec)
	want(t, "outcome", rec.Line().Outcome.Kind, "refused")
	if len(b.companion.calls) > 0 {
		t.Error("sent without evidence")
	}
	if _, again := b.session.Do(t.Context(), Typed{"state"}); again == nil {
		t.Error("the session goes on without evidence")
	}
}

// Evidence that can't be written after the send: the outcome is reported all the same.
// contract: E4
func TestOutcomeSurvivesTheDisk(t *testing.T) {
	b := newBench(t)
	b.torn = true
	b.companion.first = func(context.Context) { b.pull() }
	rec, err := b.session.Do(t.Context(), Typed{"go to 1 64 1"})
	if !errors.Is(err, evidence.ErrStorage) {
		t.Fatalf("error %v", err)
	}
	b.check(rec)
	want(t, "outcome", rec.Line().Outcome.Kind, "reported")
	want(t, "reply", rec.Line().Reply.Text, synth.Words(lang.EN, synth.Phrase{Key: synth.EvidenceFailed}))
}

// pull takes the disk away.
func (b *bench) pull() {
	if err := os.RemoveAll(b.session.Dir()); err != nil {
		b.t.Error(err)
	}
}

// The documented object: its names and their order.
func TestLineForm(t *testing.T) {
	b := newBench(t)
	b.engine.text = "go to 1 64 1"
	line, err := json.Marshal(b.do(t.Context(), WAV{clip(t, 1, true)}).Line())
	if err != nil {
		t.Fatal(err)
	}
	const form = "schema session utterance source{kind name sha256 seconds} language{asked used} " +
		"transcript{text free_text model model_sha256 confidence{d gap}} decision{kind command} outcome{kind detail} " +
		"reply{language text wav} playback{state} " +
		"stages[{stage verdict start_ns end_ns cpu_ns}{stage verdict start_ns end_ns cpu_ns}{stage verdict start_ns end_ns cpu_ns}" +
		"{stage verdict start_ns end_ns cpu_ns}{stage verdict start_ns end_ns cpu_ns}{stage verdict start_ns end_ns cpu_ns}] evidence"
	want(t, "form", shape(t, line), form)
}

// shape tells the names of a JSON object in their order.
func shape(t *testing.T, data []byte) string {
	d := json.NewDecoder(strings.NewReader(string(data)))
	var walk func() string
	walk = func() string {
		tok, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		switch tok {
		case json.Delim('{'):
			var parts []string
			for d.More() {
				name, _ := d.Token()
				parts = append(parts, name.(string)+walk())
			}
			_, _ = d.Token()
			return "{" + strings.Join(parts, " ") + "}"
		case json.Delim('['):
			s := ""
			for d.More() {
				s += walk()
			}
			_, _ = d.Token()
			return "[" + s + "]"
		}
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(walk(), "{"), "}")
}
