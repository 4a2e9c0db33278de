package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"blockworld-voice/capture"
	"blockworld-voice/capture/recorder"
	"blockworld-voice/evidence"
	"blockworld-voice/game"
	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/lang"
	"blockworld-voice/transcribe"
)

// Record is one utterance. One goroutine owns it; each product is set once, by the stage that made it, and is nil
// when that stage made none.
type Record struct {
	Session evidence.SessionID
	ID      evidence.UtteranceID
	Dir     string // of its evidence
	Source  Source
	Asked   []lang.Language
	Epoch   time.Time // when the utterance began, with the monotonic clock

	Heard      *Heard
	Transcript *transcribe.Transcript
	Decision   Decision
	Outcome    game.Outcome
	Reply      *Reply
	Playback   *Playback
	Trail      []evidence.Receipt

	// BadSource is why a source is no clip.
	BadSource error
	// Fault is the first failure of ours or of the machine that ended the course before an outcome.
	Fault error
	// Confirmed says that a person was asked and said yes.
	Confirmed bool
	// NoTake is why a gesture made no take, or zero.
	NoTake recorder.End
	// Timing is what a person waited for; of a file or a text only the later part.
	Timing Timing
	// Halted says that the operator stopped the session during this utterance.
	Halted bool
}

// Source is where an utterance comes from: WAV, Typed or Live.
type Source interface{ source() }

type (
	// WAV is a file.
	WAV struct{ Path string }
	// Typed is a written instruction; it has no capture and no transcript.
	Typed struct{ Text string }
)

func (WAV) source()   {}
func (Typed) source() {}

// Heard is the product of capture. Clip is nil when the source was kept but is no sound that we read.
type Heard struct {
	SHA256 digest.Digest // of the source, zero when it could not be read
	Clip   *capture.Clip
	Gate   capture.Speech
}

// Reply is the product of synth. WAV is empty when no voice spoke the words.
type Reply struct {
	Language lang.Language
	Text     string
	WAV      string // path
}

// Playback is the product of playback.
type Playback struct {
	State PlaybackState
	Err   error     // why it is not player_exited, when it was attempted
	First time.Time // the device asked for the first sample
}

// PlaybackState is what is known of the reply's way to a loudspeaker. Nothing claims that it was heard.
type PlaybackState uint8

const (
	NotAttempted PlaybackState = iota
	PlayerExited
	PlaybackFailed
	PlaybackUnknown
)

var playbackNames = [...]string{NotAttempted: "not_attempted", PlayerExited: "player_exited", PlaybackFailed: "failed", PlaybackUnknown: "unknown"}

// String returns the name that records use.
func (p PlaybackState) String() string { return playbackNames[p] }

// UnmarshalText reads a name.
func (p *PlaybackState) UnmarshalText(b []byte) error {
	i := slices.Index(playbackNames[:], string(b))
	if i < 0 {
		return fmt.Errorf("unknown state of a playback %q", b)
	}
	*p = PlaybackState(i)
	return nil
}

// MarshalText writes the name.
func (p PlaybackState) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Check returns what is inconsistent in a record that ended. Tests call it after every utterance.
func (r *Record) Check() error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(r.Trail) != len(evidence.Stages()) {
		fail("%d receipts, want %d", len(r.Trail), len(evidence.Stages()))
	}
	var end int64
	written := map[evidence.Ref]bool{}
	for i, rc := range r.Trail {
		if i < len(evidence.Stages()) && rc.Stage != evidence.Stages()[i] {
			fail("receipt %d is that of %s", i, rc.Stage)
		}
		if rc.StartNS < end || rc.EndNS < rc.StartNS {
			fail("the times of %s run backwards", rc.Stage)
		}
		end = rc.EndNS
		if rc.Verdict != evidence.Done && rc.Reason == "" {
			fail("%s is %s without a reason", rc.Stage, rc.Verdict)
		}
		for _, in := range rc.Inputs {
			if rc.Stage != evidence.Capture && !written[in] {
				fail("%s read %q, which no earlier stage wrote", rc.Stage, in.Name)
			}
		}
		for _, out := range rc.Outputs {
			written[out] = true
		}
	}
	_, typed := r.Source.(Typed)
	switch {
	case typed && (r.Heard != nil || r.Transcript != nil):
		fail("a typed instruction was heard or transcribed")
	case !typed && r.Transcript != nil && (r.Heard == nil || r.Heard.Clip == nil):
		fail("a transcript without a clip")
	}
	_, command := r.Decision.(Command)
	if command && !typed && !r.Confirmed && (r.Transcript == nil || r.Transcript.Verdict != transcribe.Understood) {
		fail("a command that was not understood")
	}
	if r.Outcome != nil && !command {
		fail("an outcome without a command")
	}
	if r.Playback != nil && r.Playback.State != NotAttempted && (r.Reply == nil || r.Reply.WAV == "") {
		fail("a playback without a reply")
	}
	if r.Decision != nil && !typed && r.Heard == nil {
		fail("a decision about nothing")
	}
	if r.verdict(evidence.Game) == evidence.Done && r.Outcome == nil {
		fail("the game stage is done without an outcome")
	}
	return errors.Join(errs...)
}

// verdict returns how a stage ended, or zero.
func (r *Record) verdict(s evidence.Stage) evidence.Verdict {
	i := slices.IndexFunc(r.Trail, func(rc evidence.Receipt) bool { return rc.Stage == s })
	if i < 0 {
		return 0
	}
	return r.Trail[i].Verdict
}
