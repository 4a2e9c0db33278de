package grammar

import (
	"slices"
	"strings"
	"testing"

	"blockworld-voice/internal/lang"
)

// oracle reads numbers by looking them up among spellings, and finds all readings by trying all cuts.
// It shares no code with the number machine.
type oracle struct{ values map[string]Coord }

const oracleLimit = 1500

func newOracle(t *table, limit int) *oracle {
	o := &oracle{map[string]Coord{}}
	add := func(c Coord, all int, heard bool) {
		spellingsOf(t, c, odometer{forms: 3, all: all}, heard, func(text []byte) { o.values[string(text)] = c })
	}
	for n := range limit {
		add(Blocks(n), 3, true)
	}
	for n := range Coord(1000) {
		if n%100 != 0 {
			add(n, 5, false)
		}
	}
	return o
}

// value looks a number up, with its sign.
func (o *oracle) value(words []string) (Coord, bool) {
	sign := Coord(1)
	if w := words[0]; w == "minus" || w == "mínus" {
		words, sign = words[1:], -1
	}
	c, ok := o.values[strings.Join(words, " ")]
	return sign * c, ok
}

// readings returns the count of numbers in the longest-match reading (0: there is none) and all
// readings of three.
func (o *oracle) readings(words []string) (longest int, three [][3]Coord) {
	best := make([]int, len(words)+1) // numbers from here on in the longest-match reading, -1: none
	for i := len(words) - 1; i >= 0; i-- {
		best[i] = -1
		for j := len(words); j > i; j-- {
			if _, ok := o.value(words[i:j]); ok && best[j] >= 0 {
				best[i] = best[j] + 1
				break
			}
		}
	}
	for i := 1; i < len(words); i++ {
		for j := i + 1; j < len(words); j++ {
			x, ok1 := o.value(words[:i])
			y, ok2 := o.value(words[i:j])
			z, ok3 := o.value(words[j:])
			if ok1 && ok2 && ok3 && !slices.Contains(three, [3]Coord{x, y, z}) {
				three = append(three, [3]Coord{x, y, z})
			}
		}
	}
	return max(best[0], 0), three
}

// Random rows of number words are accepted exactly when they have one reading, up to the readings
// that only make a text ambiguous.
// contract: S2
func TestUniqueReadingAgainstAnOracle(t *testing.T) {
	for _, x := range lang.All() {
		table := merged.tableOf(x)
		limit := oracleLimit
		if raceEnabled {
			limit = 300
		}
		o := newOracle(table, limit)
		// Words that the parser combines more freely than anybody spells are left out.
		var pool []string
		for _, n := range table.numerals {
			w := strings.Fields(n.forms)[0]
			if w == "jedna" {
				w = "jeden" // which alone stands before a thousand
			}
			if n.roles&roleBound == 0 && w != "jedno" && w != "tisíce" && (n.class != classHundred || x != lang.CS) {
				pool = append(pool, w)
			}
		}
		s := Sampler{table: table, state: 11}
		accepted, refused := 0, 0
		for range many(150_000) {
			words := make([]string, 3+s.below(6))
			for i := range words {
				words[i] = pool[s.below(len(pool))]
			}
			text := strings.Join(words, " ")
			if strings.Contains(text, table.pointWord()) && (strings.Contains(text, "nula") || strings.Contains(text, "zero") || strings.Contains(text, "oh") || strings.Contains(text, " a ")) {
				continue // decimals that end in zero, or with split inversion, which the oracle doesn't list
			}
			got, err := ParseCoordinates(text)
			longest, three := o.readings(words)
			if err == nil {
				accepted++
				if slices.ContainsFunc(got[:], func(c Coord) bool { return max(c, -c) >= Blocks(limit) || c%100 != 0 && max(c, -c) > 999 }) {
					continue // more than the oracle knows
				}
				if longest != 3 || len(three) != 1 || three[0] != got {
					t.Fatalf("%s %q is accepted as %v; the oracle: longest match %d numbers, readings %v", x, text, got, longest, three)
				}
				continue
			}
			refused++
			if r := err.(Refusal); longest == 3 && len(three) == 1 && r.Reason != Ambiguous && r.Reason != BadNumber {
				t.Fatalf("%s %q is refused: %v; the oracle: %v", x, text, err, three)
			}
		}
		t.Logf("%s: %d spellings; %d rows accepted, %d refused", x, len(o.values), accepted, refused)
		if accepted < 100 {
			t.Errorf("%s: only %d rows accepted", x, accepted)
		}
	}
}

func (t *table) pointWord() string {
	forms, _ := t.spellings(classPoint, 0)
	return forms[0]
}
