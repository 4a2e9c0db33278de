package synth

import (
	"context"
	"fmt"
	"time"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/lang"
)

// Voice speaks texts. Speak may be called from any goroutine; each call is on its own. Every error is an *Error, and
// when Speak returned, nothing that it started runs any more, unless the error's Problem is Unretired.
type Voice interface {
	Speak(ctx context.Context, l lang.Language, text string) (*Reply, error)
}

// Reply is a spoken text with the facts of its generation. Whether anybody played or heard it is not among them.
type Reply struct {
	Audio *Audio
	Facts Facts
}

// Facts are what is known of how a reply came about, as they stand in reply.json.
type Facts struct {
	Engine        string        `json:"engine"`
	EngineVersion string        `json:"engine_version"`
	Voice         string        `json:"voice"`
	Language      lang.Language `json:"language"`
	Text          string        `json:"text"` // exactly what the engine was given
	TextSHA256    digest.Digest `json:"text_sha256"`
	Rate          int           `json:"rate"`
	Frames        int           `json:"frames"`
	Seconds       float64       `json:"seconds"`
	Size          int           `json:"size"`
	SHA256        digest.Digest `json:"sha256"` // of the WAV
	TookNS        int64         `json:"took_ns"`
}

// facts fills in what the text and the audio tell.
func facts(l lang.Language, text string, a *Audio, took time.Duration) Facts {
	return Facts{
		Language: l, Text: text, TextSHA256: digest.Of([]byte(text)),
		Rate: a.Rate, Frames: a.Frames, Seconds: a.Seconds, Size: len(a.WAV), SHA256: digest.Of(a.WAV), TookNS: int64(took),
	}
}

// Problem is why a text could not be spoken.
type Problem uint8

const (
	EngineMissing Problem = iota + 1 // the program is not installed
	VoiceMissing                     // the engine has no such voice
	TextRefused                      // nothing to speak, too long, or numbers that are not in words
	EngineFailed                     // it ended with an error
	AudioRefused                     // what it wrote is no whole, bounded, audible WAV
	TimedOut
	Stopped   // the caller's context ended
	Unretired // its processes may still live: no capture and no reply may follow
)

var problems = [...]struct{ words, hint string }{
	EngineMissing: {"the speech engine is not installed", "install espeak-ng (apt install espeak-ng, dnf install espeak-ng, brew install espeak-ng); replies stay on the screen until then"},
	VoiceMissing:  {"the speech engine has no such voice", "install espeak-ng's voice data (apt install espeak-ng-data), or name another voice in the speech profile"},
	TextRefused:   {"the text can't be spoken", "this is a fault of this program: please report it with the evidence folder"},
	EngineFailed:  {"the speech engine failed", "try it by hand: echo test | espeak-ng --stdin -v sk"},
	AudioRefused:  {"the speech engine's audio is not usable", "try it by hand: echo test | espeak-ng --stdin -v sk"},
	TimedOut:      {"the speech engine took too long", "look whether the machine is busy; replies stay on the screen"},
	Stopped:       {"the reply was stopped", "nothing is to be done"},
	Unretired:     {"the speech engine's processes could not be ended", "end them by hand, then start a fresh session"},
}

// Error says why there is no reply. It never stands for a made-up one.
type Error struct {
	Problem Problem
	Voice   string
	Stderr  string // the end of what the engine said, in one plain line
	Err     error
}

func (e *Error) Error() string {
	s := problems[e.Problem].words
	if e.Voice != "" {
		s += fmt.Sprintf(" (%s)", e.Voice)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Stderr != "" {
		s += ": " + e.Stderr
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Hint says what a person can do next.
func (e *Error) Hint() string { return problems[e.Problem].hint }
