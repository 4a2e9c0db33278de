package game

import (
	"context"
	"errors"
	"os"
	"time"

	"blockworld-voice/game/horizon"
)

// Check is one thing that must hold before a session can be opened.
type Check struct {
	Name   string // workspace, expiry, no_ai, process, ownership, endpoint, binding
	OK     bool
	Denied bool // the game denies being driven
	Detail string
	Hint   string
}

// CheckProfile looks at everything that Open will ask for, takes nothing and sends only
// queries. The second result are the dialect's facts with the client's verdict, nil when it
// couldn't be reached.
func CheckProfile(ctx context.Context, p Profile, o Options) ([]Check, []Finding) {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Session{profile: p, opt: o}
	var out []Check
	add := func(name string, err error, good, hint string) bool {
		c := Check{Name: name, OK: err == nil, Detail: good}
		if err != nil {
			reason, known := ReasonOf(err)
			c.Detail, c.Hint, c.Denied = err.Error(), hint, known && reason == Denied
		}
		out = append(out, c)
		return err == nil
	}
	add("workspace", CheckWorkspace(p.Workspace, p.CheckoutRoots), p.Workspace, "a workspace is a private folder outside every checkout")
	var err error
	if !o.Now().Before(p.Policy.Expires) {
		err = errors.New("expired at " + p.Policy.Expires.Format(time.RFC3339))
	}
	add("expiry", err, "until "+p.Policy.Expires.Format(time.RFC3339), "use: profile new")
	err = nil
	if noAI(s.home()) {
		err = refuse(Denied, "No AI is on for this game")
	}
	add("no_ai", err, "off", "only the game's player can turn it off")
	ended, err := p.Binding.Process.Ended()
	if err == nil && ended {
		err = errors.New("the pinned process has ended")
	}
	add("process", err, p.Binding.Process.String(), "start the game and use: profile new")
	add("ownership", ownershipOf(p, o), "free", "end the other session, restart the client, or use: blockworld-voice reconcile")
	dctx, cancel := context.WithTimeout(ctx, p.Binding.Timeout)
	defer cancel()
	c, err := horizon.Dial(dctx, p.Binding.Endpoint, p.Binding.Process)
	if err != nil {
		add("endpoint", unread(err), "", "is the game running with its control socket open?")
		return out, nil
	}
	_ = c.Close()
	add("endpoint", nil, p.Binding.Endpoint.String(), "")
	v, found, err := interview(ctx, p.Binding)
	if err == nil {
		err = p.Binding.check(v)
	}
	add("binding", err, p.Binding.Mode.String(), "use: profile new")
	return out, found
}

// ownershipOf looks at the record without taking it.
func ownershipOf(p Profile, o Options) error {
	state := o.StateDir
	if state == "" {
		dir, err := StateDir()
		if err != nil {
			return err
		}
		state = dir
	}
	path, err := ownerFile(state, p.Binding.Process)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	own, err := claimOwner(path, o.Now)
	if err != nil {
		return err
	}
	h := own.past
	if err := own.release(); err != nil {
		return err
	}
	if !h.clean() {
		return errors.New("an earlier session left this client " + h.state())
	}
	return nil
}
