package capture

import (
	"fmt"
)

// Error says why a source did not become a Clip. Error gives the first line for people and Hint is
// the second.
type Error struct {
	Name    string // the file as the person named it
	Kind    Fault
	Problem string // what is wrong
	Hint    string // what to do next
	Offset  int64  // the byte that it is about, or NoOffset
	Err     error  // the cause, when the system gave one
}

// NoOffset is the Offset of an error that is about no one place.
const NoOffset = -1

func (e *Error) Error() string {
	if e.Offset == NoOffset {
		return fmt.Sprintf("%s: %s", e.Name, e.Problem)
	}
	return fmt.Sprintf("%s: %s (at byte %d)", e.Name, e.Problem, e.Offset)
}

func (e *Error) Unwrap() error { return e.Err }

// Lines is the error as a person should see it: what is wrong, and what to do next.
func (e *Error) Lines() string { return e.Error() + "\n" + e.Hint }

// Fault is the class of an Error.
type Fault uint8

// The faults.
const (
	NotFound    Fault = iota + 1 // no such file
	Denied                       // no permission
	NotAFile                     // a folder, fifo, device or socket
	Unreadable                   // the system failed while reading
	Changed                      // the file grew or shrank while it was read
	TooBig                       // over MaxFile
	TooLong                      // over MaxSeconds
	NotWAV                       // another kind of file
	Unsupported                  // a WAV file of a kind that isn't read
	Malformed                    // a header that contradicts itself or lacks a part
	Cut                          // less in the file than its header says
	Torn                         // not a whole number of frames
	NotANumber                   // a float sample that is NaN or infinite
	Internal                     // a fault of ours
)

var faultNames = names[Fault]{what: "fault", of: []string{
	NotFound: "not_found", Denied: "denied", NotAFile: "not_a_file", Unreadable: "unreadable", Changed: "changed", TooBig: "too_big",
	TooLong: "too_long", NotWAV: "not_wav", Unsupported: "unsupported", Malformed: "malformed", Cut: "cut", Torn: "torn",
	NotANumber: "not_a_number", Internal: "internal"}}

func (f Fault) String() string                { return faultNames.name(f) }
func (f Fault) MarshalText() ([]byte, error)  { return faultNames.marshal(f) }
func (f *Fault) UnmarshalText(b []byte) error { return faultNames.unmarshal(f, b) }

const (
	hintConvert = "Convert it to a plain WAV file, for example: ffmpeg -i IN -ac 1 -ar 16000 OUT.wav"
	hintAgain   = "Copy or record it again; nothing of it was used."
	hintResave  = "Save it again with a sound editor or: ffmpeg -i IN OUT.wav"
)

// fault is an Error without the file's name, which only the outermost function knows.
func fault(kind Fault, offset int, hint, format string, args ...any) *Error {
	return &Error{Kind: kind, Offset: int64(offset), Hint: hint, Problem: fmt.Sprintf(format, args...)}
}
