package grammar

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// refusals reads the out-of-grammar list.
func refusals(t testing.TB) []string {
	data, err := os.ReadFile("testdata/refuse.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		if strings.Contains(line, `\u`) || strings.Contains(line, `\n`) {
			text, err := strconv.Unquote(`"` + line + `"`)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			line = text
		}
		out = append(out, line)
	}
	return out
}

// contract: S2
func TestOutOfGrammarListRefuses(t *testing.T) {
	list := refusals(t)
	if len(list) < 300 {
		t.Errorf("the list has only %d lines", len(list))
	}
	for _, text := range list {
		refused(t, text)
	}
}

// One letter more, less or other in a word of a command gives another spelling of the same command or
// no command at all: never another effect, and never an effect out of a query.
// contract: S2
func TestOneLetterIsNeverAnotherCommand(t *testing.T) {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	n := 0
	for _, table := range merged.tables {
		for _, c := range table.commands {
			rest := map[Kind]string{KindGoTo: " 10 64 5", KindLookAt: " 10 64 5", KindSay: " hello"}[c.kind]
			for _, phrase := range c.words {
				phrase = foldPhrase(phrase)
				for i := range len(phrase) + 1 {
					var edits []string
					for _, l := range letters {
						edits = append(edits, phrase[:i]+string(l)+phrase[i:])
						if i < len(phrase) {
							edits = append(edits, phrase[:i]+string(l)+phrase[i+1:])
						}
					}
					if i < len(phrase) {
						edits = append(edits, phrase[:i]+phrase[i+1:])
					}
					for _, e := range edits {
						n++
						for _, args := range []string{rest, "", " 10 64 5"} {
							a, ok := Parse(e + args).(Accepted)
							if ok && a.Command.Kind() != c.kind {
								t.Errorf("%q, one letter from %q, means %s", e+args, phrase, a.Command)
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d edits", n)
}

func foldPhrase(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		parts := strings.Split(w, "-")
		for j := range parts {
			parts[j] = merged.foldWord(parts[j])
		}
		words[i] = strings.Join(parts, "-")
	}
	return strings.Join(words, " ")
}

// Every two entries of the tables are told apart, or mean the same.
func TestTableEntriesDoNotCollide(t *testing.T) {
	for _, p := range merged.problem {
		t.Error(p)
	}
	type entry struct {
		text, meaning string
		command       bool
	}
	var entries []entry
	for _, table := range merged.tables {
		for _, c := range table.commands {
			for _, p := range c.words {
				entries = append(entries, entry{foldPhrase(p), c.kind.String(), true})
			}
		}
		for _, n := range table.numerals {
			for _, w := range strings.Fields(n.forms + " " + n.heard) {
				entries = append(entries, entry{merged.foldWord(w), strconv.Itoa(int(n.class)) + "/" + strconv.Itoa(n.value), false})
			}
		}
		for i, w := range table.labels {
			if w != "" {
				entries = append(entries, entry{merged.foldWord(w), "label" + strconv.Itoa(i), false})
			}
		}
	}
	for i, label := range []string{"x", "y", "z"} {
		entries = append(entries, entry{label, "label" + strconv.Itoa(i), false})
	}
	pairs := 0
	for i, a := range entries {
		for _, b := range entries[i+1:] {
			pairs++
			if a.text == b.text && a.meaning != b.meaning {
				t.Errorf("%q means %s and %s", a.text, a.meaning, b.meaning)
			}
			if !a.command || !b.command {
				continue
			}
			for _, p := range [2][2]entry{{a, b}, {b, a}} {
				rest, longer := strings.CutPrefix(p[1].text, p[0].text+" ")
				if longer && p[0].meaning != p[1].meaning {
					t.Errorf("%q (%s) goes on as %q (%s)", p[0].text, p[0].meaning, p[1].text, p[1].meaning)
				}
				if w := merged.words[rest]; longer && w != nil && (w.atom.class != 0 || w.label != 0) {
					t.Errorf("%q goes on with the number word %q", p[0].text, rest)
				}
			}
		}
	}
	t.Logf("%d entries, %d pairs", len(entries), pairs)
}

// A joined word comes apart in one way, and a word that stands in a table does not come apart into
// another number.
func TestJoinedWordsAreUnique(t *testing.T) {
	seen := map[string]Coord{}
	check := func(word string) {
		if _, ok := seen[word]; ok {
			return
		}
		ways := 0
		var value Coord
		countSplits([]byte(word), 0, numberStart, func(q number) { ways, value = ways+1, q.value() })
		seen[word] = value
		if w := merged.words[word]; w != nil && w.atom.class != 0 {
			if ways > 0 {
				t.Errorf("%q is a word and also joined", word)
			}
			return
		}
		if ways > 1 {
			t.Errorf("%q comes apart in %d ways", word, ways)
		}
	}
	for w := range merged.words {
		check(w)
	}
	for _, table := range merged.tables {
		for n := range many(1300*25) / 25 {
			spellingsOf(table, Blocks(n), odometer{forms: 1, all: 3}, true, func(text []byte) {
				for _, w := range strings.FieldsFunc(string(text), func(r rune) bool { return r == ' ' || r == '-' }) {
					check(merged.foldWord(w))
				}
			})
		}
	}
	t.Logf("%d words", len(seen))
}

func countSplits(word []byte, from int, q number, found func(number)) {
	at := int32(0)
	for i := from; i < len(word); i++ {
		if at = merged.trie[at].next[word[i]-'a']; at == 0 {
			return
		}
		k := merged.trie[at].atom
		if k == 0 {
			continue
		}
		n, ok := q.step(&merged.atoms[k-1])
		if !ok || n.doubt != 0 {
			continue
		}
		if i+1 < len(word) {
			countSplits(word, i+1, n, found)
		} else if from > 0 && n.complete() {
			found(n)
		}
	}
}
