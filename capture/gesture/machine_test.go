package gesture

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"blockworld-voice/capture/recorder"
)

var zero = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// play sends signals, "press@0 release@1000", with a tick at every millisecond in between, and writes down what
// follows: "begin@0 keep@250 end(released@1000)@1060".
func play(m *Machine, script string, until int) string {
	type signal struct {
		kind Kind
		from string
		at   int
	}
	var signals []signal
	for _, word := range strings.Fields(script) {
		name, at, _ := strings.Cut(word, "@")
		name, from, other := strings.Cut(name, ":")
		if !other {
			from = "key"
		}
		var ms int
		if _, err := fmt.Sscan(at, &ms); err != nil {
			panic(err)
		}
		signals = append(signals, signal{Kind(slices.Index(kindNames[:], name)), from, ms})
	}
	var out []string
	say := func(at int, events []Event) {
		for _, e := range events {
			switch e := e.(type) {
			case Begin:
				out = append(out, fmt.Sprintf("begin@%d", e.At.Sub(zero).Milliseconds()))
			case Keep:
				out = append(out, fmt.Sprintf("keep@%d", at))
			case End:
				out = append(out, fmt.Sprintf("%v@%d", e.Why, e.At.Sub(zero).Milliseconds()))
			}
		}
	}
	for ms := 0; ms <= until; ms++ {
		now := zero.Add(time.Duration(ms) * time.Millisecond)
		for len(signals) > 0 && signals[0].at == ms {
			say(ms, m.Input(Signal{signals[0].kind, signals[0].from, now}))
			signals = signals[1:]
		}
		if at, ok := m.Deadline(); ok && !at.After(now) {
			say(ms, m.Tick(now))
		}
	}
	return strings.Join(out, " ")
}

func repeated(pattern string, from, to, every int) string {
	var words []string
	for at := from; at < to; at += every {
		for _, w := range strings.Fields(pattern) {
			words = append(words, fmt.Sprintf("%s@%d", w, at))
		}
	}
	return strings.Join(words, " ")
}

func TestGestures(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"a hold", "press@0 release@1000", "begin@0 keep@250 released@1000"},
		{"a tap of 20 ms", "press@0 release@20", "begin@0 tapped@0020"},
		{"a tap of 100 ms", "press@0 release@100", "begin@0 tapped@100"},
		{"a tap of 240 ms", "press@0 release@240", "begin@0 tapped@240"},
		{"a hold of 250 ms", "press@0 release@250", "begin@0 keep@250 released@250"},
		{"release and press pairs every 30 ms for 2 s", "press@0 " + repeated("release press", 500, 2500, 30) + " release@2510", "begin@0 keep@250 released@2510"},
		{"pairs with a gap", "press@0 " + repeated("release", 400, 2000, 60) + " " + "press@2000 release@2030", ""},
		{"presses alone that repeat", "press@0 " + repeated("press", 500, 2500, 30) + " release@2510", "begin@0 keep@250 released@2510"},
		{"two holds", "press@0 release@500 press@700 release@1400", "begin@0 keep@250 released@500 begin@700 keep@950 released@1400"},
		{"a lost release", "press@0", "begin@0 keep@250 max_duration@3000"},
		{"a lost release, then the next hold", "press@0 press@4500 release@5000", "begin@0 keep@250 max_duration@3000 begin@4500 keep@4750 released@5000"},
		{"a key that is held for ever and repeats", "press@0 " + repeated("press", 500, 5500, 30) + " release@5510", "begin@0 keep@250 max_duration@3000"},
		{"the keyboard is unplugged", "press@0 gone@800", "begin@0 keep@250 key_lost@800"},
		{"another keyboard is unplugged", "press@0 gone:other@800 release@900", "begin@0 keep@250 released@900"},
		{"the release of another key", "press@0 release:other@500 release@900", "begin@0 keep@250 released@900"},
		{"a release without a press", "release@100", ""},
		{"unplugged at rest", "gone@100", ""},
		{"a toggle", "toggle@0 toggle@1500", "begin@0 keep@0 toggled@1500"},
		{"a toggle key that is held", "toggle@0 " + repeated("toggle", 500, 2000, 30) + " toggle@2800", "begin@0 keep@0 toggled@2800"},
		{"a toggle key that is held when it ends the take", "toggle@0 toggle@1500 " + repeated("toggle", 2000, 2600, 30), "begin@0 keep@0 toggled@1500"},
		{"a toggle nobody ends", "toggle@0 toggle@4000 toggle@5000", "begin@0 keep@0 max_duration@3000 begin@4000 keep@4000 toggled@5000"},
		{"a pedal's toggle ends a hold", "press@0 toggle:pedal@900 release@1000", "begin@0 keep@250 toggled@900"},
	} {
		want := strings.ReplaceAll(c.want, "@00", "@")
		got := play(New(Config{Max: 3 * time.Second}), c.in, 6000)
		if c.want == "" && c.name == "pairs with a gap" {
			want = "begin@0 keep@250 released@400 begin@2000 tapped@2030" // a gap of 60 ms is a release
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, want)
		}
	}
}

// Whatever comes, takes begin and end in turn, nothing is kept outside of one, and time alone ends each.
func TestGesturesAreProper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := New(Config{Max: 2 * time.Second})
		now := zero
		open, kept := false, false
		take := func(events []Event) {
			for _, e := range events {
				switch e := e.(type) {
				case Begin:
					if open {
						t.Fatal("a take within a take")
					}
					open, kept = true, false
				case Keep:
					if !open || kept {
						t.Fatal("kept twice or outside of a take")
					}
					kept = true
				case End:
					if !open || e.Why.Whole() && !kept || e.Why == recorder.Tapped && kept {
						t.Fatalf("%v: open %v, kept %v", e.Why, open, kept)
					}
					open = false
				}
			}
			if open != m.Active() {
				t.Fatalf("the machine thinks that a take is %v, and it is %v", m.Active(), open)
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 20, 30, 59, 61, 100, 250, 699, 701, 1999, 2500}).Draw(t, "ms")) * time.Millisecond)
			if k := Kind(rapid.IntRange(0, 4).Draw(t, "kind")); k == 0 {
				take(m.Tick(now))
			} else {
				take(m.Input(Signal{k, rapid.SampledFrom([]string{"a", "b"}).Draw(t, "source"), now}))
			}
			if rapid.IntRange(0, 20).Draw(t, "reset") == 0 {
				m.Reset()
				open = false
			}
		}
		for range 3 { // a release is followed by its merge window, keeping by the longest take
			now = now.Add(3 * time.Second)
			take(m.Tick(now))
		}
		if open {
			t.Fatal("time doesn't end the take")
		}
	})
}
