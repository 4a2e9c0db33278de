package game

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// clauses are the clauses of the contract that this package, and those of behaviours and plans, have to prove.
var clauses = map[string]int{"A": 7, "O": 3, "S": 6, "P": 3, "X": 4, "Q": 2, "F": 6, "I": 2, "T": 3, "B": 8}

// Every clause has a test that says so right above its name.
func TestEveryClauseHasATest(t *testing.T) {
	label := regexp.MustCompile(`(?m)^// contract: ([A-Z])([0-9]+)\n(?:// contract: .*\n)*func Test`)
	any := regexp.MustCompile(`(?m)^// contract: (.*)$`)
	found := map[string]bool{}
	for _, pattern := range []string{"*_test.go", "*/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range any.FindAllStringSubmatch(string(b), -1) {
				if !regexp.MustCompile(`^[A-Z][0-9]+$`).MatchString(m[1]) {
					t.Errorf("%s: %q is no clause", name, m[1])
				}
			}
			// A label counts when only labels stand between it and its test.
			text := string(b)
			for {
				m := label.FindStringSubmatchIndex(text)
				if m == nil {
					break
				}
				found[text[m[2]:m[3]]+text[m[4]:m[5]]] = true
				text = text[m[5]:]
			}
		}
	}
	for letter, n := range clauses {
		for i := 1; i <= n; i++ {
			if c := letter + string(rune('0'+i)); !found[c] {
				t.Errorf("clause %s has no test", c)
			}
		}
	}
	if len(found) < 20 {
		t.Fatal(found)
	}
}
