package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"blockworld-voice/capture/gesture"
)

// backends starts what reports gestures beside the terminal, and returns what ends it.
func (t *talk) backends(ctx context.Context) func() {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	var control *gesture.Control
	path, err := controlPath()
	if err == nil {
		control, err = gesture.Listen(path, t.word)
	}
	switch {
	case errors.Is(err, gesture.ErrControlled):
		t.send(note("another session has the control socket: ptt drives that one"))
	case err != nil:
		t.send(note("there is no control socket: " + err.Error()))
	}
	if k := t.set.global; k != nil {
		all.Go(func() {
			pass := func(s gesture.Signal) { t.send(s) }
			hold := t.set.mode != modeToggle
			err := gesture.Evdev{Key: *k, Hold: hold}.Run(ctx, pass)
			if errors.Is(err, gesture.ErrNoKeyboard) { // the desktop may offer one
				if e := (gesture.Portal{Key: *k, Hold: hold}).Run(ctx, pass); e == nil || !errors.Is(e, gesture.ErrNoPortal) {
					err = e
				}
			}
			if err != nil {
				t.send(note(k.String() + ": " + err.Error() + "; " + gesture.EvdevHint))
			}
		})
	}
	return func() {
		cancel()
		if control != nil {
			_ = control.Close()
		}
		all.Wait()
	}
}

// word takes a word of the control socket.
func (t *talk) word(w gesture.Word) string {
	if k, ok := w.Kind(); ok {
		t.send(gesture.Signal{Kind: k, Source: "ptt", At: time.Now()})
		return "ok"
	}
	t.halt(stopAsked{why: "ptt stop"})
	return "ok: stopping"
}
