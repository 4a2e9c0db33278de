// Package screen says what a person sees of a session: as a screen of any size, or as plain lines that are read out
// well. It is pure: a View goes in and text comes out.
package screen

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// State is what the session is doing.
type State uint8

// The states, in the order of an utterance.
const (
	Off       State = iota // waiting for a gesture; the microphone is proved off
	Arming                 // the gesture began; the microphone delivers nothing yet
	Recording              // speak
	Thinking               // recognition and grammar
	Asking                 // a proposal waits for the person's word
	Doing                  // the companion acts
	Speaking               // the reply
	Stopping               // fenced; what runs is being settled
	Uncertain              // the microphone's state is not known
)

type look struct{ word, mark, says, colour string }

// looks is the one table of how states show. Marks differ in shape, so that no colour is needed.
var looks = [...]look{
	Off:       {"OFF", "[ ]", "the microphone is off", "2"},
	Arming:    {"ARMING", "[~]", "wait, the microphone is being opened", "33"},
	Recording: {"RECORDING", "[O]", "speak now", "1;31"},
	Thinking:  {"THINKING", "[?]", "the microphone is off", "36"},
	Asking:    {"PROPOSAL", "[!]", "nothing was sent", "1;33"},
	Doing:     {"DOING", "[>]", "the companion acts", "1;32"},
	Speaking:  {"SPEAKING", "[\"]", "the reply is being played", "35"},
	Stopping:  {"STOPPING", "[x]", "nothing more is sent", "1;31"},
	Uncertain: {"UNCERTAIN", "[X]", "a recorder may still hold the microphone", "1;31"},
}

// States lists all of them.
func States() []State {
	return []State{Off, Arming, Recording, Thinking, Asking, Doing, Speaking, Stopping, Uncertain}
}

// String returns the name in small letters.
func (s State) String() string { return strings.ToLower(looks[s].word) }

// Entry is one utterance that is over.
type Entry struct {
	Heard, Understood, Happened string
	Good                        bool // the game reported it
}

// View is everything that is shown.
type View struct {
	State      State
	Stage      string // while thinking
	Level      float64
	Elapsed    time.Duration // of the recording
	Max        time.Duration
	Proposal   string // while asking
	Left       time.Duration
	Talk       string // how to speak, "hold space"
	Microphone string // the device
	World      string // the companion
	Note       string // the newest thing to know
	Entries    []Entry
	Bye        string // what the session says at its end
}

// Says is the state in one line, for plain lines and for the screen's first row.
func (v View) Says() string {
	l := looks[v.State]
	switch v.State {
	case Off:
		return l.says + "; " + v.Talk + " to speak"
	case Thinking:
		if v.Stage != "" {
			return l.says + "; " + v.Stage
		}
	case Asking:
		return l.says + "; did you mean: " + v.Proposal
	case Arming, Recording, Doing, Speaking, Stopping, Uncertain:
	}
	return l.says
}

// Line is the state for plain lines.
func (v View) Line() string {
	s := looks[v.State].word + ": " + v.Says()
	if v.State == Asking {
		s += fmt.Sprintf(" (y: yes, n: no; %d s)", int(v.Left.Seconds()+0.5))
	}
	return s
}

// The least and the most that a screen is laid out for.
const (
	minWidth  = 20
	minHeight = 6
	maxWidth  = 120
)

// Screen lays the view out. Each line is at most width wide and there are at most height lines. Whatever the size,
// the state, the way to speak and the way to stop are on it.
func (v View) Screen(width, height int, colour bool) string {
	width, height = min(max(width, minWidth), maxWidth), max(height, minHeight)
	p := painter{width: width, colour: colour}
	l := looks[v.State]
	p.line(p.paint(l.colour, l.mark+" "+l.word) + "  " + v.Says())
	p.line(v.meter(width))
	p.line(strings.Repeat("-", width))
	foot := []string{strings.Repeat("-", width), v.keys(), v.where()}
	if height < 10 {
		foot = []string{v.keys()}
	}
	room := height - len(p.lines) - len(foot)
	p.lines = append(p.lines, v.entries(room, p)...)
	for len(p.lines) < height-len(foot) {
		p.lines = append(p.lines, "")
	}
	for _, f := range foot {
		p.line(f)
	}
	return strings.Join(p.lines, "\n")
}

// meter is the second row: a level while recording, a note else.
func (v View) meter(width int) string {
	switch v.State {
	case Recording:
		head := fmt.Sprintf("    %4.1f of %.0f s  ", v.Elapsed.Seconds(), v.Max.Seconds())
		return head + Meter(v.Level, max(8, min(40, width-len(head)-9))) + fmt.Sprintf(" %3.0f dB", v.Level)
	case Asking:
		return fmt.Sprintf("    y: yes, do it   n: no   (%d s left)", int(v.Left.Seconds()+0.5))
	case Off, Arming, Thinking, Doing, Speaking, Stopping, Uncertain:
	}
	if v.Note != "" {
		return "    " + v.Note
	}
	return ""
}

// Meter is a bar for a level of -60 to 0 dB.
func Meter(db float64, width int) string {
	n := int((db + 60) / 60 * float64(width))
	n = min(max(n, 0), width)
	return "|" + strings.Repeat("#", n) + strings.Repeat(".", width-n) + "|"
}

func (v View) keys() string {
	return "s or ctrl-c: STOP   q: quit   " + v.Talk + ": speak"
}

func (v View) where() string {
	s := "microphone: " + v.Microphone
	if v.World != "" {
		s += "   companion: " + v.World
	}
	return s
}

// entries are the newest utterances that find room, newest last, three rows each.
func (v View) entries(room int, p painter) []string {
	if len(v.Entries) == 0 {
		return []string{p.cut("Nothing was said yet.")}
	}
	var out []string
	for i := len(v.Entries) - 1; i >= 0; i-- {
		e := v.Entries[i]
		colour := "33"
		if e.Good {
			colour = "32"
		}
		var rows []string
		for _, r := range []struct{ name, text, colour string }{{"heard", e.Heard, ""}, {"understood", e.Understood, "1"}, {"happened", e.Happened, colour}} {
			if r.text != "" {
				rows = append(rows, p.cut(fmt.Sprintf("  %-11s", r.name)+p.paint(r.colour, r.text)))
			}
		}
		if len(out)+len(rows)+1 > room && len(out) > 0 {
			break
		}
		if len(out) > 0 {
			rows = append(rows, "")
		}
		out = append(rows, out...)
	}
	return out[max(0, len(out)-room):]
}

type painter struct {
	width  int
	colour bool
	lines  []string
}

func (p *painter) line(s string) { p.lines = append(p.lines, p.cut(s)) }

// cut keeps a row within the width, whatever its letters are.
func (p painter) cut(s string) string { return ansi.Truncate(s, p.width, "…") }

func (p painter) paint(colour, s string) string {
	if !p.colour || colour == "" || s == "" {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}
