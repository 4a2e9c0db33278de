package transcribe

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"blockworld-voice/capture"
	"blockworld-voice/internal/lang"
	"blockworld-voice/internal/testmodel"
)

// small is a grammar of a few English sentences.
var small = sentences("Go to ten sixty-four minus five", "go to one sixty-four two", "Status", "status", "stop", "state", "say *")

const vocabularyPrompt = "Go to, say, state, status, stop, minus, one, two, five, ten, sixty-four."

func request(t testing.TB, clip string) Request {
	t.Helper()
	c, err := capture.ReadFile(filepath.Join("..", "testdata", "clips", clip))
	if err != nil {
		t.Fatal(err)
	}
	return Request{
		Samples:  c.Samples,
		Lexicons: []Lexicon{{Language: lang.EN, Automaton: small, Prompt: vocabularyPrompt}},
		Judge:    func(text string) (Reading, bool) { return Reading{Key: strings.ToLower(text), Class: Plain}, true },
	}
}

func engine(t testing.TB, cache string) *Engine {
	t.Helper()
	e, err := New(Config{Path: testmodel.Base(t), Name: "base", SHA256: testmodel.Digest(t), CacheDir: cache})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// plain is a transcript without what may differ between two equal runs: its times.
func plain(t *Transcript) Transcript {
	c := *t
	c.EncodeNS, c.DecodeNS = 0, 0
	return c
}

// Equal clips, settings and models give equal bits: in any order, after an abort, with
// the silence table empty, grown or read from its file.
// contract: V4
func TestEqualBits(t *testing.T) {
	defer goleak.VerifyNone(t)
	cache := t.TempDir()
	clips := []string{"en/goto_10_64_m5.wav", "en/say.wav", "en/status.wav", "en/oog_stop_that.wav"}
	want := map[string]Transcript{}
	e := engine(t, cache)
	check := func(e *Engine, clip string) {
		t.Helper()
		got, err := e.Transcribe(t.Context(), request(t, clip))
		if err != nil {
			t.Fatal(err)
		}
		if w, ok := want[clip]; !ok {
			want[clip] = plain(got)
		} else if !reflect.DeepEqual(plain(got), w) {
			t.Fatalf("%s:\n got %+v\nwant %+v", clip, plain(got), w)
		}
	}
	for _, i := range []int{0, 1, 2, 3, 2, 0, 3, 1} {
		check(e, clips[i])
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := e.Transcribe(ctx, request(t, clips[0])); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a transcription of 30 ms: %v", err)
	}
	check(e, clips[0])
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadDir(cache)
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept tables: %v, %v", kept, err)
	}
	again := engine(t, cache)
	for _, c := range clips {
		check(again, c)
	}
	for _, table := range again.w.tables {
		if table.grew != 0 {
			t.Errorf("%d rows were computed again though the table was kept", table.grew)
		}
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if got := want["en/goto_10_64_m5.wav"].Text; got != "Go to ten sixty-four minus five" && got != "go to ten sixty-four minus five" {
		t.Errorf("heard %q", got)
	}
}

// A damaged table costs time, never a result.
func TestDamagedTableIsIgnored(t *testing.T) {
	q := &quietTable{rows: map[string]quietRow{"abcd": {token: []Token{1, 7}, lp: []float32{-1, -2}}}, grew: 1}
	key := testmodel.Digest(t)
	whole := q.encode(key)
	if rows, err := decodeQuiet(whole, key); err != nil || !reflect.DeepEqual(rows, q.rows) {
		t.Fatalf("a whole table: %v, %v", rows, err)
	}
	for i := range whole {
		bad := append([]byte(nil), whole...)
		bad[i] ^= 1
		if _, err := decodeQuiet(bad, key); err == nil {
			t.Fatalf("byte %d changed: the table is taken", i)
		}
		if _, err := decodeQuiet(whole[:i], key); err == nil {
			t.Fatalf("%d of %d bytes: the table is taken", i, len(whole))
		}
	}
	if _, err := decodeQuiet(whole, [32]byte{}); err == nil {
		t.Fatal("the table of another model is taken")
	}
}

func TestQuietTableComputesEachContextOnce(t *testing.T) {
	v := letters()
	f := &fake{v: v, logit: hashed("q")}
	evals := 0
	q := &quietTable{rows: map[string]quietRow{}, eval: func(context []Token) (Rows, error) {
		evals++
		f.seq = []string{tokenKey(context)}
		return f.rows(), nil
	}}
	long := []Token{1, 2, 3, 4, 5, 6, 7, 8, 9}
	other := []Token{1, 2, 3, 9, 9, 9, 6, 7, 8, 9} // same beginning, same end
	a, _ := q.LogProbs(long, []Token{2, 4, v.end})
	b, _ := q.LogProbs(other, []Token{4, v.end, 2})
	if evals != 1 || a[0] != b[2] || a[1] != b[0] || a[2] != b[1] {
		t.Fatalf("%d evaluations, %v and %v", evals, a, b)
	}
	if c, _ := q.LogProbs(long, []Token{3}); evals != 2 || c[0] >= 0 || math.IsNaN(float64(c[0])) {
		t.Fatalf("a further token: %d evaluations, %v", evals, c)
	}
	if d, _ := q.LogProbs(long, []Token{2, 3, 4}); evals != 2 || d[0] != a[0] {
		t.Fatalf("known tokens: %d evaluations, %v", evals, d)
	}
}

// Requests of several goroutines wait for each other.
func TestOneAtATime(t *testing.T) {
	defer goleak.VerifyNone(t)
	e := engine(t, "")
	req := request(t, "en/status.wav")
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if tr, err := e.Transcribe(t.Context(), req); err != nil || tr.Verdict != Understood {
				t.Errorf("%+v, %v", tr, err)
			}
		})
	}
	wg.Wait()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Transcribe(t.Context(), req); !errors.Is(err, ErrClosed) {
		t.Fatalf("after Close: %v", err)
	}
}

// What is not understood is written down for people, and is no part of the decision.
func TestFreeText(t *testing.T) {
	e := engine(t, "")
	req := request(t, "en/oog_stop_that.wav")
	bare, err := e.Transcribe(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	req.FreeText = true
	full, err := e.Transcribe(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if full.Verdict != NotUnderstood || bare.FreeText != "" || !strings.Contains(strings.ToLower(full.FreeText), "stop") {
		t.Fatalf("%v, free text %q and %q", full.Verdict, bare.FreeText, full.FreeText)
	}
	full.FreeText = ""
	if !reflect.DeepEqual(plain(bare), plain(full)) {
		t.Fatal("the free text changed the decision")
	}
}

func TestBadRequests(t *testing.T) {
	e := engine(t, "")
	for name, req := range map[string]Request{
		"nothing":     {},
		"no judge":    {Samples: []float32{0}, Lexicons: []Lexicon{{Language: lang.EN, Automaton: small}}},
		"no language": {Samples: []float32{0}, Judge: same},
	} {
		if _, err := e.Transcribe(t.Context(), req); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
