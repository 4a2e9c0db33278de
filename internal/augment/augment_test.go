package augment

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"blockworld-voice/internal/pcm"
)

// speechlike is bursts of a rich tone with pauses.
func speechlike(seconds float64) []float32 {
	out := make([]float32, int(seconds*Rate))
	for i := range out {
		t := float64(i) / Rate
		if math.Mod(t, 0.5) < 0.15 {
			continue
		}
		for h := 1; h < 20; h++ {
			out[i] += float32(0.2 / float64(h) * math.Sin(2*math.Pi*150*float64(h)*t))
		}
	}
	return out
}

func tone(hz, seconds float64) []float32 {
	out := make([]float32, int(seconds*Rate))
	for i := range out {
		out[i] = float32(0.5 * math.Sin(2*math.Pi*hz*float64(i)/Rate))
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

func random(x []float32, seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(len(x)))) }

func TestConditions(t *testing.T) {
	in := speechlike(2)
	keep := append([]float32(nil), in...)
	seen := map[string]bool{}
	for _, c := range Conditions() {
		if seen[c.Name] || strings.ContainsAny(c.Name, " /\t") {
			t.Errorf("the name %q is there twice or can't be a file's", c.Name)
		}
		seen[c.Name] = true
		if named, err := Named(c.Name); err != nil || len(named.Steps) != len(c.Steps) {
			t.Errorf("%s can't be found: %v", c.Name, err)
		}
		a, err := c.Apply(in, 1)
		if err != nil {
			t.Fatal(err)
		}
		b, err := c.Apply(in, 1)
		if err != nil || !same(a, b) {
			t.Errorf("%s: one seed, two results (%v)", c.Name, err)
		}
		other, err := c.Apply(in, 2)
		if err != nil {
			t.Fatal(err)
		}
		if random := strings.Contains(c.Name, "white") || strings.Contains(c.Name, "pink") || strings.Contains(c.Name, "room") || c.Name == "desk" || c.Name == "line"; random == same(a, other) {
			t.Errorf("%s: the seed changes the result: %v", c.Name, !random)
		}
		if (c.Name == "clean") != same(a, in) {
			t.Errorf("%s: changes nothing, or changes a clean clip", c.Name)
		}
		if want := len(in); !strings.HasPrefix(c.Name, "cut") && len(a) != want {
			t.Errorf("%s: %d samples of %d", c.Name, len(a), want)
		}
		for _, v := range a {
			if !(v >= -1 && v <= 1) {
				t.Fatalf("%s: a sample is %v", c.Name, v)
			}
		}
		for _, x := range [][]float32{nil, {0.5}, make([]float32, 100)} {
			if out, err := c.Apply(x, 1); err != nil || len(out) > len(x) {
				t.Errorf("%s of %d samples: %d, %v", c.Name, len(x), len(out), err)
			}
		}
	}
	if !same(in, keep) {
		t.Error("the caller's samples were changed")
	}
	if _, err := Named("whie-20"); err == nil || !strings.Contains(err.Error(), "white-20") {
		t.Errorf("%v", err)
	}
}

func TestNoiseLevel(t *testing.T) {
	in := speechlike(4)
	level := ActiveLevel(in)
	if whole := pcm.RMS(in); level < whole*1.1 {
		t.Errorf("pauses count: %v active, %v whole", level, whole)
	}
	for _, snr := range []float64{0, 10, 20} {
		for _, s := range []Step{White{snr}, Pink{snr}} {
			out, err := s.apply(append([]float32(nil), in...), random(in, 3))
			if err != nil {
				t.Fatal(err)
			}
			noise := make([]float32, len(in))
			for i := range noise {
				noise[i] = out[i] - in[i]
			}
			if got := pcm.DBFS(level) - pcm.DBFS(pcm.RMS(noise)); math.Abs(got-snr) > 0.1 {
				t.Errorf("%v: %.2f dB", s, got)
			}
		}
	}
}

// power is the mean energy of a signal between two frequencies.
func power(x []float32, low, high float64) float64 {
	n := 1
	for 2*n <= len(x) {
		n *= 2
	}
	c := make([]complex128, n)
	for i := range c {
		c[i] = complex(float64(x[i]), 0)
	}
	transform(c)
	var sum float64
	for i := int(low * float64(n) / Rate); i < int(high*float64(n)/Rate); i++ {
		sum += real(c[i])*real(c[i]) + imag(c[i])*imag(c[i])
	}
	return sum
}

func TestPinkHasEqualOctaves(t *testing.T) {
	x := pink(1<<17, random(nil, 4))
	want := power(x, 400, 800)
	for hz := 50.0; hz <= 3200; hz *= 2 {
		if d := 10 * math.Log10(power(x, hz, 2*hz)/want); math.Abs(d) > 1.5 {
			t.Errorf("the octave from %v Hz is %.1f dB off", hz, d)
		}
	}
}

func TestRoomDecays(t *testing.T) {
	for _, s := range []Room{{RT60: 0.3, Direct: 6}, {RT60: 0.6, Direct: 0}} {
		h := s.response(random(nil, 5))
		// Energy that is still to come, from the reflections on: it falls from −5 to −35 dB in half of RT60.
		rest := make([]float64, len(h)+1)
		for i := len(h) - 1; i > 0; i-- {
			rest[i] = rest[i+1] + float64(h[i])*float64(h[i])
		}
		if d := 10 * math.Log10(1/rest[1]); math.Abs(d-s.Direct) > 0.1 {
			t.Errorf("%v: direct sound %+.2f dB", s, d)
		}
		at := func(db float64) float64 {
			for i := 1; i < len(rest); i++ {
				if rest[i] < rest[1]*math.Pow(10, db/10) {
					return float64(i) / Rate
				}
			}
			return math.Inf(1)
		}
		if got := 2 * (at(-35) - at(-5)); math.Abs(got/s.RT60-1) > 0.1 {
			t.Errorf("%v: decays in %.3f s", s, got)
		}
	}
}

func TestConvolveIsTheSum(t *testing.T) {
	r := random(nil, 6)
	for _, n := range [][2]int{{1, 1}, {5, 3}, {100, 37}, {64, 65}} {
		a, b := white(n[0], r), white(n[1], r)
		got := convolve(a, b)
		if len(got) != n[0]+n[1]-1 {
			t.Fatalf("%v: %d samples", n, len(got))
		}
		for i := range got {
			var want float64
			for j := range a {
				if k := i - j; k >= 0 && k < len(b) {
					want += float64(a[j]) * float64(b[k])
				}
			}
			if math.Abs(float64(got[i])-want) > 1e-4 {
				t.Fatalf("%v sample %d: %v, want %v", n, i, got[i], want)
			}
		}
	}
}

func through(t *testing.T, s Step, x []float32) float64 {
	t.Helper()
	before := pcm.RMS(x[len(x)/4 : 3*len(x)/4])
	out, err := s.apply(append([]float32(nil), x...), random(nil, 7))
	if err != nil {
		t.Fatal(err)
	}
	return pcm.DBFS(pcm.RMS(out[len(out)/4:3*len(out)/4])) - pcm.DBFS(before)
}

func TestBands(t *testing.T) {
	for _, c := range []struct {
		step Step
		hz   float64
		keep bool
	}{
		{Headset{}, 100, false}, {Headset{}, 200, false}, {Headset{}, 400, true}, {Headset{}, 1000, true}, {Headset{}, 3200, true}, {Headset{}, 3600, false}, {Headset{}, 6000, false},
		{Through{8000}, 300, true}, {Through{8000}, 3500, true}, {Through{8000}, 4200, false}, {Through{8000}, 7000, false},
		{Through{44100}, 300, true}, {Through{44100}, 7000, true},
	} {
		d := through(t, c.step, tone(c.hz, 1))
		if c.keep && math.Abs(d) > 0.1 || !c.keep && d > -40 {
			t.Errorf("%v at %v Hz: %.1f dB", c.step, c.hz, d)
		}
	}
}

func TestGainAndCut(t *testing.T) {
	x := append(make([]float32, 3200), tone(300, 1)...)
	if d := through(t, Gain{-20}, x); math.Abs(d+20) > 0.01 {
		t.Errorf("−20 dB is %.2f dB", d)
	}
	out, err := CutStart{0.1}.apply(append([]float32(nil), x...), nil)
	if err != nil || !same(out, x[3200+1600:]) {
		t.Errorf("%d samples are left of %d, %v", len(out), len(x), err)
	}
	if out, err := (CutStart{9}).apply(x, nil); err != nil || len(out) != 0 {
		t.Errorf("%d samples, %v", len(out), err)
	}
}
