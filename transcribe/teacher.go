package transcribe

import (
	"fmt"

	"blockworld-voice/internal/whispercpp"
)

// maxTexts is the number of texts that one pass can score.
const maxTexts = whispercpp.MaxSeq - 1

// piece is a node of the tree of the texts' tokens: texts with a common beginning share it.
type piece struct {
	token  Token
	pos    int32
	parent int             // index of the piece before, -1 behind the prompt
	texts  whispercpp.Seqs // texts that go through it
	ends   []int           // texts that end behind it
	child  map[Token]int
}

// tree orders the tokens of the texts by position; sequence i+1 is texts[i].
func tree(texts [][]Token, first int32) []piece {
	var out []piece
	roots := map[Token]int{}
	for i, text := range texts {
		at, next := -1, roots
		for k, t := range text {
			n, ok := next[t]
			if !ok {
				n = len(out)
				next[t] = n
				out = append(out, piece{token: t, pos: first + int32(k), parent: at, child: map[Token]int{}})
			}
			out[n].texts |= whispercpp.Seq(i + 1)
			at, next = n, out[n].child
		}
		if at >= 0 {
			out[at].ends = append(out[at].ends, i)
		}
	}
	return out
}

// teach returns log P(text | audio) of each text, its end counted: the texts are given,
// nothing is searched. One batch of the task and the tree of the texts does it, which
// costs a fraction of a search. With recalled the previous text is taken as it was read
// on silence. Texts are not empty and at most maxTexts.
func (n *native) teach(prompt []Token, texts [][]Token, end Token, recalled bool) ([]float64, error) {
	if len(texts) == 0 || len(texts) > maxTexts {
		return nil, fmt.Errorf("%d texts to score, 1 … %d can be", len(texts), maxTexts)
	}
	n.prompt = nil // the cache will hold texts behind the prompt
	at, err := n.begin(prompt, recalled)
	if err != nil {
		return nil, err
	}
	n.st.Branch(make([]int32, len(texts)))
	all := (whispercpp.Seqs(1)<<len(texts) - 1) << 1
	n.line(prompt[at:], at, all)
	head := len(n.items)
	pieces := tree(texts, int32(len(prompt)))
	for _, p := range pieces {
		n.items = append(n.items, whispercpp.Item{Token: p.token, Pos: p.pos, Seqs: p.texts})
	}
	rows, err := n.st.Decode(n.items, head-1)
	if err != nil {
		return nil, err
	}
	// Row 0 is what follows the prompt, row k+1 what follows piece k.
	sum := make([]float64, len(pieces))
	out := make([]float64, len(texts))
	for k, p := range pieces {
		sum[k] = float64(rows.LogProb(p.parent+1, p.token))
		if p.parent >= 0 {
			sum[k] += sum[p.parent]
		}
		for _, i := range p.ends {
			out[i] = sum[k] + float64(rows.LogProb(k+1, end))
		}
	}
	return out, nil
}
