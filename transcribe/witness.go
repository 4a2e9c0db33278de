package transcribe

import (
	"fmt"
	"math"

	"blockworld-voice/internal/soxr"
)

// rivals is the number of readings that a witness compares.
const rivals = 12

// atTempo returns the samples as they sound played tempo times as fast.
func atTempo(samples []float32, tempo float64) ([]float32, error) {
	return soxr.Resample(samples, int(math.Round(16000*tempo)), 16000)
}

// witness scores the readings of one language on the clip at another tempo. Nothing is
// searched: the first reading is compared with those that the search found beside it.
// The state of the engine holds the other tempo afterwards.
func (w *worker) witness(samples []float32, tempo float64, prompt []Token, rs []Scored) (Witness, error) {
	rs = rs[:min(len(rs), rivals)]
	other, err := atTempo(samples, tempo)
	if err != nil {
		return Witness{}, err
	}
	if err := w.audio.encode(other, w.audioContext(len(other))); err != nil {
		return Witness{}, err
	}
	texts := make([][]Token, len(rs))
	for i, r := range rs {
		texts[i] = r.seq
	}
	audio, err := w.audio.teach(prompt, texts, w.vocab.end, true)
	if err != nil {
		return Witness{}, err
	}
	return compare(tempo, rs, audio), nil
}

// compare makes a witness of the readings' log-probabilities at another tempo. What is
// subtracted doesn't depend on the audio and stays as it was.
func compare(tempo float64, rs []Scored, audio []float64) Witness {
	score := func(i int) float64 { return audio[i] - rs[i].sub() }
	best, rival := 0, math.Inf(-1)
	for i := 1; i < len(rs); i++ {
		rival = max(rival, score(i))
		if score(i) > score(best) {
			best = i
		}
	}
	wit := Witness{Tempo: tempo, Key: rs[best].Key, D: score(0) / float64(rs[0].Tokens), Gap: math.MaxFloat32}
	if len(rs) > 1 {
		wit.Gap = score(0) - rival
	}
	return wit
}

// confirm says why a witness does not confirm the reading, or "". l are the limits of this
// reading, with the stricter ones of a careful one.
func (l Limits) confirm(r Scored, w Witness) string {
	switch {
	case w.Key != r.Key:
		return fmt.Sprintf("at tempo %.2f another command is heard", w.Tempo)
	case w.D < l.WitnessD:
		return fmt.Sprintf("at tempo %.2f d is too small", w.Tempo)
	case w.Gap < l.WitnessGap:
		return fmt.Sprintf("at tempo %.2f another command is too near", w.Tempo)
	}
	return ""
}
