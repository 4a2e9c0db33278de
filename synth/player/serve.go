// Package player plays a reply in a process of its own.
//
// Serve is that process: it gets one reply, plays it on the default device, and exits. Player is the other side: it
// starts the process in a process group of its own and proves that the group is gone before it returns. That the
// process exited is all that it claims; whether anybody heard the reply is not known.
package player

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ebitengine/oto/v3"

	"blockworld-voice/internal/frames"
	"blockworld-voice/synth"
)

// The frames. Capital letters come from the player's process.
const (
	kindPlay    = 'p' // the bytes of a WAV
	kindHello   = 'H' // helloDoc: the device is not touched yet
	kindStarted = 'S' // the device is open and asked for the first sample
	kindDone    = 'D' // every sample was handed to the device
	kindError   = 'E' // errorDoc
)

type helloDoc struct {
	Schema int `json:"schema"`
}

type errorDoc struct {
	Problem string `json:"problem"`
}

// Sink plays samples: mono, 16 bits, little endian. It returns when the device has taken all of them. One call a process.
type Sink func(rate int, samples io.Reader) error

// Serve is the player's process. It ends after one reply, and at once when in ends before one came.
func Serve(in io.Reader, out io.Writer, sink Sink) error {
	w := frames.NewWriter(out)
	if err := w.WriteJSON(kindHello, helloDoc{1}); err != nil {
		return err
	}
	f, err := frames.NewReader(in).Next()
	if err == io.EOF {
		return nil
	}
	if err == nil {
		err = serve(f, w, sink)
	}
	if err != nil {
		return errors.Join(err, w.WriteJSON(kindError, errorDoc{err.Error()}))
	}
	return w.Write(kindDone, nil)
}

func serve(f frames.Frame, w *frames.Writer, sink Sink) error {
	if f.Kind != kindPlay {
		return fmt.Errorf("frame %q is not known", f.Kind)
	}
	a, err := synth.ReadAudio(f.Data)
	if err != nil {
		return err
	}
	return sink(a.Rate, &first{r: io.MultiReader(bytes.NewReader(a.Samples()), bytes.NewReader(silence(a.Rate))), told: func() error {
		return w.Write(kindStarted, nil)
	}})
}

// lead is the silence after a reply: a device that drops the end of what it buffers drops that.
const lead = 100 * time.Millisecond

func silence(rate int) []byte { return make([]byte, 2*int(int64(rate)*int64(lead)/int64(time.Second))) }

// first tells once that the first sample was asked for.
type first struct {
	r    io.Reader
	told func() error
}

func (f *first) Read(p []byte) (int, error) {
	if f.told != nil {
		err := f.told()
		f.told = nil
		if err != nil {
			return 0, err
		}
	}
	return f.r.Read(p)
}

// buffer is how much audio waits in the device: short, so that a stop is short, too.
const buffer = 60 * time.Millisecond

// Device plays on the default device of this machine.
func Device(rate int, samples io.Reader) error {
	c, ready, err := oto.NewContext(&oto.NewContextOptions{SampleRate: rate, ChannelCount: 1, Format: oto.FormatSignedInt16LE, BufferSize: buffer})
	if err != nil {
		return fmt.Errorf("the device can't be opened: %w", err)
	}
	<-ready
	if err := c.Err(); err != nil {
		return fmt.Errorf("the device can't be opened: %w", err)
	}
	p := c.NewPlayer(samples)
	p.SetBufferSize(2 * int(int64(rate)*int64(buffer)/int64(time.Second)))
	p.Play()
	for p.IsPlaying() {
		if err := c.Err(); err != nil {
			return fmt.Errorf("the device failed: %w", err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(2 * buffer) // what the device has taken
	return errors.Join(c.Err(), p.Err())
}

// Clocked is a sink for tests of what comes before the device: it takes the samples at the speed of a clock.
func Clocked(rate int, samples io.Reader) error {
	buf := make([]byte, 2*rate/100)
	for {
		n, err := io.ReadFull(samples, buf)
		if n == 0 {
			return nil
		}
		time.Sleep(time.Duration(n/2) * time.Second / time.Duration(rate))
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
	}
}
