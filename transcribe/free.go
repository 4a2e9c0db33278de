package transcribe

import (
	"context"
	"strings"

	"blockworld-voice/internal/lang"
)

// maxFree is the longest free text, in tokens.
const maxFree = 48

// free writes down what the clip sounds like to the model, without a grammar: greedy,
// without timestamps. It is shown to people beside a refusal and never parsed.
func (w *worker) free(ctx context.Context, req Request, heard map[lang.Language]float64, again bool) (string, error) {
	if again {
		if err := w.audio.encode(req.Samples, w.audioContext(len(req.Samples))); err != nil {
			return "", err
		}
	}
	best := req.Lexicons[0]
	for _, l := range req.Lexicons[1:] {
		if heard[l.Language] > heard[best.Language] {
			best = l
		}
	}
	prompt, err := w.prompt(Lexicon{Language: best.Language})
	if err != nil {
		return "", err
	}
	rows, err := w.audio.Prime(prompt)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for range maxFree {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		logits, _ := rows.Row(0)
		t := w.vocab.end
		for i, x := range logits[:w.vocab.end] {
			if x > logits[t] {
				t = Token(i)
			}
		}
		if t == w.vocab.end {
			break
		}
		out.WriteString(w.vocab.Bytes(t))
		if rows, err = w.audio.Extend([]int32{0}, []Token{t}); err != nil {
			return "", err
		}
	}
	return strings.TrimSpace(strings.ToValidUTF8(out.String(), "")), nil
}
