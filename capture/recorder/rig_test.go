package recorder

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"blockworld-voice/capture/mic"
	"blockworld-voice/internal/procgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inside is the process with the microphone, run within the test.
type inside struct {
	done  chan struct{}
	close func()
	stuck error // what Stop says, in place of the truth
	after func()
}

func (p *inside) Done() <-chan struct{} { return p.done }

func (p *inside) Stop() error {
	p.close()
	if p.after != nil {
		p.after()
	}
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
		return errors.New("it hangs")
	}
	return p.stuck
}

// rig starts processes on a scripted host.
type rig struct {
	host   *mic.Scripted
	mu     sync.Mutex
	starts int
	stuck  error
	after  func()
	reader func(io.ReadCloser) io.ReadCloser // in front of what the process says
	fail   error
	last   *inside
}

func (g *rig) start() (procgroup.Child, io.WriteCloser, io.ReadCloser, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fail != nil {
		return nil, nil, nil, g.fail
	}
	g.starts++
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &inside{done: make(chan struct{}), stuck: g.stuck, after: g.after}
	var once sync.Once
	p.close = func() { once.Do(func() { inR.CloseWithError(io.EOF); outR.CloseWithError(io.ErrClosedPipe) }) }
	g.last = p
	go func() {
		defer close(p.done)
		err := Serve(inR, outW, "scripted", func() (mic.Host, error) { return g.host, nil })
		if err == nil {
			err = io.EOF
		}
		outW.CloseWithError(err)
	}()
	var out io.ReadCloser = outR
	if g.reader != nil {
		out = g.reader(outR)
	}
	return p, inW, out, nil
}

var desk = mic.Device{Name: "desk", API: "scripted", Channels: 1, Rate: 48000, Default: true}

func newRig(t *testing.T, s ...mic.Script) (*rig, *Recorder) {
	t.Helper()
	g := &rig{host: mic.NewScripted(s...)}
	r := New(Config{Start: g.start, Tail: 50 * time.Millisecond, First: 700 * time.Millisecond, Stall: 300 * time.Millisecond, Settle: 300 * time.Millisecond})
	t.Cleanup(func() {
		if err := r.Close(); err != nil && g.stuck == nil {
			t.Error(err)
		}
		if n := g.host.Running.Load(); n != 0 && g.stuck == nil {
			t.Errorf("%d streams are still open", n)
		}
	})
	return g, r
}

// hold is a gesture of a length, from when the microphone is ready.
func hold(t *testing.T, r *Recorder, long time.Duration, why End) (*Take, error) {
	t.Helper()
	kept, end := make(chan struct{}), make(chan Ending, 1)
	var ready bool
	return r.Record(context.Background(), Gesture{At: time.Now(), Kept: kept, End: end}, func(p Progress) {
		if r.State() != On {
			t.Errorf("the microphone is %v while it is read", r.State())
		}
		if p.Ready {
			if ready {
				t.Error("ready twice")
			}
			ready = true
			if why != Tapped {
				close(kept)
			}
			time.AfterFunc(long, func() { end <- Ending{why, time.Now()} })
		}
	})
}

func mustHold(t *testing.T, r *Recorder, long time.Duration) *Take {
	t.Helper()
	take, err := hold(t, r, long, Released)
	if err != nil {
		t.Fatal(err)
	}
	if r.State() != Off {
		t.Errorf("after the take the microphone is %v", r.State())
	}
	return take
}
