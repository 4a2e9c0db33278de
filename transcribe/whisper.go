package transcribe

import (
	"slices"

	"blockworld-voice/internal/whispercpp"
)

// native is a Scorer on the state of the native engine. Sequence 0 of the state is the
// prompt; it is read once for one encoding, since its meaning depends on nothing else.
//
// The search reads the previous text in front of a prompt on the clip itself. A witness
// takes it as the decoder read it on silence (recall): that costs nothing a clip, but in
// the search it loses 3 clips of 100.
type native struct {
	st     *whispercpp.State
	recall func(previous []Token) (*whispercpp.Kept, error)
	sot    Token
	prompt []Token   // what sequence 0 holds, nil when nothing
	row    []float32 // logits after the prompt
	lse    float32
	pos    []int32 // position of the next token of each sequence
	items  []whispercpp.Item
}

// promptRows is the kept row after a prompt.
type promptRows struct {
	logits []float32
	lse    float32
}

func (r promptRows) LogProb(_ int, t Token) float32 { return r.logits[t] - r.lse }
func (r promptRows) Row(int) ([]float32, float32)   { return r.logits, r.lse }

// encode hears new audio and forgets the prompt.
func (n *native) encode(samples []float32, actx int) error {
	n.prompt = nil
	return n.st.Encode(samples, actx)
}

func (n *native) Prime(prompt []Token) (Rows, error) {
	n.st.Branch(nil)
	if n.prompt == nil || !slices.Equal(n.prompt, prompt) {
		n.prompt = nil
		if err := n.read(prompt); err != nil {
			return nil, err
		}
		n.prompt = slices.Clone(prompt)
	}
	n.pos = append(n.pos[:0], int32(len(prompt)))
	n.st.Branch([]int32{0})
	return promptRows{n.row, n.lse}, nil
}

// line makes a row of tokens, from position at on and in seqs, the items of the next batch.
func (n *native) line(tokens []Token, at int, seqs whispercpp.Seqs) {
	n.items = n.items[:0]
	for i, t := range tokens {
		n.items = append(n.items, whispercpp.Item{Token: t, Pos: int32(at + i), Seqs: seqs})
	}
}

// read evaluates the prompt as sequence 0; only its last token needs a row.
func (n *native) read(prompt []Token) error {
	n.st.Forget()
	n.line(prompt, 0, whispercpp.Seq(0))
	rows, err := n.st.Decode(n.items, len(prompt)-1)
	if err != nil {
		return err
	}
	logits, lse := rows.Row(0)
	n.row, n.lse = append(n.row[:0], logits...), lse
	return nil
}

// begin forgets everything. With recalled the previous text becomes sequence 0 as it was
// read on silence, and the number of its tokens is returned.
func (n *native) begin(prompt []Token, recalled bool) (int, error) {
	n.st.Forget()
	at := slices.Index(prompt, n.sot)
	if at < 1 || !recalled {
		return 0, nil
	}
	k, err := n.recall(prompt[:at])
	if err != nil {
		return 0, err
	}
	return at, n.st.Recall(k)
}

func (n *native) Extend(parents []int32, tokens []Token) (Rows, error) {
	seq := make([]int32, len(parents))
	pos := make([]int32, len(parents))
	n.items = n.items[:0]
	for i, p := range parents {
		seq[i] = p + 1
		pos[i] = n.pos[p] + 1
		n.items = append(n.items, whispercpp.Item{Token: tokens[i], Pos: n.pos[p], Seqs: whispercpp.Seq(i + 1)})
	}
	n.st.Branch(seq)
	n.pos = pos
	return n.st.Decode(n.items, 0)
}

// continueOne makes the only sequence behind the prompt the given tokens; row 0 is what
// follows the last.
func (n *native) continueOne(tokens []Token) (Rows, error) {
	n.line(tokens, len(n.prompt), whispercpp.Seq(1))
	return n.st.Decode(n.items, len(tokens)-1)
}
