package transcribe

import (
	"context"
	"math"
	"testing"

	"blockworld-voice/internal/whispercpp"
)

func TestTreeSharesBeginnings(t *testing.T) {
	got := tree([][]Token{{1, 2, 3}, {1, 2, 4}, {5}, {1, 2}}, 10)
	want := []struct {
		token  Token
		pos    int32
		parent int
		texts  whispercpp.Seqs
		ends   int
	}{{1, 10, -1, 0b10110, 0}, {2, 11, 0, 0b10110, 1}, {3, 12, 1, 0b00010, 1}, {4, 12, 1, 0b00100, 1}, {5, 10, -1, 0b01000, 1}}
	if len(got) != len(want) {
		t.Fatalf("%d pieces, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.token != w.token || g.pos != w.pos || g.parent != w.parent || g.texts != w.texts || len(g.ends) != w.ends {
			t.Errorf("piece %d: %+v, want %+v", i, g, w)
		}
	}
}

func TestCompare(t *testing.T) {
	rs := []Scored{
		{Key: "a", Score: 4, Audio: -2, Tokens: 4}, // sub is -6
		{Key: "b", Score: 1, Audio: -4, Tokens: 4}, // sub is -5
	}
	for _, c := range []struct {
		audio []float64
		want  Witness
		why   bool
	}{
		{[]float64{-3, -5}, Witness{Tempo: 1.1, Key: "a", D: 0.75, Gap: 3}, false},
		{[]float64{-5, -1}, Witness{Tempo: 1.1, Key: "b", D: 0.25, Gap: -3}, true},
		{[]float64{-5, -5}, Witness{Tempo: 1.1, Key: "a", D: 0.25, Gap: 1}, true},     // d is too small
		{[]float64{-3, -2.5}, Witness{Tempo: 1.1, Key: "a", D: 0.75, Gap: 0.5}, true}, // the other is too near
	} {
		got := compare(1.1, rs, c.audio)
		if got != c.want {
			t.Errorf("audio %v: %+v, want %+v", c.audio, got, c.want)
		}
		if why := (Limits{WitnessD: 0.5, WitnessGap: 1}).confirm(rs[0], got); (why != "") != c.why {
			t.Errorf("audio %v: %q", c.audio, why)
		}
	}
}

// Given texts score what the search scored for them.
func TestTeacherAgreesWithTheSearch(t *testing.T) {
	e := engine(t, "")
	req := request(t, "en/goto_10_64_m5.wav")
	err := e.submit(t.Context(), func(ctx context.Context, w *worker) error {
		if err := w.audio.encode(req.Samples, w.audioContext(len(req.Samples))); err != nil {
			return err
		}
		rs, err := w.search(ctx, req.Lexicons[0], req.Judge)
		if err != nil {
			return err
		}
		if len(rs) < 2 {
			t.Fatalf("%d readings", len(rs))
		}
		prompt, err := w.prompt(req.Lexicons[0])
		if err != nil {
			return err
		}
		var texts [][]Token
		for _, r := range rs {
			texts = append(texts, r.seq)
		}
		got, err := w.audio.teach(prompt, texts, w.vocab.end, false)
		if err != nil {
			return err
		}
		for i, r := range rs {
			if math.Abs(got[i]-r.Audio) > 0.05 {
				t.Errorf("%q: the search has %v, the teacher %v", r.Text, r.Audio, got[i])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
