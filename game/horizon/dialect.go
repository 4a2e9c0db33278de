package horizon

// Mark says how we know a fact about the control socket.
type Mark uint8

const (
	// Documented facts stand on the game's control page.
	Documented Mark = iota + 1
	// Observed facts were seen by another consumer of the socket.
	Observed
	// Assumed facts are ours. `profile new` checks them against a running client.
	Assumed
)

func (m Mark) String() string {
	switch m {
	case Documented:
		return "documented"
	case Observed:
		return "observed"
	case Assumed:
		return "assumed"
	}
	return "unmarked"
}

// Fact is one line of the dialect table.
type Fact struct {
	Name string // stable, for reports
	Says string
	Mark Mark
}

// The words of the dialect. No other file spells one.
const (
	wordHello     = "hello"
	wordState     = "state"
	wordStatus    = "status"
	wordInventory = "inventory"
	wordBlock     = "block"
	wordEvents    = "events"
	wordInputLog  = "input-log"
	wordWaitFor   = "wait-for"
	wordGoTo      = "goto"
	wordLookAt    = "look-at"
	wordChat      = "chat"
	wordPlace     = "place"
	wordStop      = "stop"

	flagTimeout = "--timeout"
	flagSince   = "--since"
	flagLimit   = "--limit"
	flagOrigin  = "--origin"
)

// Keys of replies.
const (
	keyOK    = "ok"
	keyError = "error"
	keyKind  = "kind"
)

// StopRadius is how near to its target `goto` stops, in blocks.
const StopRadius = 1.5

// TicksPerSecond is the game's pace.
const TicksPerSecond = 20

// MaxChat is the longest chat text, in UTF-16 units as the game counts them.
const MaxChat = 256

// Dialect lists what this package takes for granted about the peer.
func Dialect() []Fact {
	return []Fact{
		{"line-protocol", "a request is one text line, a reply is one JSON object on one line", Documented},
		{"no-greeting", "the game sends nothing before the first request", Documented},
		{"no-request-ids", "replies carry no ids: one line in flight a connection", Assumed},
		{"many-connections", "several connections may be open at once", Assumed},
		{"tcp-token-line", "over TCP the first line is the token alone; it gets no reply unless it is wrong", Assumed},
		{"error-shape", `an error is {"error":sentence,"kind":kind}`, Documented},
		{"action-ok", `an action that completed answers {"ok":true,…}`, Documented},
		{"hello-keys", "hello answers with game, version and protocol", Assumed},
		{"state-keys", "state answers with world, dimension, loaded, joined, name, pos, yaw, pitch, health, held, selected, action, input", Assumed},
		{"status-keys", "status answers with screen, dimension, creative, frame, tick, chunks, fps, frame_ms, renderer and, when remote, server", Assumed},
		{"input-section", "state and status have an input section with last_origin, counts, user_since_agent and last_user_age_s", Documented},
		{"goto-word", "goto X Y Z [--timeout S] walks and stops within 1.5 blocks", Observed},
		{"goto-timeout-flag", "goto takes --timeout with seconds", Assumed},
		{"look-at-word", "look-at X Y Z turns the view", Assumed},
		{"chat-word", "chat takes the rest of the line as its text", Assumed},
		{"place-word", "place X Y Z is a fixed five-second task whose ok means only that the target changed", Observed},
		{"inventory-keys", "inventory answers with slots, selected, offhand and carried", Assumed},
		{"block-word", "block X Y Z answers with pos, block, state and loaded", Assumed},
		{"events-keys", `events answers with {"events":[{"seq","kind",…}],"last"}`, Assumed},
		{"stop-word", "stop on a second connection ends the active action and releases movement", Assumed},
		{"stopped-line", "the waiting line of a stopped action gets an error of kind state", Assumed},
		{"queries-while-busy", "queries answer while an action runs", Assumed},
		{"close-is-no-stop", "closing the waiting socket does not stop the action", Observed},
	}
}

// ErrorKind is the reason that an error reply gives. Kinds that are not listed here are
// accepted: KindOther keeps them apart from every meaning we know.
type ErrorKind uint8

const (
	KindOther ErrorKind = iota
	KindUsage
	KindUnknown
	KindState
	KindBusy
	KindTimeout
	KindConnection
	KindDenied
	KindAPI
)

var kindNames = [...]string{
	KindOther: "other", KindUsage: "usage", KindUnknown: "unknown", KindState: "state", KindBusy: "busy",
	KindTimeout: "timeout", KindConnection: "connection", KindDenied: "denied", KindAPI: "api",
}

func (k ErrorKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[KindOther]
}

func parseKind(s string) ErrorKind {
	for k, n := range kindNames {
		if n == s {
			return ErrorKind(k)
		}
	}
	return KindOther
}
