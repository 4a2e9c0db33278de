package grammar

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blockworld-voice/internal/lang"
)

// run feeds a text to an automaton and says whether it is a sentence of its language.
func run(a *Automaton, text string) bool {
	s := a.Start()
	for i := 0; i < len(text); i++ {
		var ok bool
		if s, ok = a.Step(s, text[i]); !ok {
			return false
		}
	}
	return a.Accepting(s)
}

func compile(t testing.TB, o Options) *Automaton {
	t.Helper()
	a, err := Compile(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAutomatonAcceptsCorpus(t *testing.T) {
	data, err := os.ReadFile("testdata/corpus.tsv")
	if err != nil {
		t.Fatal(err)
	}
	lines := readCorpus(t, string(data), [3]int{0, 1, 2})
	if dir := os.Getenv("BLOCKWORLD_SPEECH"); dir != "" {
		data, err := os.ReadFile(filepath.Join(dir, "manifest.tsv"))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, readCorpus(t, string(data), [3]int{1, 2, 3})...)
	}
	for _, x := range lang.All() {
		o := Unbounded(x)
		commands := compile(t, o)
		o.Start = StartCoordinates
		coords := compile(t, o)
		o.Start = StartNumber
		numbers := compile(t, o)
		for _, c := range lines {
			if c.language != x.String() || c.expect == "" {
				continue
			}
			a, want := commands, c.expect != "refuse"
			switch {
			case strings.HasPrefix(c.expect, "coords "):
				a = coords
			case c.expect[0] == '-' || c.expect[0] >= '0' && c.expect[0] <= '9':
				a = numbers
			}
			if got := run(a, c.text); got != want {
				t.Errorf("%s %q: accepted %v, want %v", x, c.text, got, want)
			}
			if want && !run(a, capital(c.text)) {
				t.Errorf("%s %q: not accepted with a capital letter", x, c.text)
			}
		}
		t.Logf("%s: %d, %d, %d states", x, commands.Size(), coords.Size(), numbers.Size())
	}
}
