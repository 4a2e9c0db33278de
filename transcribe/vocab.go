package transcribe

import "sort"

// Token is an index into a model's vocabulary.
type Token = int32

// Vocabulary is the text tokens of a model as a trie over their bytes. It is
// read-only after NewVocabulary: goroutines may share it.
type Vocabulary struct {
	bytes []string
	nodes []node
	end   Token
}

type node struct {
	label []byte  // sorted
	child []int32 // beside label
	token []Token // tokens that end here; several may have the same bytes
}

// NewVocabulary makes the trie of the tokens 0 … len(bytes)-1; tokens without bytes are
// left out. end is the token that ends a text.
func NewVocabulary(bytes []string, end Token) *Vocabulary {
	v := &Vocabulary{bytes: bytes, nodes: make([]node, 1, 2*len(bytes)+1), end: end}
	order := make([]int, 0, len(bytes))
	for i, b := range bytes {
		if b != "" {
			order = append(order, i)
		}
	}
	sort.Slice(order, func(i, j int) bool { return bytes[order[i]] < bytes[order[j]] })
	for _, i := range order {
		n := int32(0)
		for k := range len(bytes[i]) {
			n = v.child(n, bytes[i][k])
		}
		v.nodes[n].token = append(v.nodes[n].token, Token(i))
	}
	return v
}

// child returns the node behind b. Labels come in sorted order, so that a new one is the last.
func (v *Vocabulary) child(n int32, b byte) int32 {
	nd := &v.nodes[n]
	if k := len(nd.label); k > 0 && nd.label[k-1] == b {
		return nd.child[k-1]
	}
	c := int32(len(v.nodes))
	nd.label = append(nd.label, b)
	nd.child = append(nd.child, c)
	v.nodes = append(v.nodes, node{})
	return c
}

// Bytes returns the bytes of a token, "" for one that is no text.
func (v *Vocabulary) Bytes(t Token) string {
	if t < 0 || int(t) >= len(v.bytes) {
		return ""
	}
	return v.bytes[t]
}
