// Package augment makes a clip worse in ways that microphones, rooms and lines do: noise,
// reverberation, level, a lost beginning, a narrow band, another sample rate. It serves tests and
// the evaluation of a recogniser; nothing of it is on the way of an instruction.
//
// Everything is decided by the condition, the seed and the samples: equal arguments give equal
// bits. Samples are 16 kHz mono, and the caller's are never changed.
package augment

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"

	"blockworld-voice/internal/pcm"
)

// Rate is the sample rate of everything here.
const Rate = 16000

// Step is one way to make a clip worse.
type Step interface {
	fmt.Stringer
	// apply may change x and return it.
	apply(x []float32, r *rand.Rand) ([]float32, error)
}

// Condition is a named row of steps, applied in order.
type Condition struct {
	Name  string
	Steps []Step
}

// Conditions is the table that evaluations go by. Names are promises: a condition that changes gets
// a new name, or reports of different days couldn't be compared.
func Conditions() []Condition {
	return []Condition{
		{"clean", nil},
		{"white-20", []Step{White{20}}},
		{"white-15", []Step{White{15}}},
		{"white-10", []Step{White{10}}},
		{"pink-20", []Step{Pink{20}}},
		{"pink-15", []Step{Pink{15}}},
		{"pink-10", []Step{Pink{10}}},
		{"room-300ms", []Step{Room{RT60: 0.3, Direct: 6}}},
		{"room-600ms", []Step{Room{RT60: 0.6, Direct: 3}}},
		{"quiet-20", []Step{Gain{-20}}},
		{"quiet-30", []Step{Gain{-30}}},
		{"cut-30ms", []Step{CutStart{0.03}}},
		{"cut-100ms", []Step{CutStart{0.1}}},
		{"headset", []Step{Headset{}}},
		{"rate-8000", []Step{Through{8000}}},
		{"rate-11025", []Step{Through{11025}}},
		{"rate-44100", []Step{Through{44100}}},
		{"desk", []Step{Room{RT60: 0.3, Direct: 6}, Pink{15}, Gain{-12}}},
		{"line", []Step{Headset{}, White{20}}},
	}
}

// Named finds a condition of the table.
func Named(name string) (Condition, error) {
	var known []string
	for _, c := range Conditions() {
		if c.Name == name {
			return c, nil
		}
		known = append(known, c.Name)
	}
	return Condition{}, fmt.Errorf("there is no condition %q; there are %s", name, strings.Join(known, ", "))
}

// Apply returns a worse copy of samples. If a step makes it too loud, the whole is made softer
// rather than limited, so that the step stays linear.
func (c Condition) Apply(samples []float32, seed uint64) ([]float32, error) {
	h := fnv.New64a()
	h.Write([]byte(c.Name))
	r := rand.New(rand.NewPCG(seed, h.Sum64()))
	x := append(make([]float32, 0, len(samples)), samples...)
	for _, s := range c.Steps {
		var err error
		if x, err = s.apply(x, r); err != nil {
			return nil, fmt.Errorf("condition %s, %v: %w", c.Name, s, err)
		}
	}
	if p := pcm.Peak(x); p > 1 {
		scale(x, 1/p)
		pcm.Clamp(x)
	}
	return x, nil
}

// ActiveLevel is the RMS of the speech itself: of the 20 ms pieces within 25 dB of the loudest. A
// signal-to-noise ratio is counted from it, so that pauses don't change the noise.
func ActiveLevel(x []float32) float64 {
	const piece = Rate / 50
	var powers []float64
	loudest := 0.0
	for at := 0; at < len(x); at += piece {
		rms := pcm.RMS(x[at:min(at+piece, len(x))])
		powers = append(powers, rms*rms)
		loudest = max(loudest, rms*rms)
	}
	var sum float64
	n := 0
	for _, p := range powers {
		if p > 0 && p >= loudest*math.Pow(10, -2.5) {
			sum += p
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return math.Sqrt(sum / float64(n))
}

func scale(x []float32, g float64) {
	for i, v := range x {
		x[i] = float32(g * float64(v))
	}
}
