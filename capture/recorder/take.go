package recorder

import (
	"errors"
	"fmt"
	"math"
	"time"

	"blockworld-voice/capture/mic"
	"blockworld-voice/internal/pcm"
)

// End is why a take ended.
type End uint8

const (
	Released    End = iota + 1 // the key was let go
	Toggled                    // the key was pressed a second time
	Tapped                     // the key was down too shortly to have been meant
	MaxDuration                // nobody ended it: a release may have been lost
	KeyLost                    // the keyboard went away while the key was down
	Stopped                    // the session was stopped
	DeviceLost                 // the microphone went away, or its process died
	NoCallbacks                // the device stopped delivering
)

var endNames = [...]string{Released: "released", Toggled: "toggled", Tapped: "tapped", MaxDuration: "max_duration",
	KeyLost: "key_lost", Stopped: "stopped", DeviceLost: "device_lost", NoCallbacks: "no_callbacks"}

// Ends lists the closed set.
func Ends() []End {
	return []End{Released, Toggled, Tapped, MaxDuration, KeyLost, Stopped, DeviceLost, NoCallbacks}
}

// String returns the name on disk.
func (e End) String() string {
	if e == 0 || int(e) >= len(endNames) {
		return fmt.Sprintf("end(%d)", uint8(e))
	}
	return endNames[e]
}

// MarshalText writes the name.
func (e End) MarshalText() ([]byte, error) {
	if e == 0 || int(e) >= len(endNames) {
		return nil, fmt.Errorf("no such end: %d", uint8(e))
	}
	return []byte(endNames[e]), nil
}

// UnmarshalText reads a name.
func (e *End) UnmarshalText(b []byte) error {
	for i, n := range endNames {
		if n != "" && n == string(b) {
			*e = End(i)
			return nil
		}
	}
	return fmt.Errorf("unknown end of a take %q", b)
}

// Whole says that the person ended the take by a gesture, so that it is what they wanted to say.
func (e End) Whole() bool { return e == Released || e == Toggled }

// Failed says that the device ended the take.
func (e End) Failed() bool { return e == DeviceLost || e == NoCallbacks }

// Take is one recording as the device delivered it. Times that did not come are zero.
type Take struct {
	Device  mic.Device
	Rate    int
	Latency time.Duration
	Passed  []Passed // rates that were not used
	Samples []int16  // mono
	End     End
	Problem string // what the device said in the end

	Gesture time.Time // the key went down
	Opened  time.Time // the stream runs
	First   time.Time // the first block came; before it there is no ready sign
	Release time.Time // the gesture that ended it
	Last    time.Time // the last block that counts
	Closed  time.Time // the device is closed

	Blocks    int // that came
	Overflows int // that say that samples before them were lost
	Dropped   int // that were lost between the device and us
	Zeros     bool
}

// Seconds is its length.
func (t *Take) Seconds() float64 {
	if t.Rate == 0 {
		return 0
	}
	return float64(len(t.Samples)) / float64(t.Rate)
}

// WAV is the take as a file.
func (t *Take) WAV() []byte {
	h := pcm.Header(t.Rate, 1, 16, 2*len(t.Samples))
	out := make([]byte, len(h), len(h)+2*len(t.Samples))
	copy(out, h[:])
	for _, v := range t.Samples {
		out = append(out, byte(v), byte(uint16(v)>>8))
	}
	return out
}

// Level is the loudness of samples in dB below full scale, at least -90.
func Level(samples []int16) float64 {
	if len(samples) == 0 {
		return minLevel
	}
	var sum float64
	for _, v := range samples {
		sum += float64(v) * float64(v)
	}
	db := 10 * math.Log10(sum/float64(len(samples))/(1<<30))
	return max(minLevel, db)
}

const minLevel = -90

// Problem is why there is no take.
type Problem uint8

const (
	HelperFailed  Problem = iota + 1 // its process could not be started or ended too early
	DeviceMissing                    // the device that was named is not there
	OpenFailed                       // the device is busy, or refuses
	NoFirstBlock                     // it was opened and delivered nothing
	Fenced                           // an earlier process may still hold the microphone
	Cancelled                        // the session was stopped before a sample came
)

var problems = [...]struct{ words, hint string }{
	HelperFailed:  {"the recorder could not be started", "see: blockworld-voice doctor"},
	DeviceMissing: {"the microphone is not there", "see: blockworld-voice devices"},
	OpenFailed:    {"the microphone can't be opened", "is another program using it? see: blockworld-voice devices"},
	NoFirstBlock:  {"the microphone delivers nothing", "is it muted or unplugged? see: blockworld-voice devices"},
	Fenced:        {"a recorder that can't be proved to have ended may still hold the microphone", "end this session, look for the process, then start a fresh one"},
	Cancelled:     {"the recording was stopped before it began", "nothing is to be done"},
}

// Error says why there is no take.
type Error struct {
	Problem Problem
	Detail  string
	hint    string
	Err     error
}

func (e *Error) Error() string {
	s := problems[e.Problem].words
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Hint says what to do.
func (e *Error) Hint() string {
	if e.hint != "" {
		return e.hint
	}
	return problems[e.Problem].hint
}

// ErrFenced is in every error of a recorder that may still hold the microphone.
var ErrFenced = errors.New("the recorder is fenced")
