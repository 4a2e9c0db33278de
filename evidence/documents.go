package evidence

import (
	"bytes"
	"fmt"
	"time"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/strictjson"
)

// Schema is the number that stands in every document of this package. A reader refuses a newer one.
const Schema = 1

const (
	sessionName  = "session.json"
	headName     = "head.json"
	manifestName = "manifest.json"
	receiptName  = "receipt.json"
	startedName  = "started.json"
)

// Names of artefacts that more than one package must agree on.
const (
	ClipFile       = "clip.wav"
	SpeechFile     = "speech.wav"
	TranscriptFile = "transcript.json"
	DecisionFile   = "decision.json"
	AttemptFile    = "attempt.json" // or attempt-NAME.json; its outcome is outcome-NAME.json
	OutcomeFile    = "outcome.json"
	EventsFile     = "events.jsonl"
	ReplyWAVFile   = "reply.wav"
	ReplyFile      = "reply.json"
	PlaybackFile   = "playback.json"
)

// File is one file of an utterance. Name is relative to the utterance's folder: "1-capture/clip.wav".
type File struct {
	Name   string        `json:"name"`
	Size   int64         `json:"size"`
	SHA256 digest.Digest `json:"sha256"`
}

// Ref names a file by content, in a receipt.
type Ref struct {
	Name   string        `json:"name"`
	SHA256 digest.Digest `json:"sha256"`
}

// Ref returns f as it stands in a receipt.
func (f File) Ref() Ref { return Ref{f.Name, f.SHA256} }

// Receipt says how one stage went. Times are nanoseconds since the session's epoch.
type Receipt struct {
	Schema    int       `json:"schema"`
	Stage     Stage     `json:"stage"`
	Verdict   Verdict   `json:"verdict"`
	Reason    string    `json:"reason,omitzero"` // why not done; closed words where the contract has them
	StartNS   int64     `json:"start_ns"`
	EndNS     int64     `json:"end_ns"`
	WallStart time.Time `json:"wall_start"`
	CPUNS     int64     `json:"cpu_ns"` // of the whole process, over the stage
	// SettlementNS is how long a capture first waited for a running behaviour to settle. It lies before StartNS.
	SettlementNS int64 `json:"settlement_ns,omitzero"`
	Inputs       []Ref `json:"inputs"`
	Outputs      []Ref `json:"outputs"`
}

// check tests what a receipt must satisfy by itself.
func (r *Receipt) check() error {
	switch {
	case !r.Stage.valid():
		return fmt.Errorf("a receipt has no stage %d", uint8(r.Stage))
	case !r.Verdict.valid():
		return fmt.Errorf("the receipt of %s has no verdict", r.Stage)
	case r.Verdict != Done && r.Reason == "":
		return fmt.Errorf("the receipt of %s is %s without a reason", r.Stage, r.Verdict)
	case len(r.Reason) > maxReason:
		return fmt.Errorf("the reason in the receipt of %s has more than %d bytes", r.Stage, maxReason)
	case r.StartNS < 0 || r.EndNS < r.StartNS:
		return fmt.Errorf("the times of %s run backwards: %d to %d", r.Stage, r.StartNS, r.EndNS)
	case r.CPUNS < 0:
		return fmt.Errorf("the CPU time of %s is negative", r.Stage)
	case r.SettlementNS < 0 || r.SettlementNS > 0 && r.Stage != Capture:
		return fmt.Errorf("only a capture settles something first")
	case r.WallStart.IsZero():
		return fmt.Errorf("the receipt of %s has no wall-clock start", r.Stage)
	}
	return nil
}

// trail is what consecutive receipts must satisfy together.
type trail struct {
	last    Stage
	endNS   int64
	outputs map[Ref]bool
}

// add checks r against the receipts before it and takes it in.
func (t *trail) add(r *Receipt) error {
	if err := r.check(); err != nil {
		return err
	}
	if r.Stage != t.last+1 {
		return fmt.Errorf("the receipt of %s can't follow that of %s", r.Stage, t.lastName())
	}
	if r.StartNS < t.endNS {
		return fmt.Errorf("%s starts at %d ns, before %s ended at %d ns", r.Stage, r.StartNS, t.lastName(), t.endNS)
	}
	// What comes from outside enters at capture; from then on everything read was written here before.
	if r.Stage != Capture {
		for _, in := range r.Inputs {
			if !t.outputs[in] {
				return fmt.Errorf("%s read %q, which no earlier stage wrote with that digest", r.Stage, in.Name)
			}
		}
	}
	if t.outputs == nil {
		t.outputs = map[Ref]bool{}
	}
	for _, out := range r.Outputs {
		t.outputs[out] = true
	}
	t.last, t.endNS = r.Stage, r.EndNS
	return nil
}

func (t *trail) lastName() string {
	if t.last == 0 {
		return "nothing"
	}
	return t.last.String()
}

// Mark is what a stage leaves when it starts: started.json, until its receipt is there.
type Mark struct {
	Schema    int       `json:"schema"`
	Stage     Stage     `json:"stage"`
	StartNS   int64     `json:"start_ns"`
	WallStart time.Time `json:"wall_start"`
}

type sessionDoc struct {
	Schema  int       `json:"schema"`
	Session SessionID `json:"session"`
	Started time.Time `json:"started"`
}

type headDoc struct {
	Schema        int           `json:"schema"`
	Session       SessionID     `json:"session"`
	SessionSHA256 digest.Digest `json:"session_sha256"`
	Begun         uint32        `json:"begun"`
	Sealed        uint32        `json:"sealed"`
	Manifest      digest.Digest `json:"manifest"` // of the last sealed utterance; empty before the first
	TasksBegun    uint32        `json:"tasks_begun,omitzero"`
	TasksSealed   uint32        `json:"tasks_sealed,omitzero"`
	TaskManifest  digest.Digest `json:"task_manifest,omitzero"` // of the last sealed task
	Closed        bool          `json:"closed"`
}

type manifestDoc struct {
	Schema    int           `json:"schema"`
	Session   SessionID     `json:"session"`
	Utterance UtteranceID   `json:"utterance"`
	Files     []File        `json:"files"` // sorted by name
	Previous  digest.Digest `json:"previous"`
}

// newerSchema is a document of a later version of this program.
type newerSchema struct{ n int64 }

func (e *newerSchema) Error() string {
	return fmt.Sprintf("schema %d is newer than this program knows (%d): use a newer blockworld-voice", e.n, Schema)
}

// readDoc reads one of this package's documents strictly: it must be byte for byte what we would write for its value.
func readDoc(data []byte, v any) error {
	if err := checkSchema(data); err != nil {
		return err
	}
	if err := strictjson.Unmarshal(data, v); err != nil {
		return err
	}
	again, err := strictjson.Marshal(v)
	if err != nil {
		return err
	}
	if !bytes.Equal(again, data) {
		return fmt.Errorf("the document is not in the form in which this program writes it")
	}
	return nil
}
