package transcribe

import "slices"

// Automaton says which byte strings are sentences. States are small numbers without
// meaning. It is used by one goroutine at a time.
type Automaton interface {
	Start() int32
	// Step returns the state behind byte b, and whether there is one.
	Step(state int32, b byte) (int32, bool)
	// Accepting says whether a sentence may end here.
	Accepting(state int32) bool
	// FreeTail says whether any text may follow: the words of a say command.
	FreeTail(state int32) bool
}

// edge is one token that may follow, and the state behind it.
type edge struct {
	token Token
	next  int32
}

// follow is the edges of a state, and their tokens alone with the end of text behind them.
type follow struct {
	edges  []edge
	tokens []Token
}

// before is the state in front of the space with which the model begins a text.
const before int32 = -1

// lexicon is an automaton read in tokens: the product of the automaton and the
// vocabulary's trie, made as far as it is asked for.
type lexicon struct {
	v    *Vocabulary
	a    Automaton
	memo map[int32]follow
	// commas says whether they are tried. The model likes to put them behind every word,
	// which splits "thirty three" into two numbers: without them the right command is found
	// more often.
	commas bool
}

func newLexicon(v *Vocabulary, a Automaton, commas bool) *lexicon {
	return &lexicon{v: v, a: a, memo: map[int32]follow{}, commas: commas}
}

// edges returns the tokens that may follow state, ordered by token, except those that
// reach into a free tail. All ways to split a text into tokens are among them.
func (l *lexicon) edges(state int32) follow {
	if e, ok := l.memo[state]; ok {
		return e
	}
	var out []edge
	if state == before {
		root := l.v.nodes[0]
		if i, ok := slices.BinarySearch(root.label, ' '); ok {
			out = l.walk(root.child[i], l.a.Start(), out)
		}
	} else {
		out = l.walk(0, state, out)
	}
	slices.SortFunc(out, func(x, y edge) int { return int(x.token - y.token) })
	f := follow{edges: out, tokens: make([]Token, 0, len(out)+1)}
	for _, e := range out {
		f.tokens = append(f.tokens, e.token)
	}
	f.tokens = append(f.tokens, l.v.end)
	l.memo[state] = f
	return f
}

func (l *lexicon) walk(n, state int32, out []edge) []edge {
	nd := &l.v.nodes[n]
	for _, t := range nd.token {
		out = append(out, edge{t, state})
	}
	for i, b := range nd.label {
		if b == ',' && !l.commas {
			continue
		}
		if next, ok := l.a.Step(state, b); ok && !l.a.FreeTail(next) {
			out = l.walk(nd.child[i], next, out)
		}
	}
	return out
}

// tail says whether free text may begin with the next token.
func (l *lexicon) tail(state int32) bool {
	if state == before {
		return false
	}
	if l.a.FreeTail(state) {
		return true
	}
	next, ok := l.a.Step(state, ' ')
	return ok && l.a.FreeTail(next)
}

// step returns the state behind a whole token of free text.
func (l *lexicon) step(state int32, t Token) (int32, bool) {
	b := l.v.Bytes(t)
	if b == "" {
		return 0, false
	}
	for i := range len(b) {
		next, ok := l.a.Step(state, b[i])
		if !ok {
			return 0, false
		}
		state = next
	}
	return state, l.a.FreeTail(state)
}

func (l *lexicon) accepting(state int32) bool { return state != before && l.a.Accepting(state) }
