// Package grammar decides what a sentence may do: it holds the closed Slovak, Czech and
// English command and number grammar.
//
// One table a language (lexicon_sk.go, lexicon_cs.go, lexicon_en.go) serves three uses: Parse,
// which turns any text into exactly one typed command or one refusal; Compile, which gives the
// automaton that speech recognition decodes against; and Reference and GBNF, which describe the
// grammar to people and to other tools. The automaton proposes, the parser judges.
//
// The package is pure: it reads no clock, file, network or environment.
package grammar

import "strconv"

// Kind names a command.
type Kind uint8

const (
	KindState Kind = iota + 1
	KindStatus
	KindGoTo
	KindLookAt
	KindSay
	KindIdle
	KindFollow
	KindBuild
	KindStop
)

var kindNames = [...]string{
	KindState: "state", KindStatus: "status", KindGoTo: "goto", KindLookAt: "look-at",
	KindSay: "say", KindIdle: "idle", KindFollow: "follow", KindBuild: "build", KindStop: "stop",
}

// Kinds lists all commands in the order of the reference page.
func Kinds() []Kind {
	return []Kind{KindState, KindStatus, KindGoTo, KindLookAt, KindSay, KindIdle, KindFollow, KindBuild, KindStop}
}

// String returns the name that policies, records and canonical forms use.
func (k Kind) String() string {
	if k != 0 && int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}

// ParseKind returns the kind of a name.
func ParseKind(name string) (Kind, bool) {
	for k, n := range kindNames {
		if n != "" && n == name {
			return Kind(k), true
		}
	}
	return 0, false
}

// Command is one typed instruction: StateQuery, StatusQuery, GoTo, LookAt, Say, Idle, Follow, Build or Stop.
type Command interface {
	Kind() Kind
	// String is the canonical form: lower case, numbers with the fewest digits.
	String() string
	command()
}

type (
	// StateQuery asks for the companion's pose, health and task.
	StateQuery struct{}
	// StatusQuery asks for the client's closed status projection.
	StatusQuery struct{}
	// GoTo walks to a place.
	GoTo struct{ X, Y, Z Coord }
	// LookAt turns to a place.
	LookAt struct{ X, Y, Z Coord }
	// Say writes Text to the chat. Text made by Parse obeys the rules of CheckText.
	Say struct{ Text string }
	// Idle observes for a while.
	Idle struct{}
	// Follow walks after the bound target.
	Follow struct{}
	// Build carries out the approved plan.
	Build struct{}
	// Stop ends the session.
	Stop struct{}
)

func (StateQuery) Kind() Kind  { return KindState }
func (StatusQuery) Kind() Kind { return KindStatus }
func (GoTo) Kind() Kind        { return KindGoTo }
func (LookAt) Kind() Kind      { return KindLookAt }
func (Say) Kind() Kind         { return KindSay }
func (Idle) Kind() Kind        { return KindIdle }
func (Follow) Kind() Kind      { return KindFollow }
func (Build) Kind() Kind       { return KindBuild }
func (Stop) Kind() Kind        { return KindStop }

func (StateQuery) String() string  { return KindState.String() }
func (StatusQuery) String() string { return KindStatus.String() }
func (c GoTo) String() string      { return KindGoTo.String() + " " + triple(c.X, c.Y, c.Z) }
func (c LookAt) String() string    { return KindLookAt.String() + " " + triple(c.X, c.Y, c.Z) }
func (c Say) String() string       { return KindSay.String() + " " + c.Text }
func (Idle) String() string        { return KindIdle.String() }
func (Follow) String() string      { return KindFollow.String() }
func (Build) String() string       { return KindBuild.String() }
func (Stop) String() string        { return KindStop.String() }

func (StateQuery) command()  {}
func (StatusQuery) command() {}
func (GoTo) command()        {}
func (LookAt) command()      {}
func (Say) command()         {}
func (Idle) command()        {}
func (Follow) command()      {}
func (Build) command()       {}
func (Stop) command()        {}
