package transcribe

import (
	"encoding/binary"
	"slices"
)

// Quiet says what the model would expect without hearing anything.
type Quiet interface {
	// LogProbs returns log P(t | silence, prompt, text) for each of tokens.
	LogProbs(text, tokens []Token) ([]float32, error)
}

// Context of a text in the table: its first tokens and its last ones. What the model
// expects of nothing depends on the verb and on the word that it is in; numbers that
// were said before hardly change it. Cutting the rest away makes the number of contexts
// finite, so that after some clips nothing has to be computed any more.
const (
	headTokens = 3
	tailTokens = 4
)

// quietContext returns the part of a text that the table looks at.
func quietContext(text []Token) []Token {
	if len(text) <= headTokens+tailTokens {
		return text
	}
	out := make([]Token, 0, headTokens+tailTokens)
	return append(append(out, text[:headTokens]...), text[len(text)-tailTokens:]...)
}

// quietTable keeps the log-probabilities of one prompt. A value depends on its context
// alone, never on what was asked before: equal requests give equal bits, whether a value
// was computed now, earlier, or by another process.
type quietTable struct {
	rows map[string]quietRow
	eval func(context []Token) (Rows, error) // row 0 is what follows the context
	grew int                                 // rows that are new or longer since the table was kept
}

// quietRow holds some tokens of a row, in the order of the tokens.
type quietRow struct {
	token []Token
	lp    []float32
}

func (q *quietTable) LogProbs(text, tokens []Token) ([]float32, error) {
	context := quietContext(text)
	key := tokenKey(context)
	out := make([]float32, len(tokens))
	row := q.rows[key]
	if row.fill(out, tokens) {
		return out, nil
	}
	rows, err := q.eval(context)
	if err != nil {
		return nil, err
	}
	for _, t := range tokens {
		row.set(t, rows.LogProb(0, t))
	}
	q.rows[key] = row
	q.grew++
	row.fill(out, tokens)
	return out, nil
}

// fill copies the values of tokens, or returns false when one is missing.
func (r quietRow) fill(out []float32, tokens []Token) bool {
	at := 0
	for i, t := range tokens {
		// Mostly the tokens come in order; the search starts where the last one was.
		if at < len(r.token) && r.token[at] > t {
			at = 0
		}
		k, ok := slices.BinarySearch(r.token[at:], t)
		if !ok {
			return false
		}
		at += k
		out[i] = r.lp[at]
	}
	return true
}

func (r *quietRow) set(t Token, lp float32) {
	k, ok := slices.BinarySearch(r.token, t)
	if ok {
		return
	}
	r.token = slices.Insert(r.token, k, t)
	r.lp = slices.Insert(r.lp, k, lp)
}

// tokenKey is the tokens as bytes.
func tokenKey(ts []Token) string {
	b := make([]byte, 0, 4*len(ts))
	for _, t := range ts {
		b = binary.LittleEndian.AppendUint32(b, uint32(t))
	}
	return string(b)
}

// after evaluates context behind the prompt, alone in the batch and at the first free
// cells: the place of a token in the cache is part of how sums are rounded.
func (n *native) after(prompt, context []Token) (Rows, error) {
	rows, err := n.Prime(prompt)
	if err != nil || len(context) == 0 {
		return rows, err
	}
	return n.continueOne(context)
}
