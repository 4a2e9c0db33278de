package augment

import (
	"fmt"
	"math"
	"math/rand/v2"

	"blockworld-voice/internal/pcm"
	"blockworld-voice/internal/soxr"
)

// White adds white noise at SNR dB under the active level.
type White struct{ SNR float64 }

func (s White) String() string { return fmt.Sprintf("white noise at %g dB", s.SNR) }

func (s White) apply(x []float32, r *rand.Rand) ([]float32, error) {
	return addNoise(x, white(len(x), r), s.SNR), nil
}

// Pink adds noise with equal energy in every octave, as fans and streets have, at SNR dB.
type Pink struct{ SNR float64 }

func (s Pink) String() string { return fmt.Sprintf("pink noise at %g dB", s.SNR) }

func (s Pink) apply(x []float32, r *rand.Rand) ([]float32, error) {
	return addNoise(x, pink(len(x), r), s.SNR), nil
}

func addNoise(x, noise []float32, snr float64) []float32 {
	level := ActiveLevel(x)
	rms := pcm.RMS(noise)
	if level == 0 || rms == 0 {
		return x
	}
	g := level * pcm.Gain(-snr) / rms
	for i, v := range noise {
		x[i] += float32(g * float64(v))
	}
	return x
}

func white(n int, r *rand.Rand) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(r.NormFloat64())
	}
	return out
}

// pink sums white noises through one-pole low-passes an octave apart, each weighted so that the sum
// falls by 3 dB an octave from 20 Hz to the end of the band.
func pink(n int, r *rand.Rand) []float32 {
	out := make([]float32, n)
	for hz := 20.0; hz < Rate/2; hz *= 2 {
		a := 1 - math.Exp(-2*math.Pi*hz/Rate)
		weight := 1 / math.Sqrt(hz)
		y := 0.0
		for range int(4 * Rate / (2 * math.Pi * hz)) { // let it settle
			y += a * (r.NormFloat64() - y)
		}
		for i := range out {
			y += a * (r.NormFloat64() - y)
			out[i] += float32(weight * y)
		}
	}
	return out
}

// Room adds the reverberation of a room: noise that decays by 60 dB in RT60 seconds, Direct dB under
// the direct sound. The clip keeps its length.
type Room struct{ RT60, Direct float64 }

func (s Room) String() string {
	return fmt.Sprintf("a room of %g s, direct sound %+g dB", s.RT60, s.Direct)
}

func (s Room) apply(x []float32, r *rand.Rand) ([]float32, error) {
	return convolve(x, s.response(r))[:len(x)], nil
}

// response is the room's answer to one impulse; the first reflection comes after 2.5 ms.
func (s Room) response(r *rand.Rand) []float32 {
	out := make([]float32, max(2, int(s.RT60*Rate)))
	var energy float64
	for i := Rate / 400; i < len(out); i++ {
		v := r.NormFloat64() * math.Pow(10, -3*float64(i)/(s.RT60*Rate))
		out[i] = float32(v)
		energy += v * v
	}
	if energy > 0 {
		scale(out, pcm.Gain(-s.Direct)/math.Sqrt(energy))
	}
	out[0] = 1
	return out
}

// Gain changes the level.
type Gain struct{ DB float64 }

func (s Gain) String() string { return fmt.Sprintf("level %+g dB", s.DB) }

func (s Gain) apply(x []float32, _ *rand.Rand) ([]float32, error) {
	scale(x, pcm.Gain(s.DB))
	return x, nil
}

// CutStart loses the beginning of the speech, as a microphone that opens late does: what is before
// the first sound and Seconds after it.
type CutStart struct{ Seconds float64 }

func (s CutStart) String() string { return fmt.Sprintf("the first %g s lost", s.Seconds) }

func (s CutStart) apply(x []float32, _ *rand.Rand) ([]float32, error) {
	const piece = Rate / 100
	threshold := ActiveLevel(x) * pcm.Gain(-25)
	start := 0
	for at := 0; at < len(x); at += piece {
		if rms := pcm.RMS(x[at:min(at+piece, len(x))]); rms > 0 && rms >= threshold {
			start = at
			break
		}
	}
	return x[min(len(x), start+int(s.Seconds*Rate)):], nil
}

// Headset keeps 300–3400 Hz, the band of a telephone or a narrow-band headset.
type Headset struct{}

func (Headset) String() string { return "300–3400 Hz" }

func (Headset) apply(x []float32, _ *rand.Rand) ([]float32, error) {
	band := bandPass(300, 3400)
	return convolve(x, band)[len(band)/2:][:len(x)], nil
}

// bandPass is a linear-phase filter with transitions of about 120 Hz; its delay is half its length.
func bandPass(low, high float64) []float32 {
	const half = 256
	out := make([]float32, 2*half+1)
	for i := range out {
		t := float64(i - half)
		v := 2 * (high - low) / Rate
		if t != 0 {
			v = (math.Sin(2*math.Pi*high*t/Rate) - math.Sin(2*math.Pi*low*t/Rate)) / (math.Pi * t)
		}
		window := 0.42 + 0.5*math.Cos(math.Pi*t/half) + 0.08*math.Cos(2*math.Pi*t/half)
		out[i] = float32(v * window)
	}
	return out
}

// Through converts to another sample rate and back.
type Through struct{ Rate int }

func (s Through) String() string { return fmt.Sprintf("through %d Hz", s.Rate) }

func (s Through) apply(x []float32, _ *rand.Rand) ([]float32, error) {
	there, err := soxr.Resample(x, Rate, s.Rate)
	if err != nil {
		return nil, err
	}
	back, err := soxr.Resample(there, s.Rate, Rate)
	if err != nil {
		return nil, err
	}
	for len(back) < len(x) {
		back = append(back, 0)
	}
	return back[:len(x)], nil
}
