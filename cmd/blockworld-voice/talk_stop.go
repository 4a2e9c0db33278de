package main

import (
	"context"
	"os"
	"time"

	"blockworld-voice/game"
	"blockworld-voice/internal/screen"
)

// ending is the end of a session on its way: fenced, cancelled, being settled.
type ending struct {
	why     string
	outcome game.Outcome // of the stop, nil until it is settled
	given   *time.Timer  // then what hangs is given up
}

// over says whether everything is settled.
func (e *ending) over(working bool) bool { return e.outcome != nil && !working }

// patience is how long everything together may take to be settled.
func (t *talk) patience() time.Duration {
	return 2*t.a.game.Profile().Binding.Timeout + 5*time.Second
}

// halt ends the session from any goroutine, whatever else hangs: it fences later sends, stops what runs over a control
// connection of its own, and then ends recording, recognition, voice and player. The loop settles and reports; if
// even that hangs, on a terminal that takes nothing more, the program ends without it.
func (t *talk) halt(m stopAsked) {
	t.fence.Do(func() {
		patience := t.patience()
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			t.settled <- t.a.behaviours.Stop(ctx)
		}()
		fenced := make(chan struct{})
		go func() {
			defer close(fenced)
			for armed, _ := t.a.game.Armed(); armed; armed, _ = t.a.game.Armed() {
				time.Sleep(time.Millisecond)
			}
		}()
		select { // the fence comes first, but one that hangs keeps nothing else from ending
		case <-fenced:
		case <-time.After(250 * time.Millisecond):
		}
		t.cancel(stopWanted)
		go func() {
			select {
			case <-t.over:
			case <-time.After(patience + 5*time.Second):
				os.Exit(int(statusUnknown))
			}
		}()
	})
	select {
	case t.inbox <- m:
	default:
		go t.send(m)
	}
}

// stop is the loop's part of a stop: what is shown, and how long it is waited for. It may be called again.
func (t *talk) stop(m stopAsked) {
	if m.signal {
		t.p.status = t.p.status.and(statusCancelled)
	}
	if t.ending != nil {
		return
	}
	t.ending = &ending{why: m.why, given: time.NewTimer(t.patience())}
	t.view.State, t.view.Note = screen.Stopping, "stopping: "+m.why
	t.halt(m)
	t.machine.Reset()
	t.next, t.cur = nil, nil
	if t.asking != nil {
		t.asking.giveUp()
	}
}

// bye says how the session ended. It is called when the loop is over.
func (t *talk) bye() string {
	s := "session ended: " + t.ending.why
	if t.ending.outcome == nil {
		t.p.status = t.p.status.and(statusUnknown)
		return s + "; the stop was sent and its end isn't known"
	}
	if t.ending.outcome.Kind() == game.KindUnknown {
		t.p.status = t.p.status.and(statusUnknown)
	}
	return s + "; " + t.ending.outcome.Say()
}
