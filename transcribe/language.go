package transcribe

import (
	"math"

	"blockworld-voice/internal/lang"
)

// share is the least probability of a language beside the most probable one for it to
// be tried. Slovak and Czech stand for each other here.
const share = 0.05

// likely returns the lexicons of the languages that the clip may be in. One lexicon is
// returned as it is.
func likely(ls []Lexicon, heard map[lang.Language]float64) []Lexicon {
	if len(ls) < 2 {
		return ls
	}
	best := math.Inf(-1)
	for _, l := range ls {
		best = max(best, kin(heard, l.Language))
	}
	var out []Lexicon
	for _, l := range ls {
		if kin(heard, l.Language) >= best+math.Log(share) {
			out = append(out, l)
		}
	}
	return out
}

// kin is the log share of a language and of the one that the model takes it for: it
// calls most Slovak clips Czech, but neither English.
func kin(heard map[lang.Language]float64, l lang.Language) float64 {
	if l == lang.EN {
		return heard[lang.EN]
	}
	return logAdd(heard[lang.SK], heard[lang.CS])
}

// languages returns the logarithm of the model's probability that the clip is in each
// language, as shares of the three.
func (w *worker) languages() (map[lang.Language]float64, error) {
	out := map[lang.Language]float64{}
	if !w.model.Multilingual() {
		out[lang.EN] = 0
		return out, nil
	}
	rows, err := w.audio.Prime([]Token{w.model.Special().StartOfTranscript})
	if err != nil {
		return nil, err
	}
	sum := math.Inf(-1)
	for _, l := range lang.All() {
		t, err := w.model.Language(l.String())
		if err != nil {
			return nil, err
		}
		out[l] = float64(rows.LogProb(0, t))
		sum = logAdd(sum, out[l])
	}
	for l := range out {
		out[l] -= sum
	}
	return out, nil
}
