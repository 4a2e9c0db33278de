package lab

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind is a fault that a lab can be told to have.
type Kind string

// The faults. Those of the first group spoil a reply, those of the second spoil what
// happens, those of the third happen to the process.
const (
	NoReply          Kind = "no-reply"
	LateReply        Kind = "late-reply"
	HalfLine         Kind = "half-line"
	ByteAtATime      Kind = "byte-at-a-time"
	NUL              Kind = "nul"
	InvalidUTF8      Kind = "invalid-utf8"
	HugeLine         Kind = "huge-line"
	DeepNesting      Kind = "deep-nesting"
	WrongType        Kind = "wrong-type"
	NaN              Kind = "nan"
	TwoReplies       Kind = "two-replies"
	DisconnectBefore Kind = "disconnect-before"
	DisconnectAfter  Kind = "disconnect-after"

	NoDisplacement Kind = "ok-without-displacement"
	NoBlock        Kind = "ok-without-block"
	BlockByOther   Kind = "block-by-other"
	StopIgnored    Kind = "stop-ignored"
	Busy           Kind = "busy"
	Denied         Kind = "denied"
	Death          Kind = "death"
	DimensionMove  Kind = "dimension-change"
	WorldMove      Kind = "world-change"
	ClockJump      Kind = "clock-jump"
	PersonInput    Kind = "user-input"

	Killed   Kind = "killed"
	Replaced Kind = "replaced"
)

// Kinds lists every fault.
func Kinds() []Kind {
	return []Kind{NoReply, LateReply, HalfLine, ByteAtATime, NUL, InvalidUTF8, HugeLine, DeepNesting, WrongType, NaN, TwoReplies,
		DisconnectBefore, DisconnectAfter, NoDisplacement, NoBlock, BlockByOther, StopIgnored, Busy, Denied, Death, DimensionMove, WorldMove,
		ClockJump, PersonInput, Killed, Replaced}
}

// Fault strikes at the N-th line (0 is the first, a negative N is every line) whose word
// is Word; "" is any action, for StopIgnored the word stop.
type Fault struct {
	Kind Kind
	Word string
	N    int
}

// ParseFault reads KIND, KIND@N, KIND@WORD:N or KIND@WORD:*.
func ParseFault(s string) (Fault, error) {
	kind, at, placed := strings.Cut(s, "@")
	f := Fault{Kind: Kind(kind)}
	known := false
	for _, k := range Kinds() {
		known = known || k == f.Kind
	}
	if !known {
		return Fault{}, fmt.Errorf("there is no fault %q", kind)
	}
	if !placed {
		return f, nil
	}
	if word, n, ok := strings.Cut(at, ":"); ok {
		if _, is := words[word]; !is {
			return Fault{}, fmt.Errorf("there is no command %q", word)
		}
		f.Word, at = word, n
	}
	if at == "*" {
		f.N = -1
		return f, nil
	}
	n, err := strconv.Atoi(at)
	if err != nil || n < 1 {
		return Fault{}, fmt.Errorf("%q is not the number of a line", at)
	}
	f.N = n
	return f, nil
}

// String is the form that ParseFault reads.
func (f Fault) String() string {
	at := strconv.Itoa(max(f.N, 1))
	if f.N < 0 {
		at = "*"
	}
	if f.Word != "" {
		at = f.Word + ":" + at
	}
	return string(f.Kind) + "@" + at
}

type faults []*armed

type armed struct {
	Fault
	seen int
}

func newFaults(list []Fault) faults {
	var out faults
	for _, f := range list {
		if f.N == 0 {
			f.N = 1
		}
		if f.Kind == StopIgnored && f.Word == "" {
			f.Word = "stop"
		}
		out = append(out, &armed{Fault: f})
	}
	return out
}

// Arm adds a fault; lines are counted from now on.
func (g *Game) Arm(f Fault) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.faults = append(g.faults, newFaults([]Fault{f})...)
}

// strike counts a line and returns the faults that it meets. g.mu is held.
func (fs faults) strike(word string) map[Kind]bool {
	var out map[Kind]bool
	poll, known := words[word]
	for _, f := range fs {
		if f.Word != word && (f.Word != "" || poll || !known || word == "stop") {
			continue
		}
		if f.seen++; f.N < 0 || f.seen == f.N {
			if out == nil {
				out = map[Kind]bool{}
			}
			out[f.Kind] = true
		}
	}
	return out
}

// spoil turns a good reply into what a faulty game writes, newline included.
func spoil(text string, hit map[Kind]bool) []byte {
	switch {
	case hit[NUL]:
		return []byte(text[:1] + "\x00" + text[1:] + "\n")
	case hit[InvalidUTF8]:
		return []byte(text[:len(text)-1] + `,"x":"` + "\xff\xfe" + "\"}\n")
	case hit[HugeLine]:
		return []byte(`{"ok":true,"x":"` + strings.Repeat("x", 10<<20) + "\"}\n")
	case hit[DeepNesting]:
		return []byte(`{"ok":true,"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}\n")
	case hit[WrongType]:
		return []byte(retype(text, `"yes"`) + "\n")
	case hit[NaN]:
		return []byte(retype(text, "NaN") + "\n")
	case hit[TwoReplies]:
		return []byte(text + "\n" + text + "\n")
	case hit[HalfLine]:
		return []byte(text[:len(text)/2])
	}
	return []byte(text + "\n")
}

// retype gives one key that matters another value.
func retype(text, value string) string {
	for _, key := range [...]string{`"ok":true`, `"health":`, `"creative":`, `"selected":`, `"loaded":`, `"last":`, `"version":`} {
		i := strings.Index(text, key)
		if i < 0 {
			continue
		}
		colon := i + strings.IndexByte(key, ':') + 1
		end := colon + strings.IndexAny(text[colon:], ",}")
		return text[:colon] + value + text[end:]
	}
	return `{"ok":` + value + `}`
}
