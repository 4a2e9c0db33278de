package whispercpp

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"blockworld-voice/internal/testmodel"
)

func open(t *testing.T) *Model {
	t.Helper()
	m, err := Open(testmodel.Base(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func state(t *testing.T, m *Model) *State {
	t.Helper()
	s, err := m.NewState(1536, 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// tone is a clip that differs with its pitch.
func tone(hz float64, seconds float64) []float32 {
	out := make([]float32, int(16000*seconds))
	for i := range out {
		out[i] = float32(0.3 * math.Sin(2*math.Pi*hz*float64(i)/16000))
	}
	return out
}

func prompt(m *Model) []Item {
	sp := m.Special()
	en, _ := m.Language("en")
	var items []Item
	for i, tok := range []Token{sp.StartOfTranscript, en, sp.Transcribe, sp.NoTimestamps} {
		items = append(items, Item{Token: tok, Pos: int32(i), Seqs: Seq(0)})
	}
	return items
}

// decode encodes a clip and returns the row behind the prompt.
func decode(t *testing.T, m *Model, s *State, samples []float32, actx int) []float32 {
	t.Helper()
	if err := s.Encode(samples, actx); err != nil {
		t.Fatal(err)
	}
	rows, err := s.Decode(prompt(m), 0)
	if err != nil {
		t.Fatal(err)
	}
	logits, _ := rows.Row(rows.Len() - 1)
	return slices.Clone(logits)
}

func TestOpenNoModel(t *testing.T) {
	if _, err := Open("whispercpp.go"); !errors.Is(err, ErrNative) {
		t.Fatalf("Open of a Go file: %v, want ErrNative", err)
	}
}

func TestModelFacts(t *testing.T) {
	m := open(t)
	if m.Vocab() != 51865 || m.AudioContext() != 1500 || m.TextContext() != 448 || !m.Multilingual() {
		t.Fatalf("vocab %d, audio %d, text %d, multilingual %v", m.Vocab(), m.AudioContext(), m.TextContext(), m.Multilingual())
	}
	toks, err := m.Tokenize(" choď na desať")
	if err != nil {
		t.Fatal(err)
	}
	var text string
	for _, tok := range toks {
		text += m.Bytes(tok)
	}
	if text != " choď na desať" {
		t.Fatalf("tokens spell %q", text)
	}
	if toks, err := m.Tokenize(""); err != nil || len(toks) != 0 {
		t.Fatalf("Tokenize of nothing: %v, %v", toks, err)
	}
	if _, err := m.Language("xx"); err == nil {
		t.Fatal("a language that does not exist has a token")
	}
}

// The order of clips must not matter: with flash attention and a cut context the decoder
// would read what the clip before left behind.
func TestEqualBitsInAnyOrder(t *testing.T) {
	m := open(t)
	a, b, c := tone(220, 1.3), tone(440, 2.1), tone(880, 3)
	clips := map[string][]float32{"a": a, "b": b, "c": c}
	ctx := map[string]int{"a": 128, "b": 200, "c": 328}
	want := map[string][]float32{}
	s := state(t, m)
	for i, order := range []string{"abc", "cba", "bacab"} {
		for _, r := range order {
			k := string(r)
			got := decode(t, m, s, clips[k], ctx[k])
			if i == 0 {
				want[k] = got
			} else if !slices.Equal(got, want[k]) {
				t.Fatalf("clip %s in order %s: other logits than in order abc", k, order)
			}
		}
	}
	if slices.Equal(want["a"], want["b"]) {
		t.Fatal("two clips gave the same logits: the audio is not heard")
	}
}

// Texts with a common beginning may share its tokens: their rows are those of separate
// sequences.
func TestSharedTokens(t *testing.T) {
	m := open(t)
	s := state(t, m)
	clip := tone(350, 2)
	toks, _ := m.Tokenize(" one two three")
	if len(toks) != 3 {
		t.Fatalf("%d tokens", len(toks))
	}
	n := int32(len(prompt(m)))
	row := func(items ...Item) []float32 {
		decode(t, m, s, clip, 160)
		s.Branch([]int32{0, 0})
		rows, err := s.Decode(items, len(items)-1)
		if err != nil {
			t.Fatal(err)
		}
		logits, _ := rows.Row(0)
		return slices.Clone(logits)
	}
	want := row(Item{toks[0], n, Seq(1)}, Item{toks[2], n + 1, Seq(1)})
	got := row(Item{toks[0], n, Seq(1) | Seq(2)}, Item{toks[1], n + 1, Seq(1)}, Item{toks[2], n + 1, Seq(2)})
	other := row(Item{toks[0], n, Seq(1) | Seq(2)}, Item{toks[2], n + 1, Seq(1)}, Item{toks[1], n + 1, Seq(2)})
	var same, differ bool
	for i := range want {
		same = same || math.Abs(float64(want[i]-got[i])) > 0.05
		differ = differ || math.Abs(float64(want[i]-other[i])) > 1
	}
	if same || !differ {
		t.Fatalf("sharing changes the row: %v; another text has another row: %v", same, differ)
	}
}

// Rows from a later item on are the rows that all items would have had.
func TestLastRowsOnly(t *testing.T) {
	m := open(t)
	s := state(t, m)
	clip := tone(260, 2)
	items := prompt(m)
	var want [][]float32
	for first := range len(items) + 1 {
		if err := s.Encode(clip, 160); err != nil {
			t.Fatal(err)
		}
		rows, err := s.Decode(items, first)
		if err != nil {
			t.Fatal(err)
		}
		if rows.Len() != len(items)-first {
			t.Fatalf("rows from %d on: %d of %d", first, rows.Len(), len(items))
		}
		for i := range rows.Len() {
			logits, _ := rows.Row(i)
			if first == 0 {
				want = append(want, slices.Clone(logits))
				continue
			}
			for k := range logits {
				if math.Abs(float64(logits[k]-want[first+i][k])) > 0.05 {
					t.Fatalf("first %d, row %d, token %d: %v, want %v", first, i, k, logits[k], want[first+i][k])
				}
			}
		}
	}
}

// Sequences of one batch see their own past only, and branching keeps it.
func TestSequencesAreIndependent(t *testing.T) {
	m := open(t)
	s := state(t, m)
	clip := tone(300, 2)
	decode(t, m, s, clip, 160)
	toks, _ := m.Tokenize(" one two three four")
	n := int32(len(prompt(m)))
	// Alone: one sequence, token by token.
	var want []float32
	s.Branch([]int32{0})
	for i, tok := range toks {
		rows, err := s.Decode([]Item{{Token: tok, Pos: n + int32(i), Seqs: Seq(1)}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		logits, lse := rows.Row(0)
		if lp := rows.LogProb(0, toks[0]); lp != logits[toks[0]]-lse || lp > 0 {
			t.Fatalf("log-probability %v", lp)
		}
		want = slices.Clone(logits)
		s.Branch([]int32{1})
	}
	// Beside two others that say something else.
	decode(t, m, s, clip, 160)
	other := m.Special().NoSpeech
	s.Branch([]int32{0, 0, 0})
	var got []float32
	for i, tok := range toks {
		rows, err := s.Decode([]Item{
			{Token: other, Pos: n + int32(i), Seqs: Seq(1)}, {Token: tok, Pos: n + int32(i), Seqs: Seq(2)}, {Token: toks[0], Pos: n + int32(i), Seqs: Seq(3)},
		}, 0)
		if err != nil {
			t.Fatal(err)
		}
		logits, _ := rows.Row(1)
		got = slices.Clone(logits)
		s.Branch([]int32{1, 2, 3})
	}
	for i := range want {
		if d := math.Abs(float64(want[i] - got[i])); d > 0.05 {
			t.Fatalf("token %d: %v alone, %v in company", i, want[i], got[i])
		}
	}
}

// What was kept stands for what was decoded, bit for bit, in another state too.
func TestRecallGivesEqualBits(t *testing.T) {
	m := open(t)
	a, b := state(t, m), state(t, m)
	clip := tone(300, 2)
	next := func(s *State) []float32 {
		rows, err := s.Decode([]Item{{Token: 1000, Pos: int32(len(prompt(m))), Seqs: Seq(0)}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		logits, _ := rows.Row(0)
		return slices.Clone(logits)
	}
	decode(t, m, a, clip, 160)
	kept, err := a.Keep(len(prompt(m)))
	if err != nil || kept.Len() != len(prompt(m)) {
		t.Fatalf("%v, %v", kept, err)
	}
	defer kept.Close()
	want := next(a)
	if _, err := a.Keep(len(prompt(m))); !errors.Is(err, ErrNative) {
		t.Fatalf("more was cached than was to be kept: %v", err)
	}
	decode(t, m, b, tone(500, 1), 128) // leaves other tokens behind
	if err := b.Encode(clip, 160); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.Recall(kept); err != nil {
			t.Fatal(err)
		}
		if got := next(b); !slices.Equal(got, want) {
			t.Fatal("a recalled prompt gives other bits than a decoded one")
		}
	}
	small, err := m.NewState(256, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	if err := small.Recall(kept); err == nil {
		t.Fatal("a state of another size took it")
	}
}

func TestBadCallsAreErrors(t *testing.T) {
	m := open(t)
	s := state(t, m)
	if err := s.Encode(nil, 128); !errors.Is(err, ErrNative) {
		t.Errorf("no samples: %v", err)
	}
	if err := s.Encode(tone(200, 1), 1501); !errors.Is(err, ErrNative) {
		t.Errorf("context beyond the model's: %v", err)
	}
	if _, err := s.Decode(nil, 0); !errors.Is(err, ErrNative) {
		t.Errorf("no tokens: %v", err)
	}
	if _, err := s.Decode([]Item{{Token: 99999999, Seqs: Seq(0)}}, 0); !errors.Is(err, ErrNative) {
		t.Errorf("token beyond the vocabulary: %v", err)
	}
	if _, err := s.Decode([]Item{{Token: 1}}, 0); !errors.Is(err, ErrNative) {
		t.Errorf("token of no sequence: %v", err)
	}
	if _, err := s.Decode(make([]Item, s.MaxBatch()+1), 0); !errors.Is(err, ErrNoRoom) {
		t.Errorf("batch too long: %v", err)
	}
}

func TestAbort(t *testing.T) {
	m := open(t)
	s := state(t, m)
	clip := tone(500, 2)
	want := decode(t, m, s, clip, 160)
	ended := make(chan error, 1)
	go func() { ended <- s.Encode(tone(500, 29), 1500) }()
	time.Sleep(20 * time.Millisecond)
	s.Abort()
	if err := <-ended; !errors.Is(err, ErrAborted) {
		t.Fatalf("an aborted encode returned %v", err)
	}
	if _, err := s.Decode(prompt(m), 0); !errors.Is(err, ErrAborted) {
		t.Fatalf("a call after the abort returned %v", err)
	}
	s.Resume()
	if got := decode(t, m, s, clip, 160); !slices.Equal(got, want) {
		t.Fatal("after an abort the same clip gives other logits")
	}
}

func BenchmarkEncode256(b *testing.B) { benchEncode(b, 256) }
func BenchmarkEncode512(b *testing.B) { benchEncode(b, 512) }

func benchEncode(b *testing.B, actx int) {
	m, err := Open(testmodel.Base(b))
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	s, err := m.NewState(1536, 2)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	clip := tone(300, 4)
	for b.Loop() {
		if err := s.Encode(clip, actx); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode1(b *testing.B)   { benchDecode(b, 1, 0) }
func BenchmarkDecode4(b *testing.B)   { benchDecode(b, 4, 0) }
func BenchmarkDecode10(b *testing.B)  { benchDecode(b, 10, 0) }
func BenchmarkPrompt150(b *testing.B) { benchDecode(b, 150, 149) }

func benchDecode(b *testing.B, n, first int) {
	m, err := Open(testmodel.Base(b))
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	s, err := m.NewState(1536, 2)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if err := s.Encode(tone(300, 4), 256); err != nil {
		b.Fatal(err)
	}
	past := make([]Item, 200)
	for i := range past {
		past[i] = Item{Token: int32(300 + i), Pos: int32(i), Seqs: Seq(0)}
	}
	if n > 100 {
		past = past[:1]
	}
	if _, err := s.Decode(past, len(past)); err != nil {
		b.Fatal(err)
	}
	items := make([]Item, n)
	for i := range items {
		items[i] = Item{Token: int32(100 + i), Pos: int32(len(past) + i), Seqs: Seq(i + 1)}
	}
	parents := make([]int32, n)
	for b.Loop() {
		s.Branch(parents)
		if _, err := s.Decode(items, first); err != nil {
			b.Fatal(err)
		}
	}
}
