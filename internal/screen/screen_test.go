package screen

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the pictures of the documentation anew")

// sample is a session in a state.
func sample(s State) View {
	v := View{
		State: s, Talk: "enter", Microphone: "Headset Microphone (ALSA)", World: "embedded lab, minecraft:overworld", Max: 30 * time.Second, Level: -90,
		Entries: []Entry{
			{"“choď na desať šesťdesiatštyri mínus päť” (sk)", "goto 10 64 -5", "reported: the game says that it is there, and movement was seen", true},
			{"“go to forty”", "refused: missing_coordinate", "nothing was sent", false},
		},
	}
	switch s {
	case Off:
		v.Note = "the last reply was played"
	case Recording:
		v.Level, v.Elapsed = -18, 1700*time.Millisecond
	case Thinking:
		v.Stage = "listening for a command"
	case Asking:
		v.Proposal, v.Left = "goto 33 64 12", 8*time.Second
	case Arming, Doing, Speaking, Stopping, Uncertain:
	}
	return v
}

// The pictures in the documentation are what the program shows.
func TestPictures(t *testing.T) {
	for _, s := range States() {
		got := sample(s).Screen(80, 24, false) + "\n"
		path := filepath.Join("..", "..", "docs", "screen", s.String()+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s shows\n%s\nand not what %s has", s, got, path)
		}
	}
}

// Whatever the size, nothing is wider or longer, and the state, speaking and stopping are on it.
func TestEverySize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(0, 200).Draw(t, "width"), rapid.IntRange(0, 70).Draw(t, "height")
		v := sample(rapid.SampledFrom(States()).Draw(t, "state"))
		for range rapid.IntRange(0, 12).Draw(t, "more") {
			v.Entries = append(v.Entries, Entry{Heard: rapid.StringN(0, 200, -1).Draw(t, "heard"), Understood: "x", Happened: "y"})
		}
		for i, e := range v.Entries { // what reaches a view has no controls in it
			v.Entries[i].Heard = strings.Map(func(r rune) rune {
				if r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 {
					return ' '
				}
				return r
			}, e.Heard)
		}
		colour := rapid.Bool().Draw(t, "colour")
		got := v.Screen(w, h, colour)
		lines := strings.Split(got, "\n")
		if len(lines) > max(h, minHeight) {
			t.Fatalf("%d lines at a height of %d", len(lines), h)
		}
		for _, l := range lines {
			if n := ansi.StringWidth(l); n > min(max(w, minWidth), maxWidth) {
				t.Fatalf("%q is %d wide, not %d", l, n, w)
			}
		}
		plain := ansi.Strip(got)
		if !strings.Contains(plain, looks[v.State].word) || !strings.Contains(plain, "STOP") {
			t.Fatalf("at %d×%d:\n%s", w, h, plain)
		}
		if !colour && plain != got {
			t.Fatal("colour where none was wanted")
		}
	})
}

func TestMeter(t *testing.T) {
	for db, want := range map[float64]string{-90: "|..........|", -60: "|..........|", -30: "|#####.....|", 0: "|##########|", 3: "|##########|"} {
		if got := Meter(db, 10); got != want {
			t.Errorf("%v dB: %s", db, got)
		}
	}
}

func TestLines(t *testing.T) {
	seen := map[string]State{}
	for _, s := range States() {
		l := sample(s).Line()
		if other, twice := seen[l]; twice {
			t.Errorf("%v and %v say the same: %s", s, other, l)
		}
		seen[l] = s
		if strings.ContainsAny(l, "\x1b\n#|") {
			t.Errorf("%q is not read out well", l)
		}
	}
}
