package grammar

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"blockworld-voice/internal/lang"
)

// Start selects what an automaton's language consists of.
type Start uint8

const (
	// StartCommand: whole commands.
	StartCommand Start = iota
	// StartCoordinates: three bare numbers. For evaluation only.
	StartCoordinates
	// StartNumber: one bare number. For evaluation only.
	StartNumber
)

var startNames = [...]string{StartCommand: "command", StartCoordinates: "coordinates", StartNumber: "number"}

// String returns the name of the start.
func (s Start) String() string {
	if int(s) < len(startNames) {
		return startNames[s]
	}
	return fmt.Sprintf("start(%d)", uint8(s))
}

// Options say what an automaton accepts.
type Options struct {
	Languages []lang.Language
	// Permitted are the commands; StartCommand needs at least one.
	Permitted []Kind
	// Min and Max are the inclusive box of the coordinates; StartNumber uses the first axis.
	Min, Max [3]Coord
	Start    Start
}

// Unbounded returns options with every command and every coordinate that can be said.
func Unbounded(languages ...lang.Language) Options {
	return Options{
		Languages: languages, Permitted: Kinds(),
		Min: [3]Coord{MinCoord, MinCoord, MinCoord}, Max: [3]Coord{MaxCoord, MaxCoord, MaxCoord},
	}
}

// State is a state of an Automaton. Numbers are not the same from one automaton to another.
type State int32

// maxTail is the longest text, in bytes, that an automaton lets decoding produce after say.
const maxTail = 240

// maxStates bounds an automaton's memory, to about 300 bytes a state.
const maxStates = 200_000

// Automaton accepts, byte by byte, the sentences that decoding may produce: commands in words,
// without digits, in UTF-8 and NFC with their accents. It is made deterministic while it is used.
// One goroutine at a time may use it.
//
// What it accepts, Parse accepts with values within the bounds, or refuses as ambiguous, or, after
// say, as bad text: the automaton proposes, the parser judges.
type Automaton struct {
	options  Options
	bounds   [3]bounds
	axes     uint8 // numbers in a sentence
	speakers []*speller
	verbs    []byteNode

	class   [256]uint8
	classes int32

	configs   []config
	configIDs map[config]int32
	sets      [][]int32
	setIDs    map[string]State
	rows      []int32 // state*classes + class: 0 not known yet, -1 none, else state+1
	accepting []bool
	tail      []bool
	allowed   map[allowKey]bits
	buffer    []int32
	full      bool
}

// byteNode is a node of the byte tree of command phrases.
type byteNode struct {
	edges []formEdge
	ends  []phraseEnd
}

type phraseEnd struct {
	kind     Kind
	language uint8 // index into speakers
}

type configKind uint8

const (
	configStart  configKind = iota // before an optional space
	configVerb                     // in a phrase
	configWord                     // in a number word
	configNumber                   // after a number word
	configComma                    // after a comma between numbers
	configTail                     // in the text to say
	configEnd                      // after the final full stop
)

// config is one thing that the bytes so far may be.
type config struct {
	kind     configKind
	language uint8
	axis     uint8
	join     joinBits
	free     reach // 0 unless the number's value no longer matters
	node     int32
	q        number
}

type allowKey struct {
	language, axis uint8
	join           joinBits
	free           reach
	q              number
}

// Compile makes the automaton for the options.
func Compile(o Options) (*Automaton, error) { return merged.compile(o) }

func (l *lexicon) compile(o Options) (*Automaton, error) {
	a := &Automaton{options: o, axes: 3, verbs: make([]byteNode, 1), configIDs: map[config]int32{}, setIDs: map[string]State{}, allowed: map[allowKey]bits{}}
	if len(o.Languages) == 0 {
		return nil, errors.New("the grammar needs at least one language")
	}
	for i := range 3 {
		a.bounds[i] = bounds{max(o.Min[i], MinCoord), min(o.Max[i], MaxCoord)}
		if a.bounds[i].min > a.bounds[i].max && (i == 0 || o.Start != StartNumber) {
			return nil, fmt.Errorf("the %c bounds %s … %s hold no coordinate", "xyz"[i], o.Min[i], o.Max[i])
		}
	}
	for i, x := range o.Languages {
		t := l.tableOf(x)
		if t == nil {
			return nil, fmt.Errorf("the grammar has no language %q", x)
		}
		if slices.Contains(o.Languages[:i], x) {
			return nil, fmt.Errorf("language %q is given twice", x)
		}
		a.speakers = append(a.speakers, newSpeller(t))
	}
	switch o.Start {
	case StartCommand:
		if len(o.Permitted) == 0 {
			return nil, errors.New("no command is permitted")
		}
		for i, s := range a.speakers {
			for _, c := range s.table.commands {
				if slices.Contains(o.Permitted, c.kind) {
					for _, p := range c.words {
						a.addPhrase(p, phraseEnd{c.kind, uint8(i)})
						a.addPhrase(capital(p), phraseEnd{c.kind, uint8(i)})
					}
				}
			}
		}
	case StartNumber:
		a.axes = 1
	case StartCoordinates:
	default:
		return nil, fmt.Errorf("unknown start %d", o.Start)
	}
	a.classify()
	a.Reset()
	return a, nil
}

func (a *Automaton) addPhrase(text string, end phraseEnd) {
	at := int32(0)
	for i := 0; i < len(text); i++ {
		next := int32(-1)
		for _, e := range a.verbs[at].edges {
			if e.b == text[i] {
				next = e.node
			}
		}
		if next < 0 {
			next = int32(len(a.verbs))
			a.verbs = append(a.verbs, byteNode{})
			a.verbs[at].edges = append(a.verbs[at].edges, formEdge{text[i], next})
		}
		at = next
	}
	a.verbs[at].ends = append(a.verbs[at].ends, end)
}

// classify groups the bytes that no word tells apart.
func (a *Automaton) classify() {
	var used [256]bool
	for _, b := range []byte(" ,.-/") {
		used[b] = true
	}
	for _, n := range a.verbs {
		for _, e := range n.edges {
			used[e.b] = true
		}
	}
	for _, s := range a.speakers {
		for _, n := range s.nodes {
			for _, e := range n.edges {
				used[e.b] = true
			}
		}
	}
	groups := map[uint8]uint8{}
	for b := range 256 {
		if used[b] {
			a.class[b] = uint8(a.classes)
			a.classes++
			continue
		}
		role := tailRole(byte(b))
		c, ok := groups[role]
		if !ok {
			c = uint8(a.classes)
			groups[role] = c
			a.classes++
		}
		a.class[b] = c
	}
}

// tailRole says what a byte of UTF-8 is: 0 never in a text, 1 a plain character, 2 … 4 the first of
// so many, 5 a following one. First bytes that also begin overlong forms or surrogates are left out.
func tailRole(b byte) uint8 {
	switch {
	case b < 0x20, b == 0x7f:
		return 0
	case b < 0x80:
		return 1
	case b < 0xc0:
		return 5
	case b >= 0xc2 && b <= 0xdf:
		return 2
	case b >= 0xe1 && b <= 0xef && b != 0xed:
		return 3
	case b >= 0xf1 && b <= 0xf3:
		return 4
	}
	return 0
}

// Reset forgets all states, to free memory. States from before are void.
func (a *Automaton) Reset() {
	a.configs, a.sets, a.rows, a.accepting, a.tail = a.configs[:0], a.sets[:0], a.rows[:0], a.accepting[:0], a.tail[:0]
	clear(a.configIDs)
	clear(a.setIDs)
	clear(a.allowed)
	a.full = false
	a.buffer = append(a.buffer[:0], a.id(config{kind: configStart}))
	a.state(a.buffer)
}

// Start returns the state before the first byte. One leading space is allowed.
func (a *Automaton) Start() State { return 0 }

// Size returns how many states are known by now.
func (a *Automaton) Size() int { return len(a.sets) }

// Full says that Step has refused a byte because the automaton holds as many states as it may; Reset helps.
func (a *Automaton) Full() bool { return a.full }

// Step returns the state after byte b, or false when no sentence goes on like this.
func (a *Automaton) Step(s State, b byte) (State, bool) {
	next := a.rows[int32(s)*a.classes+int32(a.class[b])]
	if next == 0 {
		next = a.explore(s, b)
	}
	return State(next - 1), next > 0
}

// Accepting says whether the bytes so far are a whole sentence.
func (a *Automaton) Accepting(s State) bool { return a.accepting[s] }

// FreeTail says that the bytes from here on are the text of say: any text goes.
func (a *Automaton) FreeTail(s State) bool { return a.tail[s] }

// Fingerprint identifies the table and the options: equal fingerprints mean equal languages.
func (a *Automaton) Fingerprint() string {
	var b strings.Builder
	fmt.Fprintf(&b, "grammar %s", tableDigest(a.speakers))
	for _, s := range a.speakers {
		b.WriteString(" " + s.table.code)
	}
	fmt.Fprintf(&b, "; %s", a.options.Start)
	if a.options.Start == StartCommand {
		for _, k := range Kinds() {
			if slices.Contains(a.options.Permitted, k) {
				fmt.Fprintf(&b, " %s", k)
			}
		}
	}
	for i := range a.axes {
		fmt.Fprintf(&b, "; %s … %s", a.options.Min[i], a.options.Max[i])
	}
	return b.String()
}

func (a *Automaton) id(c config) int32 {
	id, ok := a.configIDs[c]
	if !ok {
		id = int32(len(a.configs))
		a.configs = append(a.configs, c)
		a.configIDs[c] = id
	}
	return id
}

// state returns the state of a set of configurations, which it sorts; 0 is the start.
func (a *Automaton) state(set []int32) State {
	slices.Sort(set)
	set = slices.Compact(set)
	key := make([]byte, 0, 4*len(set))
	for _, c := range set {
		key = binary.LittleEndian.AppendUint32(key, uint32(c))
	}
	if s, ok := a.setIDs[string(key)]; ok {
		return s
	}
	if len(a.sets) >= maxStates {
		a.full = true
		return -1
	}
	s := State(len(a.sets))
	a.setIDs[string(key)] = s
	a.sets = append(a.sets, slices.Clone(set))
	a.rows = append(a.rows, make([]int32, a.classes)...)
	accepting, tail := false, false
	for _, c := range set {
		accepting = accepting || a.accepts(&a.configs[c])
		tail = tail || a.configs[c].kind == configTail
	}
	a.accepting = append(a.accepting, accepting)
	a.tail = append(a.tail, tail)
	return s
}

// explore finds the state after b and remembers it.
func (a *Automaton) explore(s State, b byte) int32 {
	a.buffer = a.buffer[:0]
	for _, id := range a.sets[s] {
		a.move(a.configs[id], b)
	}
	next := int32(-1)
	if len(a.buffer) > 0 {
		n := a.state(a.buffer)
		if n < 0 {
			return -1 // full: not remembered, Reset makes room
		}
		next = int32(n) + 1
	}
	a.rows[int32(s)*a.classes+int32(a.class[b])] = next
	return next
}
