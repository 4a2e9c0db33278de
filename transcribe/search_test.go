package transcribe

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"blockworld-voice/internal/lang"
)

// trie is an Automaton of a finite list of sentences; one that ends in * goes on with
// any text.
type trie struct {
	next []map[byte]int32
	ends []bool
	free []bool
}

func sentences(list ...string) *trie {
	t := &trie{next: []map[byte]int32{{}}, ends: []bool{false}, free: []bool{false}}
	for _, s := range list {
		text, free := strings.CutSuffix(s, "*")
		n := int32(0)
		for i := range len(text) {
			c, ok := t.next[n][text[i]]
			if !ok {
				c = int32(len(t.next))
				t.next[n][text[i]] = c
				t.next, t.ends, t.free = append(t.next, map[byte]int32{}), append(t.ends, false), append(t.free, false)
			}
			n = c
		}
		t.ends[n], t.free[n] = !free, free
	}
	return t
}

func (t *trie) Start() int32           { return 0 }
func (t *trie) Accepting(s int32) bool { return t.ends[s] || t.free[s] }
func (t *trie) FreeTail(s int32) bool  { return t.free[s] }
func (t *trie) Step(s int32, b byte) (int32, bool) {
	if t.free[s] {
		return s, true
	}
	n, ok := t.next[s][b]
	return n, ok
}

// letters is a vocabulary of single letters and some longer pieces.
func letters() *Vocabulary {
	bytes := []string{" ", "ab", " a", "ba", " ab", ","}
	for c := 'a'; c <= 'e'; c++ {
		bytes = append(bytes, string(c))
	}
	return NewVocabulary(bytes, Token(len(bytes)))
}

// fake is a Scorer whose model is a function of the text so far; its rows are proper
// distributions over the whole vocabulary and the end of text.
type fake struct {
	v     *Vocabulary
	logit func(prefix string, t Token) float64
	seq   []string
	calls int
	most  int // largest batch
}

type fakeRows [][]float32

func (r fakeRows) LogProb(i int, t Token) float32       { return r[i][t] }
func (r fakeRows) Row(i int) (l []float32, lse float32) { return r[i], 0 }

func (f *fake) rows() fakeRows {
	f.calls++
	f.most = max(f.most, len(f.seq))
	out := make(fakeRows, len(f.seq))
	for i, s := range f.seq {
		row := make([]float64, f.v.end+1)
		sum := math.Inf(-1)
		for t := range row {
			row[t] = f.logit(s, Token(t))
			sum = logAdd(sum, row[t])
		}
		out[i] = make([]float32, len(row))
		for t := range row {
			out[i][t] = float32(row[t] - sum)
		}
	}
	return out
}

func (f *fake) Prime([]Token) (Rows, error) {
	f.seq = []string{""}
	return f.rows(), nil
}

func (f *fake) Extend(parents []int32, tokens []Token) (Rows, error) {
	next := make([]string, len(parents))
	for i, p := range parents {
		next[i] = f.seq[p] + f.v.Bytes(tokens[i])
	}
	f.seq = next
	return f.rows(), nil
}

// hashed is a model without any structure.
func hashed(seed string) func(string, Token) float64 {
	return func(prefix string, t Token) float64 {
		h := fnv.New32a()
		h.Write([]byte(seed + "|" + prefix + "|" + string(rune(t))))
		return 3 * float64(h.Sum32()%1000) / 1000
	}
}

// exhaustive lists every tokenisation of every sentence with its score.
func exhaustive(v *Vocabulary, list []string, subtract float64, audio, silence *fake) map[string]float64 {
	best := map[string]float64{}
	for _, s := range list {
		var split func(done string, score float64)
		split = func(done string, score float64) {
			a, q := &fake{v: v, logit: audio.logit, seq: []string{done}}, &fake{v: v, logit: silence.logit, seq: []string{done}}
			ra, rq := a.rows(), q.rows()
			at := func(t Token) float64 {
				return score + float64(ra.LogProb(0, t)) - subtract*float64(rq.LogProb(0, t))
			}
			if done == " "+s {
				if sc, ok := best[s]; ok {
					best[s] = logAdd(sc, at(v.end))
				} else {
					best[s] = at(v.end)
				}
				return
			}
			for t := range v.end {
				if b := v.Bytes(t); b != "" && strings.HasPrefix((" " + s)[len(done):], b) {
					split(done+b, at(t))
				}
			}
		}
		split("", 0)
	}
	return best
}

func same(text string) (Reading, bool) { return Reading{Key: text}, true }

func wide(subtract float64) Search {
	return Search{Beam: 100000, Subtract: subtract, Window: math.Inf(1), Behind: math.Inf(1), MaxTokens: 30, Tail: 2}
}

// With an unbounded beam the search finds what exhaustive scoring finds, with equal sums.
func TestSearchIsExhaustiveWithAWideBeam(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := letters()
		list := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-e]{1,4}(,? [a-e]{1,3})?`), 1, 6, rapid.ID).Draw(t, "sentences")
		subtract := rapid.SampledFrom([]float64{0, 0.4, 1}).Draw(t, "subtract")
		seed := rapid.String().Draw(t, "model")
		audio := &fake{v: v, logit: hashed(seed + "audio")}
		silence := &fake{v: v, logit: hashed(seed + "silence")}
		cands, err := wide(subtract).run(context.Background(), newLexicon(v, sentences(list...), true), nil, audio, silence)
		if err != nil {
			t.Fatal(err)
		}
		want := exhaustive(v, list, subtract, audio, silence)
		got := gather(cands, lang.EN, same)
		if len(got) != len(want) {
			t.Fatalf("%d sentences found, %d exist", len(got), len(want))
		}
		top := math.Inf(-1)
		for _, w := range want {
			top = max(top, w)
		}
		for i, r := range got {
			if w, ok := want[r.Key]; !ok || math.Abs(w-r.Sum) > 1e-4 {
				t.Fatalf("%q: sum %v, exhaustive %v", r.Key, r.Sum, w)
			}
			if i == 0 && math.Abs(r.Sum-top) > 1e-4 {
				t.Fatalf("best is %q with %v, exhaustive scoring has %v", r.Key, r.Sum, top)
			}
		}
	})
}

// Only whole sentences come out, whatever the model would like to say.
func TestSearchEndsInAcceptingStatesOnly(t *testing.T) {
	v := letters()
	audio := &fake{v: v, logit: func(prefix string, tok Token) float64 {
		if tok == v.end {
			return 20 // wants to stop at once
		}
		return hashed("x")(prefix, tok)
	}}
	cands, err := wide(0).run(context.Background(), newLexicon(v, sentences("abc", "abcde"), true), nil, audio, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(cands) == 0 {
		t.Fatal("nothing found")
	}
	for _, c := range cands {
		if c.text != " abc" && c.text != " abcde" {
			t.Errorf("a text that is no sentence: %q", c.text)
		}
	}
}

// Masking the other tokens must not raise a score: a clip that says something else has to
// stay improbable.
func TestScoresAreTrueProbabilities(t *testing.T) {
	v := letters()
	audio := &fake{v: v, logit: func(_ string, tok Token) float64 {
		if v.Bytes(tok) == "e" {
			return 10 // the clip says e, which no sentence has
		}
		return 0
	}}
	cands, err := wide(0).run(context.Background(), newLexicon(v, sentences("a"), true), nil, audio, nil)
	if err != nil {
		t.Fatal(err)
	}
	// " a" and " ", "a": every token has probability 1/(e¹⁰ + n − 1), the end of text too.
	lp := -math.Log(math.Exp(10) + float64(v.end))
	for _, c := range cands {
		if want := float64(c.tokens) * lp; math.Abs(c.score-want) > 1e-3 {
			t.Errorf("%q in %d tokens: score %v, want %v", c.text, c.tokens, c.score, want)
		}
	}
}

func TestSpellingsOfOneCommandAreSummed(t *testing.T) {
	cands := []candidate{{text: " aa", tokens: 2, score: -1}, {text: " ba", tokens: 2, score: -1.5}, {text: " ab", tokens: 3, score: -1.6}, {text: " cc", tokens: 2, score: -0.1}}
	got := gather(cands, lang.SK, func(text string) (Reading, bool) {
		return Reading{Key: text[:1]}, text != "cc" // the parser reads cc as nothing
	})
	if len(got) != 2 || got[0].Key != "a" || got[1].Key != "b" {
		t.Fatalf("readings %+v", got)
	}
	if want := math.Log(math.Exp(-1) + math.Exp(-1.6)); math.Abs(got[0].Sum-want) > 1e-9 || got[0].Score != -1 || got[0].D != -0.5 {
		t.Fatalf("first reading %+v, want sum %v", got[0], want)
	}
}

// The subtraction takes away what the model says of nothing.
func TestSubtractionPrefersWhatWasHeard(t *testing.T) {
	v := letters()
	id := map[string]Token{}
	for tok := range v.end {
		id[v.Bytes(tok)] = tok
	}
	habit := func(prefix string, tok Token) float64 {
		if tok == id["a"] {
			return 4 // a is what the model always says
		}
		return 0
	}
	audio := &fake{v: v, logit: func(prefix string, tok Token) float64 {
		l := habit(prefix, tok)
		if tok == id["b"] {
			l += 3 // b was heard
		}
		return l
	}}
	for _, c := range []struct {
		subtract float64
		want     string
	}{{0, " a"}, {0.9, " b"}} {
		cands, err := wide(c.subtract).run(context.Background(), newLexicon(v, sentences("a", "b"), true), nil, audio, &fake{v: v, logit: habit})
		if err != nil {
			t.Fatal(err)
		}
		if cands[0].text != c.want {
			t.Errorf("subtract %v: best is %q, want %q", c.subtract, cands[0].text, c.want)
		}
	}
}

func TestFreeTailTakesTheMostProbableTokens(t *testing.T) {
	v := letters()
	want := " a bade"
	audio := &fake{v: v, logit: func(prefix string, tok Token) float64 {
		if prefix == want && tok == v.end || prefix != want && strings.HasPrefix(want, prefix+v.Bytes(tok)) && tok != v.end {
			return 8
		}
		return 0
	}}
	s := wide(0.4)
	s.Beam, s.MaxTokens = 6, 12
	cands, err := s.run(context.Background(), newLexicon(v, sentences("a *"), true), nil, audio, audio.clone())
	if err != nil {
		t.Fatal(err)
	}
	if len(cands) == 0 || cands[0].text != want {
		t.Fatalf("best %+v, want %q", cands[:min(len(cands), 2)], want)
	}
	if audio.most > s.Beam {
		t.Fatalf("%d sequences in a batch, the beam is %d", audio.most, s.Beam)
	}
}

// LogProbs makes a fake a Quiet too.
func (f *fake) LogProbs(text, tokens []Token) ([]float32, error) {
	var prefix string
	for _, t := range text {
		prefix += f.v.Bytes(t)
	}
	rows := (&fake{v: f.v, logit: f.logit, seq: []string{prefix}}).rows()
	var out []float32
	for _, t := range tokens {
		out = append(out, rows.LogProb(0, t))
	}
	return out, nil
}

func (f *fake) clone() *fake { return &fake{v: f.v, logit: f.logit} }

func TestSearchEndsWithItsContext(t *testing.T) {
	v := letters()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := wide(0).run(ctx, newLexicon(v, sentences("a"), true), nil, &fake{v: v, logit: hashed("x")}, nil)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want context.Canceled", err)
	}
}

func TestEdgesAreAllTokenisations(t *testing.T) {
	v := letters()
	lex := newLexicon(v, sentences("ab"), true)
	var first []string
	for _, e := range lex.edges(before).edges {
		first = append(first, v.Bytes(e.token))
	}
	slices.Sort(first)
	if want := []string{" ", " a", " ab"}; !slices.Equal(first, want) {
		t.Fatalf("first tokens %q, want %q", first, want)
	}
}

// A beam that is filled by one sentence in its letter cases finds nothing else.
func TestVariantsLeaveRoomForOtherSentences(t *testing.T) {
	v := NewVocabulary([]string{" ", "a", "A", "b"}, 4)
	audio := &fake{v: v, logit: func(prefix string, tok Token) float64 {
		switch {
		case prefix == " " && tok == 1, prefix == " " && tok == 2:
			return 3
		case strings.HasSuffix(prefix, "b") && tok == v.end:
			return 9 // the end after b is what the clip says
		}
		return 1
	}}
	for _, c := range []struct {
		variants int
		want     string
	}{{0, ""}, {1, " b"}} {
		s := Search{Beam: 2, Window: 20, Behind: 40, MaxTokens: 5, Variants: c.variants}
		lex := newLexicon(v, foldTrie{sentences("ab", "b")}, true)
		cands, err := s.run(context.Background(), lex, nil, audio, nil)
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(cands, func(c candidate) bool { return c.text == " b" })
		if found != (c.want != "") {
			t.Errorf("variants %d: b found: %v", c.variants, found)
		}
	}
}

// foldTrie reads upper case as lower case.
type foldTrie struct{ *trie }

func (f foldTrie) Step(s int32, b byte) (int32, bool) {
	if b >= 'A' && b <= 'Z' {
		b += 'a' - 'A'
	}
	return f.trie.Step(s, b)
}

// Languages that were heard and witnesses that were asked can only take an acceptance away.
func TestDecideOnWitnesses(t *testing.T) {
	th := Thresholds{Limit: map[Class]Limits{Coordinates: {D: 0.6, WitnessD: 0.4, WitnessGap: 1, Language: -3}}}
	rs := []Scored{{Key: "a", Class: Coordinates, Language: lang.SK, D: 0.8}}
	slavic := map[lang.Language]float64{lang.SK: -3.5, lang.CS: -0.1, lang.EN: -4}
	english := map[lang.Language]float64{lang.SK: -5, lang.CS: -5, lang.EN: -0.1}
	good := Witness{Key: "a", D: 0.5, Gap: 2}
	for _, c := range []struct {
		name      string
		heard     map[lang.Language]float64
		witnesses []Witness
		want      Verdict
	}{
		{"Slovak and Czech are one", slavic, nil, Understood},
		{"English", english, nil, NotUnderstood},
		{"confirmed", slavic, []Witness{good, good}, Understood},
		{"another command", slavic, []Witness{good, {Key: "b", D: 0.5, Gap: 2}}, NotUnderstood},
		{"d", slavic, []Witness{{Key: "a", D: 0.39, Gap: 2}}, NotUnderstood},
		{"gap", nil, []Witness{{Key: "a", D: 0.5, Gap: 0.9}, good}, NotUnderstood},
	} {
		got, conf := th.Decide(rs, c.heard, c.witnesses)
		if got != c.want || (got == NotUnderstood) != (conf.Why != "") || len(conf.Witnesses) != len(c.witnesses) {
			t.Errorf("%s: %v (%q), want %v", c.name, got, conf.Why, c.want)
		}
	}
}

func TestDecide(t *testing.T) {
	th := Thresholds{Limit: map[Class]Limits{Plain: {D: 0.7, Gap: 1}, Coordinates: {D: 0.6, Gap: 2}}}
	for _, c := range []struct {
		name string
		rs   []Scored
		want Verdict
	}{
		{"nothing", nil, NotUnderstood},
		{"alone", []Scored{{Class: Plain, D: 0.8}}, Understood},
		{"d too small", []Scored{{Class: Plain, D: 0.69}}, NotUnderstood},
		{"gap", []Scored{{Class: Coordinates, D: 2, Sum: 5}, {Class: Coordinates, D: 1.9, Sum: 3.1}}, NotUnderstood},
		{"clear", []Scored{{Class: Coordinates, D: 2, Sum: 5}, {Class: Coordinates, D: 1.9, Sum: 2.9}}, Understood},
		{"class without limits", []Scored{{Class: Text, D: 9}}, NotUnderstood},
	} {
		got, conf := th.Decide(c.rs, nil, nil)
		if got != c.want || (got == NotUnderstood) != (conf.Why != "") {
			t.Errorf("%s: %v (%q), want %v", c.name, got, conf.Why, c.want)
		}
	}
}
