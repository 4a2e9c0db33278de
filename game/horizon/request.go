package horizon

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Centi is a coordinate in hundredths of a block. Coordinates never pass through
// floating point on their way to the socket.
type Centi int32

// String writes the fewest digits: "10", "-0.5", "7.25"; zero has no sign.
func (c Centi) String() string {
	n, sign := int64(c), ""
	if n < 0 {
		n, sign = -n, "-"
	}
	whole, frac := strconv.FormatInt(n/100, 10), n%100
	switch {
	case frac == 0:
		return sign + whole
	case frac%10 == 0:
		return fmt.Sprintf("%s%s.%d", sign, whole, frac/10)
	}
	return fmt.Sprintf("%s%s.%02d", sign, whole, frac)
}

// Float is the coordinate in blocks.
func (c Centi) Float() float64 { return float64(c) / 100 }

// Request is one thing that we may ask the game. The set is closed: no value of it can
// carry a raw line, and Render is the only function that makes one.
type Request interface{ request() }

type (
	// Hello asks who answers.
	Hello struct{}
	// State asks for the player's state.
	State struct{}
	// Status asks for the client's status.
	Status struct{}
	// Inventory asks for the slots.
	Inventory struct{}
	// Block asks for one cell.
	Block struct{ X, Y, Z int32 }
	// Events asks for what happened after a sequence number.
	Events struct{ Since uint64 }
	// InputLog asks for input events and their origins.
	InputLog struct {
		Since uint64
		Limit int
	}
	// WaitEvent waits for an event of a kind.
	WaitEvent struct {
		Kind    EventKind
		Since   uint64
		Timeout time.Duration
	}
	// GoTo walks. A zero Timeout sends no flag.
	GoTo struct {
		X, Y, Z Centi
		Timeout time.Duration
	}
	// LookAt turns the view.
	LookAt struct{ X, Y, Z Centi }
	// Chat says something to everybody.
	Chat struct{ Text string }
	// Place puts the selected block into a cell.
	Place struct{ X, Y, Z int32 }
	// Stop ends the active action and releases movement.
	Stop struct{}
)

func (Hello) request()     {}
func (State) request()     {}
func (Status) request()    {}
func (Inventory) request() {}
func (Block) request()     {}
func (Events) request()    {}
func (InputLog) request()  {}
func (WaitEvent) request() {}
func (GoTo) request()      {}
func (LookAt) request()    {}
func (Chat) request()      {}
func (Place) request()     {}
func (Stop) request()      {}

// Line is a rendered request without its newline. Only Render makes one that holds anything.
type Line struct{ s string }

// String returns the line as it is sent.
func (l Line) String() string { return l.s }

// Render writes the one line that a request is. It is the only source of bytes for the socket.
func Render(r Request) (Line, error) {
	var s string
	switch r := r.(type) {
	case Hello:
		s = wordHello
	case State:
		s = wordState
	case Status:
		s = wordStatus
	case Inventory:
		s = wordInventory
	case Block:
		s = fmt.Sprintf("%s %d %d %d", wordBlock, r.X, r.Y, r.Z)
	case Events:
		s = fmt.Sprintf("%s %s %d", wordEvents, flagSince, r.Since)
	case InputLog:
		s = fmt.Sprintf("%s %s %d", wordInputLog, flagSince, r.Since)
		if r.Limit > 0 {
			s += fmt.Sprintf(" %s %d", flagLimit, r.Limit)
		}
	case WaitEvent:
		if !r.Kind.valid() {
			return Line{}, errors.New("wait for an event of no known kind")
		}
		s = fmt.Sprintf("%s event %s %s %s %s %d", wordWaitFor, r.Kind, flagTimeout, seconds(r.Timeout), flagSince, r.Since)
	case GoTo:
		s = fmt.Sprintf("%s %s %s %s", wordGoTo, r.X, r.Y, r.Z)
		if r.Timeout > 0 {
			s += " " + flagTimeout + " " + seconds(r.Timeout)
		}
	case LookAt:
		s = fmt.Sprintf("%s %s %s %s", wordLookAt, r.X, r.Y, r.Z)
	case Chat:
		if err := CheckChat(r.Text); err != nil {
			return Line{}, err
		}
		s = wordChat + " " + r.Text
	case Place:
		s = fmt.Sprintf("%s %d %d %d", wordPlace, r.X, r.Y, r.Z)
	case Stop:
		s = wordStop
	default:
		return Line{}, errors.New("there is no such request")
	}
	if strings.ContainsAny(s, "\x00\r\n") || !utf8.ValidString(s) {
		return Line{}, errors.New("a request is one line of text")
	}
	return Line{s}, nil
}

func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Round(10*time.Millisecond).Seconds(), 'f', -1, 64)
}

// CheckChat says whether a text may follow `chat`. Refused are what the game's own chat
// would take for something else than words: a leading slash is a command to the server,
// a word that begins with two dashes may be read as a flag, a section sign is formatting
// (and gets a player thrown out), and no character may be invisible or end the line.
func CheckChat(text string) error {
	switch {
	case !utf8.ValidString(text):
		return errors.New("the text is not valid UTF-8")
	case strings.TrimSpace(text) == "":
		return errors.New("there is nothing to say")
	case strings.TrimSpace(text) != text:
		return errors.New("the text begins or ends with a space")
	case len(utf16.Encode([]rune(text))) > MaxChat:
		return fmt.Errorf("the text is longer than the %d characters that chat takes", MaxChat)
	case strings.HasPrefix(text, "/"):
		return errors.New("a text that begins with a slash would be a command to the server")
	}
	for _, w := range strings.Fields(text) {
		if strings.HasPrefix(w, "--") {
			return errors.New("a word that begins with two dashes could be taken for a flag")
		}
	}
	for _, r := range text {
		if r == '§' || r != ' ' && !unicode.IsGraphic(r) || r == '\u2028' || r == '\u2029' || r == unicode.ReplacementChar {
			return errors.New("the text holds a character that can't be said in chat")
		}
	}
	return nil
}
