package capture

import (
	"math"
	"slices"

	"blockworld-voice/internal/pcm"
)

// The gate looks at a frame each hop, through windows that are centred on it.
const (
	hopMS       = 10
	hop         = hopMS * Rate / 1000
	levelWindow = Rate / 50 // 20 ms, for level and zero crossings
	pitchStep   = 4         // a pitch is looked for at 4 kHz
	pitchRate   = Rate / pitchStep
	pitchWindow = pitchRate / 25  // 40 ms
	minLag      = pitchRate / 400 // of a pitch; a higher one repeats at a multiple
	maxLag      = pitchRate / 67
	lpcOrder    = 4
)

// frame is what the gate knows of 10 ms.
type frame struct {
	level  float64 // dBFS over about 100 Hz
	zcr    float64 // zero crossings a sample
	repeat float64 // how strongly it repeats at a voice's pitch, 0…1
	rest   float64 // share of the energy that a short linear predictor doesn't explain
	steady bool    // level and zero crossings are those of both neighbours
}

// tonal is a frame that is one or two steady tones, such as a cue or a hum, and no voice.
func (f frame) tonal() bool { return f.rest <= 0.003 || f.steady }

// frames analyses a signal; repeat and rest are looked at only where the level reaches quiet.
func frames(samples []float32, quiet float64) []frame {
	x := highPass(samples)
	out := make([]frame, (len(x)+hop-1)/hop)
	for i := range out {
		at := i*hop + hop/2
		w := x[max(0, at-levelWindow/2):min(len(x), at+levelWindow/2)]
		out[i] = frame{level: pcm.DBFS(pcm.RMS(w)), zcr: crossings(w)}
	}
	for i := range out {
		out[i].steady = i > 0 && i+1 < len(out) && alike(out[i], out[i-1]) && alike(out[i], out[i+1])
	}
	slow := decimate(x)
	for i := range out {
		lo := (i*hop+hop/2)/pitchStep - pitchWindow/2
		if lo >= 0 && lo+pitchWindow <= len(slow) && out[i].level >= quiet {
			out[i].repeat, out[i].rest = periodicity(slow[lo : lo+pitchWindow])
		}
	}
	return out
}

func alike(a, b frame) bool {
	return math.Abs(a.level-b.level) <= 0.5 && math.Abs(a.zcr-b.zcr) <= 2.1/(levelWindow-1)
}

func crossings(w []float32) float64 {
	n := 0
	for i := 1; i < len(w); i++ {
		if (w[i] >= 0) != (w[i-1] >= 0) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(w)-1))
}

// highPass takes out what is under about 100 Hz: offset, hum and rumble carry no speech.
func highPass(in []float32) []float32 {
	const r = 0.962
	out := make([]float32, len(in))
	var x1, y1, z1 float64
	for i, v := range in {
		x := float64(v)
		y := x - x1 + r*y1
		z := y - y1 + r*z1
		x1, y1, z1 = x, y, z
		out[i] = float32(z)
	}
	return out
}

// lowPass is a symmetric low-pass at about 1.7 kHz for 16 kHz, good enough to find a pitch at 4 kHz.
var lowPass = [...]float64{-0.006, -0.017, -0.021, 0.004, 0.067, 0.153, 0.226, 0.256, 0.226, 0.153, 0.067, 0.004, -0.021, -0.017, -0.006}

func decimate(x []float32) []float64 {
	out := make([]float64, len(x)/pitchStep)
	for i := range out {
		var sum float64
		for k, c := range lowPass {
			if at := i*pitchStep + k - len(lowPass)/2; at >= 0 && at < len(x) {
				sum += c * float64(x[at])
			}
		}
		out[i] = sum
	}
	return out
}

// periodicity takes out of a window what a short linear predictor explains and says how strongly
// the rest repeats at a voice's pitch, and how large that rest is. Of a voice, its pulses are left;
// of coloured noise, white noise; of a steady tone, next to nothing.
func periodicity(w []float64) (repeat, rest float64) {
	var r [lpcOrder + 1]float64
	for lag := range r {
		for i := lag; i < len(w); i++ {
			r[lag] += w[i] * w[i-lag]
		}
	}
	total := r[0]
	if total <= 1e-12 {
		return 0, 0
	}
	r[0] *= 1 + 1e-5 // keeps the predictor finite for a pure tone
	a := levinson(r)
	var residual [pitchWindow]float64
	var energy [pitchWindow + 1]float64 // running sum of its squares
	e := residual[:len(w)-lpcOrder]
	for i := range e {
		v := w[i+lpcOrder]
		for k, c := range a {
			v -= c * w[i+lpcOrder-1-k]
		}
		e[i] = v
		energy[i+1] = energy[i] + v*v
	}
	n := len(e)
	for lag := minLag; lag <= maxLag && lag < n/2; lag++ {
		var xy float64
		late := e[lag:]
		for i, v := range e[:len(late)] {
			xy += v * late[i]
		}
		if d := math.Sqrt((energy[n] - energy[lag]) * energy[n-lag]); d > 0 {
			repeat = max(repeat, xy/d)
		}
	}
	return repeat, energy[n] / total
}

// levinson solves for the predictor of an autocorrelation.
func levinson(r [lpcOrder + 1]float64) (a [lpcOrder]float64) {
	e := r[0]
	for i := range lpcOrder {
		k := r[i+1]
		for j := range i {
			k -= a[j] * r[i-j]
		}
		k /= e
		next := a
		next[i] = k
		for j := range i {
			next[j] = a[j] - k*a[i-1-j]
		}
		a = next
		e *= 1 - k*k
	}
	return a
}

// quantile is the value below which a share q of v lies; it sorts v. v is not empty.
func quantile(v []float64, q float64) float64 {
	slices.Sort(v)
	return v[min(len(v)-1, int(q*float64(len(v))))]
}
