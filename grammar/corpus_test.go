package grammar

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpusLine is a sentence of the speech corpus and what it means: a canonical command,
// "coords X Y Z", one number, "refuse", or nothing for a word that is only a part.
type corpusLine struct{ language, expect, text string }

func readCorpus(t *testing.T, data string, columns [3]int) []corpusLine {
	t.Helper()
	var out []corpusLine
	for line := range strings.Lines(data) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(f) <= columns[2] || f[columns[0]] == "language" {
			continue
		}
		out = append(out, corpusLine{f[columns[0]], f[columns[1]], f[columns[2]]})
	}
	if len(out) == 0 {
		t.Fatal("no corpus lines")
	}
	return out
}

func checkCorpus(t *testing.T, lines []corpusLine) {
	for _, c := range lines {
		switch {
		case c.expect == "":
		case c.expect == "refuse":
			if a, ok := Parse(c.text).(Accepted); ok {
				t.Errorf("%q is accepted as %s", c.text, a.Command)
			}
		case strings.HasPrefix(c.expect, "coords "):
			n, err := ParseCoordinates(c.text)
			if got := "coords " + triple(n[0], n[1], n[2]); err != nil || got != c.expect {
				t.Errorf("%q: %v %v, want %s", c.text, got, err, c.expect)
			}
			refused(t, c.text)
		case c.expect[0] == '-' || c.expect[0] >= '0' && c.expect[0] <= '9':
			n, err := ParseNumber(c.text)
			if err != nil || n.String() != c.expect {
				t.Errorf("%q: %v %v, want %s", c.text, n, err, c.expect)
			}
			refused(t, c.text)
		default:
			if got := describe(Parse(c.text)); got != c.expect {
				t.Errorf("%q: %s, want %s", c.text, got, c.expect)
			}
		}
	}
}

// refused checks that a text is no command.
func refused(t *testing.T, text string) {
	t.Helper()
	if a, ok := Parse(text).(Accepted); ok {
		t.Errorf("%q is accepted as %s", text, a.Command)
	}
}

// describe writes a decision in one line.
func describe(d Decision) string {
	switch d := d.(type) {
	case Accepted:
		return d.Command.String()
	case Refusal:
		return "! " + d.Reason.String()
	}
	return "?"
}

// contract: V5
func TestCorpusTexts(t *testing.T) {
	data, err := os.ReadFile("testdata/corpus.tsv")
	if err != nil {
		t.Fatal(err)
	}
	checkCorpus(t, readCorpus(t, string(data), [3]int{0, 1, 2}))
	if dir := os.Getenv("BLOCKWORLD_SPEECH"); dir != "" {
		data, err := os.ReadFile(filepath.Join(dir, "manifest.tsv"))
		if err != nil {
			t.Fatal(err)
		}
		checkCorpus(t, readCorpus(t, string(data), [3]int{1, 2, 3}))
	}
}
