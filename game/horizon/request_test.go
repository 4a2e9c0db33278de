package horizon

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestRenderedLines(t *testing.T) {
	for want, r := range map[string]Request{
		"hello": Hello{}, "state": State{}, "status": Status{}, "inventory": Inventory{}, "stop": Stop{},
		"block 1 -2 3": Block{1, -2, 3}, "place 1 64 -3": Place{1, 64, -3}, "events --since 7": Events{7}, "input-log --since 7 --limit 5": InputLog{7, 5},
		"goto 10 64 -5 --timeout 30": GoTo{1000, 6400, -500, 30 * time.Second}, "goto -0.5 7.25 0": GoTo{X: -50, Y: 725}, "look-at 0.05 -0.07 100": LookAt{5, -7, 10000},
		"goto 1 2 3 --timeout 0.75": GoTo{100, 200, 300, 750 * time.Millisecond}, "chat dobrý deň": Chat{"dobrý deň"},
		"wait-for event user-input --timeout 2 --since 4": WaitEvent{EventUserInput, 4, 2 * time.Second},
	} {
		if l, err := Render(r); err != nil || l.String() != want {
			t.Errorf("%+v is %q (%v), want %q", r, l.String(), err, want)
		}
	}
	for _, r := range []Request{nil, WaitEvent{}, Chat{""}, Chat{"a\nstop"}} {
		if l, err := Render(r); err == nil || l != (Line{}) {
			t.Errorf("%#v was rendered as %q", r, l.String())
		}
	}
}

// Whatever the text, a line is one line, and its word is `chat`.
// contract: S2
func TestChatNeverMakesAnotherLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"/op me", "a\r\nstop", "\x00", "--timeout 3", "x --since 1", "stop", "goto 1 2 3"})).Draw(t, "text")
		l, err := Render(Chat{text})
		if err != nil {
			return
		}
		s := l.String()
		if !strings.HasPrefix(s, "chat ") || strings.ContainsAny(s, "\x00\r\n\u2028\u2029\u0085") || strings.HasPrefix(s[5:], "/") || s[5:] != text {
			t.Fatalf("%q", s)
		}
	})
}

func TestCoordinatesKeepEveryDigit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Centi(rapid.Int32().Draw(t, "hundredths"))
		s := c.String()
		var f float64
		var back string
		if strings.Contains(s, "e") || s == "-0" || strings.HasSuffix(s, ".") || strings.Contains(s, ".") && strings.HasSuffix(s, "0") {
			t.Fatalf("%d is written %q", c, s)
		}
		f = c.Float()
		back = Centi(math.Round(f * 100)).String()
		if back != s {
			t.Fatalf("%d: %q and %q", c, s, back)
		}
	})
}

func TestEveryAssumptionIsMarkedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Dialect() {
		if f.Name == "" || f.Says == "" || f.Mark < Documented || f.Mark > Assumed || seen[f.Name] {
			t.Errorf("%+v", f)
		}
		seen[f.Name] = true
	}
}
