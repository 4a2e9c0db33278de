package convert

import "math"

const (
	sampleRate = 16000
	fftSize    = 400
	fftBins    = fftSize/2 + 1
)

// melFilters returns the mel filter bank that Whisper was trained with: bands triangles of
// Slaney's scale and norm over the bins of the transform, band by band. The products are
// rounded one by one, so that every processor gives the same bits.
func melFilters(bands int) []float32 {
	edge := make([]float64, bands+2)
	top := hzToMel(sampleRate / 2)
	for i := range edge {
		edge[i] = melToHz(float64(float64(i) * (top / float64(bands+1))))
	}
	edge[bands+1] = melToHz(top)
	out := make([]float32, 0, bands*fftBins)
	for b := range bands {
		low, mid, high := edge[b], edge[b+1], edge[b+2]
		norm := 2 / (high - low)
		for k := range fftBins {
			hz := float64(k) * sampleRate / fftSize
			w := min((hz-low)/(mid-low), (high-hz)/(high-mid))
			// The original keeps the triangles in 32 bits before it applies the norm.
			out = append(out, float32(float64(float32(max(w, 0)))*norm))
		}
	}
	return out
}

// Below 1000 Hz a mel is 200/3 Hz, above it the scale is logarithmic with 27 mels to a factor of 6.4.
const (
	melHz   = 200.0 / 3
	logFrom = 1000.0
	logMel  = logFrom / melHz
)

var logStep = math.Log(6.4) / 27

func hzToMel(hz float64) float64 {
	if hz < logFrom {
		return hz / melHz
	}
	return logMel + math.Log(hz/logFrom)/logStep
}

func melToHz(mel float64) float64 {
	if mel < logMel {
		return float64(melHz * mel)
	}
	return float64(logFrom * math.Exp(float64(logStep*(mel-logMel))))
}
