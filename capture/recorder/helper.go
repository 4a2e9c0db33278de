package recorder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"blockworld-voice/internal/frames"
	"blockworld-voice/internal/procgroup"
)

// helper is a running process and the frames that come from it.
type helper struct {
	proc  procgroup.Child
	in    io.WriteCloser
	out   io.ReadCloser
	w     *frames.Writer
	got   chan frames.Frame // closed when the process says no more
	quit  chan struct{}
	ended sync.Once
	err   error // why got was closed; read after it
}

// launch starts a process and waits for its first word.
func launch(ctx context.Context, start procgroup.Starter, within time.Duration) (*helper, error) {
	p, in, out, err := start()
	if err != nil {
		return nil, err
	}
	h := &helper{proc: p, in: in, out: out, w: frames.NewWriter(in), got: make(chan frames.Frame, 64), quit: make(chan struct{})}
	go h.read()
	f, err := h.next(ctx, within)
	if err == nil {
		switch f.Kind {
		case kindHello:
			var d helloDoc
			if err = f.JSON(&d); err == nil && d.Schema != 1 {
				err = fmt.Errorf("its protocol is %d, not 1", d.Schema)
			}
		case kindError:
			var d errorDoc
			if err = f.JSON(&d); err == nil {
				err = errors.New(d.Problem)
			}
		default:
			err = fmt.Errorf("its first word is %q", f.Kind)
		}
	}
	if err != nil {
		return h, err
	}
	return h, nil
}

func (h *helper) read() {
	defer close(h.got)
	r := frames.NewReader(h.out)
	for {
		f, err := r.Next()
		if err != nil {
			h.err = err
			return
		}
		select {
		case h.got <- f:
		case <-h.quit:
			return
		}
	}
}

var errSilent = errors.New("no answer in time")

// next waits for one frame.
func (h *helper) next(ctx context.Context, within time.Duration) (frames.Frame, error) {
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case f, ok := <-h.got:
		if !ok {
			return f, h.gone()
		}
		return f, nil
	case <-t.C:
		return frames.Frame{}, errSilent
	case <-ctx.Done():
		return frames.Frame{}, context.Cause(ctx)
	}
}

func (h *helper) gone() error {
	if h.err != nil && h.err != io.EOF {
		return fmt.Errorf("the recorder's process broke off: %w", h.err)
	}
	return errors.New("the recorder's process has ended")
}

// retire ends the process. A nil error is the proof that nothing of it lives.
func (h *helper) retire() error {
	var err error
	h.ended.Do(func() { close(h.quit) })
	_ = h.in.Close() // a well-behaved process ends by itself now
	err = h.proc.Stop()
	_ = h.out.Close()
	for range h.got { // the reader ends: nobody holds the other end of the pipe
	}
	return err
}
