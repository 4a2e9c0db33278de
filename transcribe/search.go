package transcribe

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
)

// Rows are the log-probabilities after each sequence of a batch, valid until the next
// call on the Scorer that gave them.
type Rows interface {
	// LogProb is the natural logarithm of the true probability of t in row i: over the
	// whole vocabulary, nothing masked or renormalised.
	LogProb(i int, t Token) float32
	// Row is the whole of row i as logits, and the logarithm of the sum of their exponentials.
	Row(i int) (logits []float32, lse float32)
}

// Scorer is a decoder on one encoding. One goroutine uses it at a time.
type Scorer interface {
	// Prime forgets every sequence and reads the prompt; row 0 is what follows it.
	Prime(prompt []Token) (Rows, error)
	// Extend makes sequence i the continuation of the previous call's sequence
	// parents[i] by tokens[i]; after Prime the only sequence is 0. Sequences that are
	// no parent are forgotten. Row i is what follows sequence i.
	Extend(parents []int32, tokens []Token) (Rows, error)
}

// Search is the beam search over a grammar. The score of a text is
//
//	log P(text | audio) − Subtract · log P(text | silence)
//
// where both are sums over its tokens and the end of text: the second term takes away
// what the model would have said without hearing anything (internal language model
// subtraction, Meng et al. 2021; the estimate from a silent encoding is the "zero-out"
// variant there).
type Search struct {
	Beam      int     // hypotheses kept, ≥ 1
	Subtract  float64 // weight of the silence score, 0 … 1
	Window    float64 // a hypothesis this much below the best of its step is dropped
	Behind    float64 // a hypothesis this much below the best finished text is dropped
	MaxTokens int     // longest text in tokens, end of text not counted
	Tail      int     // tokens tried at each place of a free tail
	Variants  int     // hypotheses kept that differ in letter case or tokens only; 0: any number
	Commas    bool    // try the commas of the grammar too
}

// DefaultSearch returns the settings of a session.
func DefaultSearch() Search {
	return Search{Beam: 10, Subtract: 0.4, Window: 14, Behind: 8, MaxTokens: 64, Tail: 3, Variants: 1}
}

// candidate is a finished text: its own token score and length, end of text counted.
type candidate struct {
	text   string
	seq    []Token
	tokens int
	score  float64 // log P(audio) − Subtract·log P(silence)
	audio  float64 // log P(audio)
	end    float64 // of it, the end of text alone
}

type hypothesis struct {
	state  int32
	tail   bool
	text   []byte
	tokens []Token
	score  float64
	audio  float64
}

type extension struct {
	parent int
	token  Token
	next   int32
	tail   bool
	score  float64
	audio  float64
}

// run finds the finished texts of the beam, best first. silence may be nil: nothing is
// subtracted then. It ends with ctx.Err() when ctx ends.
func (s Search) run(ctx context.Context, lex *lexicon, prompt []Token, audio Scorer, silence Quiet) ([]candidate, error) {
	rows, err := audio.Prime(prompt)
	if err != nil {
		return nil, err
	}
	beam := []hypothesis{{state: before}}
	var done []candidate
	best := math.Inf(-1)
	for step := 0; len(beam) > 0 && step <= s.MaxTokens; step++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		exts, ends, err := s.expand(lex, beam, rows, silence)
		if err != nil {
			return nil, err
		}
		for _, c := range ends {
			best = max(best, c.score)
		}
		done = append(done, ends...)
		exts = s.prune(lex, beam, exts, best)
		if len(exts) == 0 {
			break
		}
		parents, tokens := make([]int32, len(exts)), make([]Token, len(exts))
		next := make([]hypothesis, len(exts))
		for i, e := range exts {
			p := beam[e.parent]
			parents[i], tokens[i] = int32(e.parent), e.token
			next[i] = hypothesis{
				state: e.next, tail: e.tail, score: e.score, audio: e.audio,
				text:   append(slices.Clip(p.text), lex.v.Bytes(e.token)...),
				tokens: append(slices.Clip(p.tokens), e.token),
			}
		}
		if rows, err = audio.Extend(parents, tokens); err != nil {
			return nil, err
		}
		beam = next
	}
	slices.SortStableFunc(done, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.text, b.text))
	})
	return done, nil
}

// expand lists every continuation of the beam and every text that may end here. From a
// free tail nothing is subtracted.
func (s Search) expand(lex *lexicon, beam []hypothesis, rows Rows, silence Quiet) (exts []extension, ends []candidate, err error) {
	for i, h := range beam {
		var f follow
		var quiet []float32
		if !h.tail {
			f = lex.edges(h.state)
			if silence != nil {
				if quiet, err = silence.LogProbs(h.tokens, f.tokens); err != nil {
					return nil, nil, err
				}
			}
		}
		score := func(k int, t Token) (total, audio float64) {
			audio = float64(rows.LogProb(i, t))
			total = audio
			if quiet != nil {
				total -= s.Subtract * float64(quiet[k])
			}
			return h.score + total, h.audio + audio
		}
		for k, e := range f.edges {
			sc, a := score(k, e.token)
			exts = append(exts, extension{i, e.token, e.next, false, sc, a})
		}
		if lex.accepting(h.state) {
			sc, a := score(len(f.edges), lex.v.end)
			ends = append(ends, candidate{text: string(h.text), seq: h.tokens, tokens: len(h.tokens) + 1, score: sc, audio: a, end: a - h.audio})
		}
		if lex.tail(h.state) {
			quiet = nil
			logits, _ := rows.Row(i)
			for _, t := range top(logits, s.Tail, func(t Token) bool { _, ok := lex.step(h.state, t); return ok }) {
				next, _ := lex.step(h.state, t)
				sc, a := score(0, t)
				exts = append(exts, extension{i, t, next, true, sc, a})
			}
		}
	}
	return exts, ends, nil
}

// prune keeps the best extensions: at most Beam, at most Variants of one wording, none
// far below the step's best or hopelessly below the best finished text.
func (s Search) prune(lex *lexicon, beam []hypothesis, exts []extension, done float64) []extension {
	slices.SortFunc(exts, func(a, b extension) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.parent, b.parent), cmp.Compare(a.token, b.token))
	})
	var kept []extension
	type wordingState struct {
		text  string
		state int32
	}
	seen := map[wordingState]int{}
	for _, e := range exts {
		if len(kept) == s.Beam || e.score < exts[0].score-s.Window || e.score < done-s.Behind {
			break
		}
		if s.Variants > 0 {
			w := wordingState{wording(beam[e.parent].text, lex.v.Bytes(e.token)), e.next}
			if seen[w] == s.Variants {
				continue
			}
			seen[w]++
		}
		kept = append(kept, e)
	}
	return kept
}

// wording is a text without its letter case. One sentence in its spellings must not fill
// the beam: with ten hypotheses and no limit, a quarter of the wrong results were search
// errors, the right sentence having been pushed out by variants of a wrong one.
func wording(text []byte, more string) string { return strings.ToLower(string(text) + more) }

// top returns the k text tokens with the largest logits for which ok holds, largest first.
func top(logits []float32, k int, ok func(Token) bool) []Token {
	if k < 1 {
		return nil
	}
	out := make([]Token, 0, k+1)
	for i, x := range logits {
		if len(out) == k && x <= logits[out[k-1]] {
			continue
		}
		if !ok(Token(i)) {
			continue
		}
		at := len(out)
		for at > 0 && logits[out[at-1]] < x {
			at--
		}
		out = slices.Insert(out, at, Token(i))
		if len(out) > k {
			out = out[:k]
		}
	}
	return out
}
