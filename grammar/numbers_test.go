package grammar

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"blockworld-voice/internal/lang"
)

// odometer runs through all choices of a spelling.
type odometer struct {
	kinds  []choice
	sizes  []int
	values []int
	at     int
	forms  int // how many words may have another form than the default at once
	all    int // how many choices of any kind may differ from the default at once
}

func (o *odometer) choose(kind choice, n int) int {
	if o.at == len(o.values) {
		o.kinds, o.sizes, o.values = append(o.kinds, kind), append(o.sizes, n), append(o.values, 0)
	}
	v := o.values[o.at]
	o.at++
	return v
}

// next moves to the next spelling; false when all have been seen.
func (o *odometer) next() bool {
	o.values, o.kinds, o.sizes = o.values[:o.at], o.kinds[:o.at], o.sizes[:o.at]
	o.at = 0
	for i := len(o.values) - 1; i >= 0; i-- {
		if o.values[i]+1 < o.sizes[i] && (o.values[i] > 0 || o.mayDeviate(i)) {
			o.values[i]++
			o.values, o.kinds, o.sizes = o.values[:i+1], o.kinds[:i+1], o.sizes[:i+1]
			return true
		}
	}
	return false
}

// mayDeviate says whether choice i may leave its default, given the choices before it.
func (o *odometer) mayDeviate(i int) bool {
	forms, all := 0, 0
	for j := range i {
		if o.values[j] > 0 {
			all++
			if o.kinds[j] == choiceForm {
				forms++
			}
		}
	}
	return all < o.all && (o.kinds[i] == choiceWay || forms < o.forms)
}

// spellings calls visit with the spellings of c. From 0 to 999 these are all there are. From there on
// they are all ways to join and order the words that decoding has, and every single departure from
// the default: another form of one word, or another joint in one place. So for negative numbers.
func spellings(t *table, c Coord, visit func([]byte)) {
	if c >= 0 && c < 1000*100 && !raceEnabled {
		spellingsOf(t, c, odometer{forms: 99, all: 99}, true, visit)
		return
	}
	departures := 1
	if raceEnabled && (c < -1000*100 || c > 1000*100) {
		departures = 0
	}
	spellingsOf(t, c, odometer{forms: 1, all: departures}, true, visit)
	if c > 0 && !raceEnabled {
		spellingsOf(t, c, odometer{forms: 0, all: 99}, false, visit)
	}
}

func spellingsOf(t *table, c Coord, o odometer, heard bool, visit func([]byte)) {
	w := newWriter(t, o.choose)
	w.heard = heard
	for {
		w.text = w.text[:0]
		w.coord(c)
		visit(w.text)
		if !o.next() {
			return
		}
	}
}

// shards runs f for both parities at once: the machine has two cores.
func shards(f func(shard int)) {
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// contract: V5
func TestEveryNumberInEverySpelling(t *testing.T) {
	for _, x := range lang.All() {
		table := merged.tableOf(x)
		var count, wrong atomic.Int64
		shards(func(shard int) {
			n := int64(0)
			for v := shard; v <= 30000; v += 2 {
				for _, c := range []Coord{Blocks(v), -Blocks(v)} {
					spellings(table, c, func(text []byte) {
						n++
						got, err := ParseNumber(string(text))
						if (err != nil || got != c) && wrong.Add(1) <= 20 {
							t.Errorf("%s %s %q: %s, %v", x, c, text, got, err)
						}
					})
					if v == 0 {
						break
					}
				}
			}
			count.Add(n)
		})
		t.Logf("%s: %d spellings of 60001 numbers", x, count.Load())
	}
}

func TestEveryDecimalInEverySpelling(t *testing.T) {
	depth, wholes := 2, 130
	if raceEnabled {
		depth, wholes = 1, 12
	}
	for _, x := range lang.All() {
		table := merged.tableOf(x)
		var wrong atomic.Int64
		shards(func(shard int) {
			for whole := shard; whole < wholes; whole += 2 {
				for frac := 1; frac < 100; frac++ {
					c := Coord(whole*100 + frac)
					for _, c := range []Coord{c, -c} {
						spellingsOf(table, c, odometer{forms: 1, all: depth}, true, func(text []byte) {
							got, err := ParseNumber(string(text))
							if (err != nil || got != c) && wrong.Add(1) <= 20 {
								t.Errorf("%s %s %q: %s, %v", x, c, text, got, err)
							}
						})
					}
				}
			}
		})
	}
}

// Digits: every coordinate with up to two decimals that has one reading.
func TestEveryWrittenNumber(t *testing.T) {
	step := Coord(1)
	if raceEnabled {
		step = 97
	}
	for c := MinCoord; c <= MaxCoord; c += step {
		got, err := ParseNumber(c.String())
		if err != nil || got != c {
			t.Fatalf("%s: %s, %v", c, got, err)
		}
	}
}

func TestCoordString(t *testing.T) {
	for c, want := range map[Coord]string{0: "0", 5: "0.05", -5: "-0.05", 50: "0.5", -725: "-7.25", 1000: "10", MinCoord: "-30000"} {
		if got := c.String(); got != want || fmt.Sprintf("%g", c.Float()) != want {
			t.Errorf("%d: %s, want %s", c, got, want)
		}
	}
}
