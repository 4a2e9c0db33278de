package pipeline

import (
	"context"
	"time"

	"blockworld-voice/capture"
	"blockworld-voice/capture/mic"
	"blockworld-voice/capture/recorder"
	"blockworld-voice/evidence"
	"blockworld-voice/internal/digest"
)

// Live is a recording that is made while the capture stage runs. The started mark is on the disk before the
// microphone opens.
type Live struct {
	// Settle ends what the companion does by itself. It comes before the microphone opens; an error keeps it closed.
	// nil: nothing runs.
	Settle func(context.Context) error
	// Record opens the microphone and returns when it is closed. It may return a take beside an error.
	Record func(context.Context) (*recorder.Take, error)
}

func (Live) source() {}

// TakeFile is what is known of a recording, beside its samples.
const TakeFile = "take.json"

// takeDoc is 1-capture/take.json. Times count from the session's epoch; what did not come is missing.
type takeDoc struct {
	Schema       int               `json:"schema"`
	Device       mic.Device        `json:"device"`
	Rate         int               `json:"rate"`
	LatencyNS    int64             `json:"latency_ns"`
	Passed       []recorder.Passed `json:"passed,omitempty"` // rates that were not used
	End          recorder.End      `json:"end,omitzero"`
	Problem      string            `json:"problem,omitzero"`
	Frames       int               `json:"frames"`
	Seconds      float64           `json:"seconds"`
	Blocks       int               `json:"blocks"`
	Overflows    int               `json:"overflows"` // blocks in front of which samples are missing
	Dropped      int               `json:"dropped"`   // blocks that were lost on the way from the device's process
	Marks        []string          `json:"marks,omitempty"`
	GestureNS    int64             `json:"gesture_ns"`
	SettlementNS int64             `json:"settlement_ns"` // how long it took before the microphone could be opened
	OpenedNS     int64             `json:"stream_started_ns,omitzero"`
	FirstNS      int64             `json:"first_sample_ns,omitzero"`
	ReleaseNS    int64             `json:"release_ns,omitzero"`
	LastNS       int64             `json:"last_sample_ns,omitzero"`
	ClosedNS     int64             `json:"closed_ns,omitzero"`
	SpeechEndNS  int64             `json:"end_of_speech_ns,omitzero"` // by the gate, with its margin
}

// Timing is what the take says about the waiting of the person who spoke.
type Timing struct {
	Gesture, First, Release time.Time
	Closed                  time.Time // the microphone
	Transcribed, Decided    time.Time
}

// live records, keeps what came, and decodes it like a file.
func (r *run) live(src Live) {
	r.stage(evidence.Capture, func(st *step) ended {
		if e, stop := st.cancelled(); stop {
			return e
		}
		h := &Heard{}
		r.rec.Heard = h
		before := time.Now()
		if src.Settle != nil {
			if err := src.Settle(r.ctx); err != nil {
				r.rec.Fault = err
				return ended{evidence.Failed, "what ran before could not be settled: " + err.Error()}
			}
		}
		settlement := time.Since(before)
		take, err := src.Record(r.ctx)
		if take == nil {
			if r.ctx.Err() != nil {
				return ended{evidence.Cancelled, "the session was stopped"}
			}
			r.rec.Fault = err
			return ended{evidence.Failed, err.Error()}
		}
		r.rec.Timing = Timing{Gesture: take.Gesture, First: take.First, Release: take.Release, Closed: take.Closed}
		e := st.keepTake(take, err)
		doc := r.takeDoc(take)
		doc.SettlementNS = int64(settlement)
		st.putJSON(TakeFile, doc)
		return e
	})
}

// keepTake keeps the samples of a take and says how capture ended.
func (st *step) keepTake(take *recorder.Take, err error) ended {
	r := st.r
	if len(take.Samples) > 0 {
		wav := take.WAV()
		r.rec.Heard.SHA256 = digest.Of(wav)
		st.put(evidence.ClipFile, wav)
		if err == nil && take.End.Whole() {
			clip, err := capture.Decode("microphone", wav)
			if err != nil {
				r.rec.Fault = err
				return ended{evidence.Failed, err.Error()}
			}
			st.hear(clip)
			return done
		}
	}
	switch {
	case err != nil && r.ctx.Err() == nil:
		r.rec.Fault = err
		return ended{evidence.Failed, err.Error()}
	case take.End.Failed():
		r.rec.Fault = &recorder.Error{Problem: recorder.OpenFailed, Detail: take.Problem}
		return ended{evidence.Failed, take.End.String() + ": " + take.Problem}
	case err != nil, take.End == recorder.Stopped:
		return ended{evidence.Cancelled, "the session was stopped"}
	}
	r.rec.NoTake = take.End
	return ended{evidence.Refused, take.End.String()}
}

func (r *run) takeDoc(t *recorder.Take) takeDoc {
	at := func(x time.Time) int64 {
		if x.IsZero() {
			return 0
		}
		return int64(x.Sub(r.s.ev.Epoch()))
	}
	d := takeDoc{
		Schema: 1, Device: t.Device, Rate: t.Rate, LatencyNS: int64(t.Latency), Passed: t.Passed, End: t.End, Problem: short(plain(t.Problem), maxReason),
		Frames: len(t.Samples), Seconds: t.Seconds(), Blocks: t.Blocks, Overflows: t.Overflows, Dropped: t.Dropped,
		GestureNS: at(t.Gesture), OpenedNS: at(t.Opened), FirstNS: at(t.First), ReleaseNS: at(t.Release), LastNS: at(t.Last), ClosedNS: at(t.Closed),
	}
	d.Device.Name, d.Device.API = plain(d.Device.Name), plain(d.Device.API)
	if t.Overflows+t.Dropped > 0 {
		d.Marks = append(d.Marks, "overflow")
	}
	if t.Zeros && t.Blocks > 0 {
		d.Marks = append(d.Marks, "zeros")
	}
	if h := r.rec.Heard; h.Gate.Speech && !t.First.IsZero() {
		d.SpeechEndNS = d.FirstNS + int64(time.Duration(h.Gate.EndMS)*time.Millisecond)
	}
	return d
}

// noTake is the decision about a gesture that made no take.
func noTake(e recorder.End) Refusal {
	why := map[recorder.End]string{
		recorder.Tapped:      "the key was only tapped",
		recorder.MaxDuration: "the take was longer than may be said at once; was the end of the gesture lost?",
		recorder.KeyLost:     "the keyboard or the pedal went away while the key was down",
	}
	return Refusal{Reason: NoSpeech, Detail: why[e]}
}
