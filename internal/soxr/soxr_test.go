package soxr

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

var rates = []int{8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 88200, 96000, 176400, 192000}

func tone(hz float64, rate int, seconds float64) []float32 {
	out := make([]float32, int(seconds*float64(rate)))
	for i := range out {
		out[i] = float32(0.9 * math.Sin(2*math.Pi*hz*float64(i)/float64(rate)))
	}
	return out
}

// middle is the RMS without the edges, where the beginning and the end of a tone ring.
func middle(s []float32) float64 {
	s = s[len(s)/4 : 3*len(s)/4]
	var sum float64
	for _, v := range s {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(len(s)))
}

func db(a, b float64) float64 { return 20 * math.Log10(max(a, 1e-12)/b) }

func TestLengthIsExact(t *testing.T) {
	for _, from := range rates {
		for _, n := range []int{0, 1, 2, 3, 10, 159, 160, 161, 1000, 4801, 44101} {
			out, err := Resample(make([]float32, n), from, 16000)
			if err != nil {
				t.Fatal(err)
			}
			want := int(math.Floor(float64(n)*16000/float64(from) + 0.5))
			if len(out) != want {
				t.Errorf("%d samples at %d Hz became %d, want %d", n, from, len(out), want)
			}
		}
	}
}

func TestAliasesAreGone(t *testing.T) {
	for _, from := range rates {
		for _, hz := range []float64{8100, 8500, 9000, 10000, 12000, 15000, 20000, 40000, 90000} {
			if hz >= float64(from)/2 {
				continue
			}
			in := tone(hz, from, 1)
			out, err := Resample(in, from, 16000)
			if err != nil {
				t.Fatal(err)
			}
			if d := db(middle(out), middle(in)); d > -80 {
				t.Errorf("a tone of %v Hz at %d Hz comes through at %.1f dB", hz, from, d)
			}
		}
	}
}

func TestSpeechBandIsKept(t *testing.T) {
	for _, from := range rates {
		for _, hz := range []float64{50, 300, 1000, 3400, 7000} {
			if hz >= 0.9*float64(from)/2 {
				continue
			}
			in := tone(hz, from, 1)
			out, err := Resample(in, from, 16000)
			if err != nil {
				t.Fatal(err)
			}
			if d := db(middle(out), middle(in)); math.Abs(d) > 0.1 {
				t.Errorf("a tone of %v Hz at %d Hz changes by %.2f dB", hz, from, d)
			}
			// In phase with the same tone made at 16 kHz: the delay is taken out.
			want := tone(hz, 16000, 1)
			var worst float64
			for i := 4000; i < 12000; i++ {
				worst = max(worst, math.Abs(float64(out[i]-want[i])))
			}
			if worst > 0.01 {
				t.Errorf("a tone of %v Hz at %d Hz is off by %v", hz, from, worst)
			}
		}
	}
}

func noise(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]float32, n)
	for i := range out {
		out[i] = r.Float32() - 0.5
	}
	return out
}

func same(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return false
		}
	}
	return true
}

func TestTwoTakesEqualTwoFreshRuns(t *testing.T) {
	a, b := noise(30000, 1), noise(20000, 2)
	firstA, err := Resample(a, 44100, 16000)
	if err != nil {
		t.Fatal(err)
	}
	firstB, _ := Resample(b, 44100, 16000)
	againB, _ := Resample(b, 44100, 16000)
	againA, _ := Resample(a, 44100, 16000)
	if !same(firstA, againA) || !same(firstB, againB) {
		t.Fatal("a run depends on the run before it")
	}
}

func TestBlocksDontMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SampledFrom(rates).Draw(t, "from")
		to := rapid.SampledFrom(rates).Draw(t, "to")
		in := noise(rapid.IntRange(0, 30000).Draw(t, "n"), 3)
		want, err := Resample(in, from, to)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewStream(from, to)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var got []float32
		for rest := in; len(rest) > 0; {
			n := min(rapid.IntRange(1, 20000).Draw(t, "block"), len(rest))
			if got, err = s.Write(got, rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if got, err = s.Flush(got); err != nil {
			t.Fatal(err)
		}
		if !same(got, want) {
			t.Fatalf("%d→%d: blocks give %d samples, one call %d, or other bits", from, to, len(got), len(want))
		}
	})
}

func TestWriteUsesTheRoomItIsGiven(t *testing.T) {
	in := noise(48000, 4)
	s, err := NewStream(48000, 16000)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dst := make([]float32, 0, Len(len(in), 48000, 16000))
	out, err := s.Write(dst, in)
	if err != nil {
		t.Fatal(err)
	}
	if out, err = s.Flush(out); err != nil {
		t.Fatal(err)
	}
	if len(out) != cap(dst) || &out[0] != &dst[:1][0] {
		t.Error("the samples moved to another array")
	}
}

func TestAbsurdRatesAreRefused(t *testing.T) {
	for _, c := range [][2]int{{0, 16000}, {16000, 0}, {-1, 16000}, {999, 16000}, {768001, 16000}, {16000, math.MaxInt32}, {math.MinInt32, 1}} {
		_, err := Resample([]float32{1}, c[0], c[1])
		var re *RateError
		if !errors.As(err, &re) || re.From != c[0] || re.To != c[1] {
			t.Errorf("%v: %v", c, err)
		}
	}
	for _, c := range [][2]int{{MinRate, MaxRate}, {MaxRate, MinRate}} {
		if out, err := Resample(noise(5000, 5), c[0], c[1]); err != nil || len(out) != Len(5000, c[0], c[1]) {
			t.Errorf("%v: %d samples, %v", c, len(out), err)
		}
	}
}

func TestEmptyAndEqualRates(t *testing.T) {
	if out, err := Resample(nil, 44100, 16000); err != nil || len(out) != 0 {
		t.Errorf("nothing became %v, %v", out, err)
	}
	in := noise(100, 6)
	out, err := Resample(in, 16000, 16000)
	if err != nil || !same(in, out) {
		t.Errorf("equal rates change the signal: %v", err)
	}
	out[0]++
	if out[0] == in[0] {
		t.Error("equal rates share the array")
	}
}

func TestAfterTheEnd(t *testing.T) {
	s, err := NewStream(48000, 16000)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Flush(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(nil, []float32{1}); err == nil {
		t.Error("a write after the end was taken")
	}
	s.Close()
	s.Close()
	if _, err := s.Flush(nil); err == nil {
		t.Error("a closed stream was flushed")
	}
}

func BenchmarkResample3s(b *testing.B) {
	for _, from := range []int{8000, 44100, 48000} {
		in := noise(3*from, 7)
		b.Run(map[int]string{8000: "8000", 44100: "44100", 48000: "48000"}[from], func(b *testing.B) {
			for b.Loop() {
				if _, err := Resample(in, from, 16000); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
