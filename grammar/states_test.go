package grammar

import (
	"testing"

	"blockworld-voice/internal/lang"
)

// exploreAll visits every reachable state and returns one text for each that can't reach an accepting one.
func exploreAll(a *Automaton) (dead []string) {
	text := []string{""}
	for s := State(0); int(s) < a.Size(); s++ {
		for b := range 256 {
			if n, ok := a.Step(s, byte(b)); ok && int(n) == len(text) {
				text = append(text, text[s]+string([]byte{byte(b)}))
			}
		}
	}
	n := a.Size()
	live := make([]bool, n)
	for again := true; again; {
		again = false
		for s := n - 1; s >= 0; s-- {
			if live[s] {
				continue
			}
			if a.accepting[s] {
				live[s], again = true, true
				continue
			}
			for c := range a.classes {
				if next := a.rows[int32(s)*a.classes+c]; next > 0 && live[next-1] {
					live[s], again = true, true
					break
				}
			}
		}
	}
	for s, l := range live {
		if !l {
			dead = append(dead, text[s])
		}
	}
	return dead
}

func TestAutomatonIsSmallAndHasNoDeadEnds(t *testing.T) {
	for _, x := range lang.All() {
		wide := Unbounded(x)
		box := wide
		box.Min = [3]Coord{Blocks(-217), Blocks(-64), Blocks(183)}
		box.Max = [3]Coord{Blocks(512), Blocks(319), Blocks(1205)}
		all := map[string]Options{"unbounded": wide, "box": box}
		if raceEnabled {
			delete(all, "unbounded")
		}
		for name, o := range all {
			a := compile(t, o)
			dead := exploreAll(a)
			if len(dead) > 0 {
				t.Errorf("%s %s: %d of %d states lead nowhere: %q", x, name, len(dead), a.Size(), dead)
			}
			if a.Full() {
				t.Errorf("%s %s: too many states", x, name)
			}
			t.Logf("%s %s: %d states, %d configurations", x, name, a.Size(), len(a.configs))
		}
	}
}
