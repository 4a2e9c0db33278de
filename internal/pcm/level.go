package pcm

import "math"

// Quietest is the level that stands for nothing at all: below one bit of 24, and finite, so that it
// can stand in a JSON document.
const Quietest = -160.0

// DBFS is the level of an amplitude in decibels below full scale (1.0 is 0 dBFS), never under Quietest.
func DBFS(amplitude float64) float64 {
	a := math.Abs(amplitude)
	if !(a > 1e-8) {
		return Quietest
	}
	return 20 * math.Log10(a)
}

// Gain is the factor of a level in decibels.
func Gain(db float64) float64 { return math.Pow(10, db/20) }

// Peak is the largest magnitude, 0 without samples.
func Peak(samples []float32) float64 {
	var p float32
	for _, v := range samples {
		p = max(p, v, -v)
	}
	return float64(p)
}

// RMS is the root of the mean square, 0 without samples.
func RMS(samples []float32) float64 {
	if len(samples) == 0 {
		return 0
	}
	var sum float64
	for _, v := range samples {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(len(samples)))
}
