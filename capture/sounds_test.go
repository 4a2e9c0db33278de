package capture

import (
	"fmt"
	"math"
	"math/rand/v2"

	"blockworld-voice/internal/pcm"
)

// sounds makes seeded sounds at 16 kHz: what a microphone hears when nobody speaks.
type sounds struct{ r *rand.Rand }

func newSounds(seed uint64) sounds { return sounds{rand.New(rand.NewPCG(seed, 0x50c))} }

func (s sounds) white(seconds, dbfs float64) []float32 {
	out := make([]float32, int(seconds*Rate))
	g := pcm.Gain(dbfs)
	for i := range out {
		out[i] = float32(g * s.r.NormFloat64())
	}
	return out
}

// fan is stationary noise under about hz, at a level.
func (s sounds) fan(seconds, hz, dbfs float64) []float32 {
	out := s.white(seconds, 0)
	onePole(out, hz)
	onePole(out, hz)
	scale(out, pcm.Gain(dbfs)/pcm.RMS(out))
	return out
}

func onePole(x []float32, hz float64) {
	a := 1 - math.Exp(-2*math.Pi*hz/Rate)
	var y float64
	for i, v := range x {
		y += a * (float64(v) - y)
		x[i] = float32(y)
	}
}

func scale(x []float32, g float64) {
	for i := range x {
		x[i] = float32(g * float64(x[i]))
	}
}

func add(a, b []float32) []float32 {
	out := make([]float32, max(len(a), len(b)))
	copy(out, a)
	for i, v := range b {
		out[i] += v
	}
	return out
}

// dither is ±1 LSB of 16 bits.
func (s sounds) dither(seconds float64) []float32 {
	out := make([]float32, int(seconds*Rate))
	for i := range out {
		out[i] = float32(s.r.IntN(3)-1) / 32768
	}
	return out
}

// cue is a tone of some length and then silence; harmonics > 1 makes it richer.
func cue(hz, seconds, total float64, harmonics int) []float32 {
	out := make([]float32, int(total*Rate))
	for i := range int(seconds * Rate) {
		for h := 1; h <= harmonics; h++ {
			out[i] += float32(0.3 / float64(h) * math.Sin(2*math.Pi*hz*float64(h)*float64(i)/Rate))
		}
	}
	return out
}

// bell is a cue that dies away.
func bell(hz float64) []float32 {
	out := make([]float32, Rate)
	for i := range out {
		t := float64(i) / Rate
		out[i] = float32(0.5 * math.Exp(-t/0.1) * math.Sin(2*math.Pi*hz*t))
	}
	return out
}

// clicks are keys: bursts that ring for 2 ms and up to ring more, a few a second.
func (s sounds) clicks(seconds, ring float64) []float32 {
	out := make([]float32, int(seconds*Rate))
	for at := 800; at < len(out)-Rate/10; at += 1400 + s.r.IntN(3000) {
		hz, decay, noise := 200+3800*s.r.Float64(), 0.002+ring*s.r.Float64(), s.r.Float64()
		g := 0.05 + 0.3*s.r.Float64()
		for i := range Rate / 10 {
			t := float64(i) / Rate
			out[at+i] += float32(g * math.Exp(-t/decay) * (noise*s.r.NormFloat64() + (1-noise)*math.Sin(2*math.Pi*hz*t)))
		}
	}
	return out
}

// breath is noise of one colour that swells and fades once.
func (s sounds) breath(seconds, hz float64) []float32 {
	out := s.fan(seconds, hz, -25)
	for i := range out {
		e := math.Sin(math.Pi * float64(i) / float64(len(out)))
		out[i] *= float32(e * e)
	}
	return append(append(make([]float32, Rate/2), out...), make([]float32, Rate/2)...)
}

// hum is what a mains cable adds: 100 Hz and its harmonics.
func hum100(seconds float64) []float32 {
	return cue(100, seconds, seconds, 6)
}

// rows of the table of what must not pass. The levels and lengths are those of the reports.
func (s sounds) withoutSpeech() map[string][]float32 {
	room := func(x []float32) []float32 { return add(x, s.white(float64(len(x))/Rate, -66)) }
	offset := make([]float32, Rate)
	for i := range offset {
		offset[i] = 0.2
	}
	m := map[string][]float32{
		"nothing":                         {},
		"one sample":                      {0.5},
		"10 ms":                           s.white(0.01, -20),
		"1 s of zeros":                    make([]float32, Rate),
		"1 s of ±1 LSB":                   s.dither(1),
		"a constant offset":               offset,
		"1 s of noise at −60 dB":          s.white(1, -60),
		"white noise at −35 dB":           s.white(3, -35),
		"loud white noise":                s.white(3, -12),
		"zeros, then noise":               append(make([]float32, Rate), s.white(1, -40)...),
		"a tone for 200 ms, then silence": cue(880, 0.2, 1.2, 1),
		"a tone for 200 ms in a room":     room(cue(660, 0.2, 1.2, 1)),
		"two tones":                       add(cue(697, 0.2, 1, 1), cue(1209, 0.2, 1, 1)),
		"a rich tone":                     room(cue(440, 0.2, 1, 5)),
		"a bell":                          bell(1200),
		"a bell in a room":                room(bell(700)),
		"mains hum":                       hum100(2),
		"mains hum in a room":             room(hum100(2)),
		"key clicks":                      s.clicks(3, 0.007),
		"key clicks in a room":            room(s.clicks(3, 0.007)),
		"one click":                       room(s.clicks(0.35, 0.007)),
		"short clicks in a room":          room(s.clicks(3, 0)),
		"a breath":                        room(s.breath(0.7, 1500)),
		"a dark breath":                   room(s.breath(0.6, 700)),
		"a bright breath":                 s.breath(0.5, 4000),
	}
	for _, hz := range []float64{100, 200, 400, 800, 2000} {
		m[fmt.Sprintf("fan under %v Hz", hz)] = s.fan(2, hz, -35)
		m[fmt.Sprintf("loud fan under %v Hz", hz)] = s.fan(2, hz, -20)
	}
	return m
}

// long is three minutes of what passes for silence.
func (s sounds) long() map[string][]float32 {
	return map[string][]float32{
		"three minutes of zeros":  make([]float32, 180*Rate),
		"three minutes of dither": s.dither(180),
		"three minutes of a room": s.white(180, -60),
	}
}
