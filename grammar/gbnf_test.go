package grammar

import (
	"strings"
	"testing"

	"blockworld-voice/internal/lang"
)

// gbnfReader understands as much of the notation as GBNF writes.
type gbnfReader struct {
	t     *testing.T
	rules map[string]gbnfNode
}

// gbnfNode gives the places where a match of the text from i on can end.
type gbnfNode func(text string, i int) map[int]bool

func readGBNF(t *testing.T, src string) *gbnfReader {
	r := &gbnfReader{t: t, rules: map[string]gbnfNode{}}
	for line := range strings.Lines(src) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, body, ok := strings.Cut(strings.TrimSpace(line), " ::= ")
		if !ok {
			t.Fatalf("no rule: %q", line)
		}
		if r.rules[name] != nil {
			t.Fatalf("rule %s stands twice", name)
		}
		node, rest := r.alternatives(body)
		if rest != "" {
			t.Fatalf("rule %s: %q is left", name, rest)
		}
		r.rules[name] = node
	}
	return r
}

func (r *gbnfReader) match(text string) bool { return r.rules["root"](text, 0)[len(text)] }

func (r *gbnfReader) alternatives(s string) (gbnfNode, string) {
	var alts []gbnfNode
	for {
		var seq []gbnfNode
		for {
			s = strings.TrimLeft(s, " ")
			if s == "" || s[0] == '|' || s[0] == ')' {
				break
			}
			var n gbnfNode
			n, s = r.element(s)
			seq = append(seq, n)
		}
		alts = append(alts, sequence(seq))
		if s == "" || s[0] == ')' {
			break
		}
		s = s[1:]
	}
	return func(text string, i int) map[int]bool {
		out := map[int]bool{}
		for _, a := range alts {
			for e := range a(text, i) {
				out[e] = true
			}
		}
		return out
	}, s
}

func sequence(seq []gbnfNode) gbnfNode {
	return func(text string, i int) map[int]bool {
		at := map[int]bool{i: true}
		for _, n := range seq {
			next := map[int]bool{}
			for p := range at {
				for e := range n(text, p) {
					next[e] = true
				}
			}
			at = next
		}
		return at
	}
}

func (r *gbnfReader) element(s string) (gbnfNode, string) {
	var n gbnfNode
	switch s[0] {
	case '"':
		lit, rest, _ := strings.Cut(s[1:], `"`)
		s = rest
		n = func(text string, i int) map[int]bool {
			if strings.HasPrefix(text[i:], lit) {
				return map[int]bool{i + len(lit): true}
			}
			return nil
		}
	case '(':
		var rest string
		n, rest = r.alternatives(s[1:])
		s = rest[1:]
	case '[':
		_, rest, _ := strings.Cut(s, "]")
		first := strings.HasPrefix(s, `[^/\x00-\x20`)
		s = rest
		n = func(text string, i int) map[int]bool {
			if i < len(text) && text[i] >= 0x20 && text[i] != 0x7f && !(first && (text[i] == ' ' || text[i] == '/')) {
				return map[int]bool{i + 1: true}
			}
			return nil
		}
	default:
		end := strings.IndexAny(s, " ?*)")
		if end < 0 {
			end = len(s)
		}
		name := s[:end]
		s = s[end:]
		n = func(text string, i int) map[int]bool {
			rule := r.rules[name]
			if rule == nil {
				r.t.Fatalf("rule %q is missing", name)
			}
			return rule(text, i)
		}
	}
	if s != "" && (s[0] == '?' || s[0] == '*') {
		inner, many := n, s[0] == '*'
		s = s[1:]
		n = func(text string, i int) map[int]bool {
			out := map[int]bool{i: true}
			todo := []int{i}
			for len(todo) > 0 {
				p := todo[0]
				todo = todo[1:]
				for e := range inner(text, p) {
					if !out[e] {
						out[e] = true
						if many {
							todo = append(todo, e)
						}
					}
				}
			}
			return out
		}
	}
	return n, s
}

// The rules and the automaton have the same sentences.
func TestGBNFEqualsTheAutomaton(t *testing.T) {
	for _, x := range lang.All() {
		src, err := GBNF(Unbounded(x))
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := GBNF(Unbounded(x)); again != src {
			t.Fatal("the rules differ from one call to the next")
		}
		r, a := readGBNF(t, src), compile(t, Unbounded(x))
		s, err := NewSampler(x, 3)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 400 {
			text, c := s.Next()
			if c.Kind() == KindSay {
				continue
			}
			if i%2 == 1 { // a text near the language
				at := s.below(len(text))
				text = text[:at] + []string{"", " ", "a", "sto ", "-", ", ", "tisíc "}[s.below(7)] + text[at+s.below(2):]
			}
			// The rules don't know the range: the automaton's answer may differ only there.
			if got, want := r.match(text), run(a, text); got != want {
				if d, ok := Parse(text).(Refusal); !ok || d.Reason != NumberRange && d.Reason != Ambiguous {
					t.Errorf("%s %q: rules %v, automaton %v", x, text, got, want)
				}
			}
		}
		for _, start := range []Start{StartCoordinates, StartNumber} {
			o := Unbounded(x)
			o.Start = start
			src, err := GBNF(o)
			if err != nil {
				t.Fatal(err)
			}
			text := Spell(Blocks(-164), x)
			if start == StartCoordinates {
				text += ", " + text + " " + text
			}
			if !readGBNF(t, src).match(capital(text)) {
				t.Errorf("%s %s: %q is no sentence", x, start, text)
			}
		}
	}
}
