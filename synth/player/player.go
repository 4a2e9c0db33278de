package player

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"blockworld-voice/internal/frames"
	"blockworld-voice/internal/procgroup"
	"blockworld-voice/synth"
)

// Facts are what is known of a reply's way to the device.
type Facts struct {
	Output  string    `json:"output"`
	Exited  bool      `json:"exited"`           // the process played to its end and its group is proved gone
	Started time.Time `json:"started,omitzero"` // the device asked for the first sample
	Ended   time.Time `json:"ended,omitzero"`   // the group was gone
}

// Problem is why a reply did not play to its end.
type Problem uint8

const (
	Failed    Problem = iota + 1 // the device is busy or missing, or the process failed
	Stopped                      // the context ended
	TimedOut                     // it took longer than the reply lasts
	Unretired                    // its group may still live: no capture and no reply may follow
)

var problems = [...]struct{ words, hint string }{
	Failed:    {"the reply could not be played", "see: blockworld-voice devices; another output: --audio-output pulse"},
	Stopped:   {"the reply was stopped", "nothing is to be done"},
	TimedOut:  {"the player took too long", "see: blockworld-voice devices"},
	Unretired: {"a player that can't be proved to have ended may still play", "end it by hand, then start a fresh session"},
}

// Error says why a reply did not play to its end.
type Error struct {
	Problem Problem
	Err     error
}

func (e *Error) Error() string {
	if e.Err == nil {
		return problems[e.Problem].words
	}
	return problems[e.Problem].words + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Hint says what to do.
func (e *Error) Hint() string { return problems[e.Problem].hint }

// ErrFenced is in the error of a player whose process may still live.
var ErrFenced = errors.New("the player is fenced")

// Player plays replies, one after another. Play and Close are one goroutine's; Fenced is anybody's.
type Player struct {
	Start  procgroup.Starter // of the process that runs Serve
	Output Output
	// Launch bounds the start of a process and Extra what may pass beyond the length of a reply; 0 are 5 s and 5 s.
	Launch, Extra time.Duration

	mu     sync.Mutex
	fenced error
	late   sync.WaitGroup // starts that nobody waits for any more, and the end of what they started
}

// Program returns a player whose process is a program with these arguments. Its standard error goes to log. The file
// is the caller's to close.
func Program(path string, args []string, o Output, log io.Writer) (*Player, *os.File, error) {
	env, conf, err := o.environment()
	if err != nil {
		return nil, nil, err
	}
	start := procgroup.Piped(procgroup.Spec{Path: path, Args: args, Env: env, Files: []*os.File{conf}, Stderr: log, Grace: 100 * time.Millisecond})
	return &Player{Start: start, Output: o}, conf, nil
}

// Fenced returns why nothing may be played, or nil. Then nothing may be recorded either.
func (p *Player) Fenced() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fenced
}

func (p *Player) fence(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fenced == nil {
		p.fenced = fmt.Errorf("%w: %w", ErrFenced, err)
	}
	return &Error{Unretired, p.fenced}
}

// Play plays a reply to its end, or until ctx ends. When it returns the process's group is proved gone, unless the
// error's problem is Unretired. A process that starts after ctx has ended gets no samples.
func (p *Player) Play(ctx context.Context, a *synth.Audio) (Facts, error) {
	facts := Facts{Output: p.Output.String()}
	if err := p.Fenced(); err != nil {
		return facts, &Error{Unretired, err}
	}
	c, err := p.launch(ctx)
	if err != nil {
		return facts, err
	}
	extra := p.Extra
	if extra <= 0 {
		extra = 5 * time.Second
	}
	run, cancel := context.WithTimeout(ctx, time.Duration(a.Seconds*float64(time.Second))+extra)
	defer cancel()
	err = c.play(run, a, &facts)
	if e := c.retire(); e != nil {
		return facts, p.fence(e)
	}
	facts.Ended = time.Now()
	switch {
	case err == nil:
		facts.Exited = true
		return facts, nil
	case ctx.Err() != nil:
		return facts, &Error{Stopped, context.Cause(ctx)}
	case run.Err() != nil:
		return facts, &Error{TimedOut, nil}
	}
	return facts, &Error{Failed, err}
}

// Close waits for launches that came too late and the end of their groups.
func (p *Player) Close() error {
	p.late.Wait()
	return p.Fenced()
}

// child is a player's process.
type child struct {
	proc procgroup.Child
	in   io.WriteCloser
	out  io.ReadCloser
}

// launch starts the process. A start that outlasts ctx is adopted when it comes, and ended before it got a sample;
// until that is proved nothing may be played or recorded.
func (p *Player) launch(ctx context.Context) (*child, error) {
	if ctx.Err() != nil {
		return nil, &Error{Stopped, context.Cause(ctx)}
	}
	within := p.Launch
	if within <= 0 {
		within = 5 * time.Second
	}
	type started struct {
		c   *child
		err error
	}
	got := make(chan started, 1)
	p.late.Go(func() {
		proc, in, out, err := p.Start()
		if err != nil {
			got <- started{err: err}
			return
		}
		got <- started{c: &child{proc, in, out}}
	})
	t := time.NewTimer(within)
	defer t.Stop()
	adopt := func(why error) error {
		late := make(chan error, 1)
		p.late.Go(func() {
			s := <-got
			if s.c == nil {
				late <- nil
				return
			}
			err := s.c.retire()
			if err != nil {
				_ = p.fence(err)
			}
			late <- err
		})
		wait := time.NewTimer(within)
		defer wait.Stop()
		select {
		case err := <-late:
			if err != nil {
				return &Error{Unretired, p.Fenced()}
			}
			return why
		case <-wait.C:
			return p.fence(errors.New("its process is still being started"))
		}
	}
	select {
	case s := <-got:
		if s.err != nil {
			return nil, &Error{Failed, s.err}
		}
		return s.c, nil
	case <-ctx.Done():
		return nil, adopt(&Error{Stopped, context.Cause(ctx)})
	case <-t.C:
		return nil, adopt(&Error{TimedOut, errors.New("its process did not start")})
	}
}

// play hands the reply over and waits for the end of it.
func (c *child) play(ctx context.Context, a *synth.Audio, facts *Facts) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	ended := make(chan error, 1)
	var mu sync.Mutex
	var started time.Time
	go func() {
		r := frames.NewReader(c.out)
		for {
			f, err := r.Next()
			if err != nil {
				ended <- fmt.Errorf("its process broke off: %w", err)
				return
			}
			switch f.Kind {
			case kindHello:
				if err := frames.NewWriter(c.in).Write(kindPlay, a.WAV); err != nil {
					ended <- err
					return
				}
			case kindStarted:
				mu.Lock()
				started = time.Now()
				mu.Unlock()
			case kindDone:
				ended <- nil
				return
			case kindError:
				var d errorDoc
				if err := f.JSON(&d); err != nil {
					ended <- err
					return
				}
				ended <- errors.New(d.Problem)
				return
			default:
				ended <- fmt.Errorf("frame %q is not known", f.Kind)
				return
			}
		}
	}()
	defer func() {
		mu.Lock()
		facts.Started = started
		mu.Unlock()
	}()
	select {
	case err := <-ended:
		if err != nil {
			return err
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	_ = c.in.Close()
	select { // it exits by itself now
	case <-c.proc.Done():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// retire ends the group. A nil error is the proof that nothing of it lives.
func (c *child) retire() error {
	_ = c.in.Close()
	err := c.proc.Stop()
	_ = c.out.Close()
	return err
}
