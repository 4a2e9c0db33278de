package recorder

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"blockworld-voice/capture/mic"
	"blockworld-voice/internal/procgroup"
)

// Config is what a recorder works with. Zero durations are the defaults.
type Config struct {
	Start  procgroup.Starter // of the process that runs Serve
	Device string            // "" is the default microphone

	Launch time.Duration // until the process speaks
	Open   time.Duration // until the device is open
	First  time.Duration // until the first block
	Stall  time.Duration // between blocks
	Settle time.Duration // until the device is closed
	Tail   time.Duration // that is recorded after the release
	Max    time.Duration // of samples in a take, whatever happens
	Ring   time.Duration // of samples that are kept while the gesture is armed
}

// The defaults. A device that goes over a network or wakes from sleep takes its time for the first block.
const (
	DefaultTail = 250 * time.Millisecond
	DefaultMax  = 30 * time.Second
)

func (c *Config) defaults() {
	for _, d := range []struct {
		v *time.Duration
		d time.Duration
	}{
		{&c.Launch, 15 * time.Second}, {&c.Open, 5 * time.Second}, {&c.First, 3 * time.Second}, {&c.Stall, time.Second},
		{&c.Settle, time.Second}, {&c.Tail, DefaultTail}, {&c.Max, DefaultMax + time.Second}, {&c.Ring, time.Second},
	} {
		if *d.v <= 0 {
			*d.v = d.d
		}
	}
}

// State is what is known of the microphone.
type State uint8

const (
	Off       State = iota + 1 // it is proved that nothing of ours reads it
	On                         // a stream is open, or being opened
	Uncertain                  // a process doesn't do as it was told, or may have outlived us
)

// String returns the name.
func (s State) String() string {
	return [...]string{Off: "off", On: "on", Uncertain: "uncertain"}[s]
}

// Recorder makes takes, one after another. Record, Warm and Close are one goroutine's; State is anybody's.
type Recorder struct {
	cfg Config

	mu     sync.Mutex
	state  State
	fenced error

	h    *helper
	take uint32
}

// New returns a recorder. Nothing is started yet.
func New(cfg Config) *Recorder {
	cfg.defaults()
	return &Recorder{cfg: cfg, state: Off}
}

// State says what is known of the microphone.
func (r *Recorder) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// Fenced returns why no take can be made any more, or nil. Then no reply may be played either.
func (r *Recorder) Fenced() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fenced
}

func (r *Recorder) set(s State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fenced == nil {
		r.state = s
	}
}

// Warm starts the process, so that the first gesture need not wait for it. No device is opened.
func (r *Recorder) Warm(ctx context.Context) error {
	if err := r.Fenced(); err != nil {
		return &Error{Problem: Fenced, Err: err}
	}
	if r.h != nil {
		select {
		case <-r.h.proc.Done():
			if err := r.retire(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	h, err := launch(ctx, r.cfg.Start, r.cfg.Launch)
	r.h = h
	if err != nil {
		if h != nil {
			if e := r.retire(); e != nil {
				return e
			}
		}
		return &Error{Problem: HelperFailed, Err: err}
	}
	return nil
}

// retire ends the process. Until that is proved the microphone's state is uncertain, and if it can't be proved the
// recorder is fenced for good.
func (r *Recorder) retire() error {
	if r.h == nil {
		return nil
	}
	r.set(Uncertain)
	err := r.h.retire()
	r.h = nil
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrFenced, err)
		r.mu.Lock()
		r.fenced = err
		r.mu.Unlock()
		return &Error{Problem: Fenced, Err: err}
	}
	r.set(Off)
	return nil
}

// Close ends the process. The error says that its end could not be proved.
func (r *Recorder) Close() error {
	if err := r.retire(); err != nil {
		return err
	}
	if err := r.Fenced(); err != nil {
		return &Error{Problem: Fenced, Err: err}
	}
	return nil
}

// Inputs lists the microphones as the process sees them.
func (r *Recorder) Inputs(ctx context.Context) ([]mic.Device, error) {
	if err := r.Warm(ctx); err != nil {
		return nil, err
	}
	broken := func(err error) ([]mic.Device, error) {
		return nil, errors.Join(&Error{Problem: HelperFailed, Err: err}, r.retire())
	}
	if err := r.h.w.Write(kindList, nil); err != nil {
		return broken(err)
	}
	f, err := r.h.next(ctx, r.cfg.Launch)
	if err != nil {
		return broken(err)
	}
	var d listDoc
	if f.Kind == kindError {
		var e errorDoc
		if err = f.JSON(&e); err == nil {
			err = errors.New(e.Problem)
		}
	} else {
		err = f.JSON(&d)
	}
	if err != nil {
		return broken(err)
	}
	return d.Inputs, nil
}
