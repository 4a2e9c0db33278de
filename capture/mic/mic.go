// Package mic opens microphones. A Host is a sound system; the one of this machine is PortAudio's, and Scripted is
// one whose devices do as a test says. Nothing is read from a device unless a stream is open.
package mic

import (
	"errors"
	"fmt"
	"time"
)

// Device is one input of a sound system.
type Device struct {
	Name      string `json:"name"`
	API       string `json:"api"`
	Channels  int    `json:"channels"`
	Rate      int    `json:"rate"`       // that it works at by itself
	LatencyNS int64  `json:"latency_ns"` // the low one
	Default   bool   `json:"default,omitzero"`
}

// Block is what a stream delivers at once: mono samples of 16 bits. The slice is the host's and is valid during the
// call only.
type Block struct {
	Samples  []int16
	Overflow bool // samples before these were lost
}

// Stream is an open microphone.
type Stream interface {
	// Latency is what the sound system says it takes from the air to the callback.
	Latency() time.Duration
	// Close stops and closes the device. No callback runs after it returned.
	Close() error
}

// Host is a sound system. One goroutine uses it.
type Host interface {
	// Inputs lists the microphones as they were when the host was opened.
	Inputs() ([]Device, error)
	// Open opens a device and starts it. The callback runs on a thread of the sound system and must not block.
	Open(d Device, rate int, callback func(Block)) (Stream, error)
	Close() error
}

// ErrRate says that a device doesn't work at the rate that was asked for.
var ErrRate = errors.New("the device doesn't work at this rate")

// NotFoundError says that a device that was named is not there.
type NotFoundError struct {
	Name string // "" is the default device
	Have []string
}

func (e *NotFoundError) Error() string {
	switch {
	case len(e.Have) == 0:
		return "there is no microphone"
	case e.Name == "":
		return "there is no default microphone"
	}
	return fmt.Sprintf("there is no microphone %q", e.Name)
}

// Hint says what to do.
func (e *NotFoundError) Hint() string {
	if len(e.Have) == 0 {
		return "connect a microphone, start the sound server, and see: blockworld-voice devices"
	}
	return "choose one of those that `blockworld-voice devices` lists"
}

// Find returns the device with this name, or the default one for "". There is no fallback to another device.
func Find(all []Device, name string) (Device, error) {
	var have []string
	for _, d := range all {
		if name == "" && d.Default || name != "" && d.Name == name {
			return d, nil
		}
		have = append(have, d.Name)
	}
	return Device{}, &NotFoundError{name, have}
}
