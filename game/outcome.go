package game

import "fmt"

// Outcome is how a command ended. There are four and no other: Refused, Reported,
// Cancelled, Unknown.
type Outcome interface {
	Kind() OutcomeKind
	// Say is the detail: one short sentence of ours, never text from the game.
	Say() string
	outcome()
}

// OutcomeKind names an outcome in records.
type OutcomeKind uint8

const (
	KindRefused OutcomeKind = iota + 1
	KindReported
	KindCancelled
	KindUnknown
)

var outcomeNames = [...]string{KindRefused: "refused", KindReported: "reported", KindCancelled: "cancelled", KindUnknown: "unknown"}

// String is the name in records and on the wire of --json.
func (k OutcomeKind) String() string {
	if k != 0 && int(k) < len(outcomeNames) {
		return outcomeNames[k]
	}
	return fmt.Sprintf("outcome(%d)", uint8(k))
}

// MarshalText writes the name.
func (k OutcomeKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a name.
func (k *OutcomeKind) UnmarshalText(b []byte) error {
	for i, n := range outcomeNames {
		if n != "" && n == string(b) {
			*k = OutcomeKind(i)
			return nil
		}
	}
	return fmt.Errorf("there is no outcome %q", b)
}

// Reason says why a session refused. The set is closed.
type Reason uint8

const (
	NotPermitted Reason = iota + 1
	OutOfBounds
	TooFar
	Budget
	Expired
	NotBound
	Busy
	Disarmed
	Denied
)

var reasonNames = [...]string{NotPermitted: "not_permitted", OutOfBounds: "out_of_bounds", TooFar: "too_far", Budget: "budget", Expired: "expired",
	NotBound: "not_bound", Busy: "busy", Disarmed: "disarmed", Denied: "denied"}

// Reasons lists all reasons.
func Reasons() []Reason {
	return []Reason{NotPermitted, OutOfBounds, TooFar, Budget, Expired, NotBound, Busy, Disarmed, Denied}
}

// String is the name in records.
func (r Reason) String() string {
	if r != 0 && int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return fmt.Sprintf("reason(%d)", uint8(r))
}

// MarshalText writes the name.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a name.
func (r *Reason) UnmarshalText(b []byte) error {
	for i, n := range reasonNames {
		if n != "" && n == string(b) {
			*r = Reason(i)
			return nil
		}
	}
	return fmt.Errorf("there is no reason %q", b)
}

type (
	// Refused: the game has done nothing. Either nothing was sent, or the game answered
	// that it took nothing on (Answered).
	Refused struct {
		Reason   Reason
		Detail   string
		Answered bool
	}
	// Reported: the client said that it completed. Observed is what we saw afterwards; nil
	// where nothing was looked at or the look failed.
	Reported struct {
		Detail   string
		Observed *Observed
	}
	// Cancelled: the action was seen to have ended before it was complete.
	Cancelled struct {
		Detail   string
		Observed *Observed
	}
	// Unknown: something was sent and its effect is not known.
	Unknown struct{ Detail string }
)

func (Refused) Kind() OutcomeKind   { return KindRefused }
func (Reported) Kind() OutcomeKind  { return KindReported }
func (Cancelled) Kind() OutcomeKind { return KindCancelled }
func (Unknown) Kind() OutcomeKind   { return KindUnknown }

func (o Refused) Say() string   { return o.Detail }
func (o Reported) Say() string  { return o.Detail }
func (o Cancelled) Say() string { return o.Detail }
func (o Unknown) Say() string   { return o.Detail }

func (Refused) outcome()   {}
func (Reported) outcome()  {}
func (Cancelled) outcome() {}
func (Unknown) outcome()   {}
