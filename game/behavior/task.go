package behavior

import (
	"context"
	"time"

	"blockworld-voice/game"
)

// Limits of every directive.
const (
	MaxSpan    = 60 * time.Second // from acceptance to the deadline
	MaxTicks   = 60
	MinCadence = time.Second // between the starts of two ticks
	Directives = 20          // a session, unless it is told otherwise
	MostOrders = 100         // the most that it can be told
)

// Did is what a run came to. The set is closed.
type Did string

// What a run can come to.
const (
	DidObserve   Did = "observed"  // idle: the first look
	DidNotice    Did = "changed"   // idle: something differs from the look before
	DidNotNotice Did = "unchanged" // idle: nothing does

	DidStay       Did = "near"       // follow: within the deadband, nothing was sent
	DidMove       Did = "moved"      // follow: progress toward the sample was seen
	DidNotMove    Did = "still"      // follow: the client reported completion, and no progress was seen
	DidUnverified Did = "unverified" // the client reported completion, and it could not be looked at afterwards
	DidLose       Did = "lost"       // follow: there is no sample of the target that can be used
	DidPart       Did = "apart"      // follow: the two are too far from each other
	DidAge        Did = "stale"      // the observation was too old
	DidHurt       Did = "hurt"       // follow: one of the two lost health

	DidPlace  Did = "placed"   // build: the block and the exact change of the inventory were seen
	DidDiffer Did = "differed" // build: what was seen afterwards is not what one placement leaves

	DidRefuse  Did = "refused"     // nothing was sent
	DidCancel  Did = "cancelled"   // the action was seen to have ended before it was complete
	DidYield   Did = "interrupted" // by an operator, a capture, a stop or the deadline
	DidNotKnow Did = "unknown"     // something was sent and its effect is not known
)

// Tick is what a run of a task is given.
type Tick struct {
	Gen   Generation
	N     int // from 1
	Run   game.RunID
	Until time.Time   // the task's deadline
	Valid func() bool // whether the generation still has authority; it may be called under the session's own lock
}

// Reads are the questions of a run. A logical read is one call of the composition; a physical one is one line on a
// socket. Those of the target went to another client, and those watched belong to the supervision of an action.
type Reads struct {
	Logical  int    `json:"logical"`
	Physical uint64 `json:"physical"`
	Watched  uint64 `json:"watched"`
	Target   uint64 `json:"target"`
}

// Facts are what a run saw, beside its outcome. What doesn't apply stays out of the record.
type Facts struct {
	Changes    []string  `json:"changes,omitempty"`
	Sample     uint64    `json:"sample,omitzero"`        // sequence number
	SampleAge  int64     `json:"sample_age_ns,omitzero"` // right before the bytes went
	Separation *float64  `json:"separation,omitzero"`    // before
	Progress   *float64  `json:"progress,omitzero"`      // toward the sample
	Cell       *[3]int32 `json:"cell,omitzero"`
	Before     string    `json:"before,omitzero"` // block in the cell
	After      string    `json:"after,omitzero"`
	Used       *int      `json:"used,omitzero"` // items that the inventory has less
	Reads      Reads     `json:"reads"`
}

// Result is how a run ended.
type Result struct {
	Did     Did
	Outcome game.Outcome
	Facts   Facts
	More    bool         // another run may follow
	Final   game.Outcome // of the whole task, when this run ends it on its own account
}

// Work is what a task does in its runs. One goroutine at a time calls it.
type Work interface {
	Kind() Kind
	Score() game.Score
	Runs() int              // the most
	Span() time.Duration    // until the deadline
	Cadence() time.Duration // between the starts of runs; 0 lets the next follow at once
	// Admit says whether the task may begin: its error becomes the refusal. Nothing is sent.
	Admit(context.Context) error
	// Run sends at most one command. The end of ctx is an interruption; a run returns only when what it sent is settled.
	Run(context.Context, Tick, game.Recorder) Result
}

// Record is a run on disk: one line of ticks.jsonl.
type Record struct {
	Schema  int              `json:"schema"`
	Tick    int              `json:"tick"`
	Run     game.RunID       `json:"run"`
	Score   game.Score       `json:"score"`
	Gen     Generation       `json:"generation"`
	Did     Did              `json:"did"`
	Outcome game.OutcomeKind `json:"outcome"`
	Reason  *game.Reason     `json:"reason,omitzero"`
	Detail  string           `json:"detail"`
	StartNS int64            `json:"start_ns"` // the keeper's clock
	EndNS   int64            `json:"end_ns"`
	CPUNS   int64            `json:"cpu_ns"`
	Facts
	ModelCalls int `json:"model_calls"` // always 0: there is nothing here that could call one
}

// Start is a task on disk before its first run: task.json.
type Start struct {
	Schema    int        `json:"schema"`
	Kind      Kind       `json:"kind"`
	Score     game.Score `json:"score"`
	Gen       Generation `json:"generation"`
	Runs      int        `json:"runs"`
	SpanNS    int64      `json:"span_ns"`
	CadenceNS int64      `json:"cadence_ns"`
}

// End is a task that is over: result.json.
type End struct {
	Schema     int                `json:"schema"`
	Task       string             `json:"task"`
	Kind       Kind               `json:"kind"`
	Gen        Generation         `json:"generation"`
	Why        Why                `json:"why"`
	Outcome    game.OutcomeRecord `json:"outcome"`
	Runs       int                `json:"runs"`
	Did        map[Did]int        `json:"did"`
	Attempts   int                `json:"attempts"` // runs that may have sent something
	Reads      Reads              `json:"reads"`
	TookNS     int64              `json:"took_ns"`
	ModelCalls int                `json:"model_calls"`
	Result     game.Outcome       `json:"-"`
}

// Keeper keeps tasks. What it can't keep isn't begun.
type Keeper interface {
	Begin(Start) (Book, error)
}

// Book keeps one task. Its methods are called one after another.
type Book interface {
	Name() string
	// Recorder keeps what a run must not lose before and while it sends.
	Recorder(n int) game.Recorder
	// Close completes the record of a run: nil means that it is durable. It fills the times in.
	Close(Record, game.OutcomeRecord) error
	End(End) error
}
