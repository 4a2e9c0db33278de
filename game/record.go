package game

import (
	"time"

	"blockworld-voice/game/horizon"
	"blockworld-voice/internal/digest"
)

// Score names what a run tries.
type Score string

// The scores.
const (
	ScoreAssist Score = "blockworld.horizon_assist@1"
	ScoreBuild  Score = "blockworld.horizon_build_step@1"
	ScoreIdle   Score = "blockworld.horizon_idle_tick@1"
	ScoreFollow Score = "blockworld.horizon_follow_tick@1"
)

// schema of the documents of this package.
const schema = 1

// Attempt is what stands on disk before anything is sent (attempt.json). Line and the
// text of Command are empty for what is said: then only the digest remains.
type Attempt struct {
	Schema     int           `json:"schema"`
	Run        RunID         `json:"run"`
	Session    string        `json:"session"`
	Score      Score         `json:"score"`
	Command    string        `json:"command"`
	Line       string        `json:"line,omitempty"`
	LineSHA256 digest.Digest `json:"line_sha256"`
	PreparedAt time.Time     `json:"prepared_at"`
	Binding    digest.Digest `json:"binding_sha256"`
}

// EventKind names what happened in a run.
type EventKind string

// The events of a run, in the order in which they can come.
const (
	EventAdmitted  EventKind = "admitted"
	EventPrepared  EventKind = "prepared" // the attempt is on disk
	EventSent      EventKind = "sent"
	EventAnswered  EventKind = "answered"
	EventStopSent  EventKind = "stop_sent"
	EventStopped   EventKind = "stopped" // the stop boundary was observed
	EventObserved  EventKind = "observed"
	EventPerson    EventKind = "user_input"
	EventRefused   EventKind = "refused"
	EventDisarmed  EventKind = "disarmed"
	EventRecovered EventKind = "recovered"
)

// Event is one line of events.jsonl. Detail is a sentence of ours.
type Event struct {
	Kind   EventKind `json:"kind"`
	Run    RunID     `json:"run,omitempty"`
	AtNS   int64     `json:"at_ns"` // since the session was opened
	Detail string    `json:"detail,omitempty"`
}

// Recorder keeps what a session must not lose. Attempt is durable when it returns nil;
// after an error nothing is sent. The error of an Event stops the session after the
// action that it belongs to. Calls come from one goroutine at a time.
type Recorder interface {
	Attempt(Attempt) error
	Event(Event) error
}

// Pose is where a client stood and looked.
type Pose struct {
	Pos   [3]float64 `json:"pos"`
	Yaw   float64    `json:"yaw"`
	Pitch float64    `json:"pitch"`
}

// Observed is what we saw of the client ourselves, apart from what it reported.
type Observed struct {
	Before *Pose `json:"before,omitempty"`
	After  *Pose `json:"after,omitempty"`
	// Moved is the distance between the two, Remaining the distance left to the target.
	Moved     float64 `json:"moved"`
	Remaining float64 `json:"remaining"`
	// Arrived: the client stands within the stop radius of the target.
	Arrived bool                  `json:"arrived"`
	State   *horizon.PlayerState  `json:"state,omitempty"`
	Status  *horizon.ClientStatus `json:"status,omitempty"`
	// Person: a person's input was seen on the companion during the action.
	Person bool `json:"user_input,omitempty"`
}

// OutcomeRecord is outcome.json.
type OutcomeRecord struct {
	Schema   int         `json:"schema"`
	Run      RunID       `json:"run,omitempty"`
	Kind     OutcomeKind `json:"kind"`
	Reason   *Reason     `json:"reason,omitempty"`
	Detail   string      `json:"detail"`
	Observed *Observed   `json:"observed,omitempty"`
}

// Record writes an outcome in the form of outcome.json. The run is zero where no attempt was made.
func Record(run RunID, o Outcome) OutcomeRecord {
	r := OutcomeRecord{Schema: schema, Run: run, Kind: o.Kind(), Detail: o.Say()}
	switch o := o.(type) {
	case Refused:
		r.Reason = &o.Reason
	case Reported:
		r.Observed = o.Observed
	case Cancelled:
		r.Observed = o.Observed
	case Unknown:
	}
	return r
}

func poseOf(s horizon.PlayerState) *Pose { return &Pose{Pos: s.Pos, Yaw: s.Yaw, Pitch: s.Pitch} }
