package game

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"blockworld-voice/game/horizon"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/checkout"
	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/procgroup"
)

// NewProfileOptions say for which client a profile is to be written.
type NewProfileOptions struct {
	Endpoint      string // a socket's path or tcp:127.0.0.1:PORT
	TokenFile     string
	Workspace     string   // made when it isn't there; "" is "workspace" in StateDir
	CheckoutRoots []string // empty: those around the current folder, the program and the workspace
	Actions       []Action // empty: goto, look-at and say
	Now           func() time.Time
}

// Limits of a profile that is written for a running client.
const (
	newLife     = time.Hour
	newSide     = 32
	newHeight   = 16
	newSeconds  = 30
	newActions  = 50
	newTimeout  = 6 * time.Second
	worldBottom = -64
	worldTop    = 319
)

// NewProfile asks a running client who it is and writes a profile with a short life and
// narrow bounds around where it stands. It sends only queries, and says of every fact of
// the dialect whether the client confirmed it.
func NewProfile(ctx context.Context, o NewProfileOptions) (Profile, []Finding, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	e, err := horizon.ParseEndpoint(o.Endpoint, o.TokenFile)
	if err != nil {
		return Profile{}, nil, err
	}
	id, err := findOwner(ctx, e)
	if err != nil {
		return Profile{}, nil, err
	}
	p := Profile{Binding: Binding{Endpoint: e, TokenFile: o.TokenFile, Process: id, Mode: SinglePlayerLab, Timeout: newTimeout}, CheckoutRoots: o.CheckoutRoots}
	v, found, err := interview(ctx, p.Binding)
	if err != nil {
		return Profile{}, found, err
	}
	p.Binding.Name, p.Binding.Dimension, p.Binding.World = v.State.Name, v.State.Dimension, v.State.World
	if v.Status.Server != nil {
		p.Binding.Mode, p.Binding.Server = Remote, v.Status.Server.Address
	}
	if err := p.Binding.check(v); err != nil {
		return Profile{}, found, err
	}
	if len(o.Actions) == 0 {
		o.Actions = []Action{ActGoTo, ActLookAt, ActSay}
	}
	p.Policy = Policy{Actions: o.Actions, MaxDistance: newSide, ActionSeconds: newSeconds, MaxActions: newActions, Expires: o.Now().UTC().Add(newLife).Truncate(time.Second)}
	p.Policy.Min, p.Policy.Max = around(v.State.Pos)
	if p.Workspace, err = makeWorkspace(o.Workspace); err != nil {
		return Profile{}, found, err
	}
	if len(p.CheckoutRoots) == 0 {
		p.CheckoutRoots = checkout.Roots(p.Workspace)
	}
	if err := CheckWorkspace(p.Workspace, p.CheckoutRoots); err != nil {
		return Profile{}, found, err
	}
	doc, err := p.Document()
	if err != nil {
		return Profile{}, found, err
	}
	// The document is the profile: what can't be read back isn't written.
	again, err := ParseProfile(doc)
	if err != nil {
		return Profile{}, found, fmt.Errorf("the client's answers don't make a profile: %w", err)
	}
	again.Digest = digest.Of(doc)
	return again, found, nil
}

func findOwner(ctx context.Context, e horizon.Endpoint) (procgroup.ID, error) {
	ctx, cancel := context.WithTimeout(ctx, newTimeout)
	defer cancel()
	c, err := horizon.Dial(ctx, e, procgroup.ID{})
	if err != nil {
		return procgroup.ID{}, err
	}
	defer c.Close()
	return horizon.OwnerOf(c)
}

// around is the box of a new profile, in whole blocks and inside the world's height.
func around(at [3]float64) (low, high [3]grammar.Coord) {
	for i, v := range at {
		side := float64(newSide)
		if i == 1 {
			side = newHeight
		}
		lo, hi := math.Floor(v)-side, math.Floor(v)+side
		if i == 1 {
			lo, hi = math.Max(lo, worldBottom), math.Min(hi, worldTop)
		}
		most := grammar.MaxCoord.Float()
		low[i], high[i] = grammar.Coord(100*math.Max(-most, math.Min(lo, most))), grammar.Coord(100*math.Max(-most, math.Min(hi, most)))
	}
	return low, high
}

func makeWorkspace(dir string) (string, error) {
	if dir == "" {
		state, err := StateDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(state, "workspace")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	return real, nil
}

// Verdict of a running client on a fact of the dialect.
type Verdict uint8

const (
	Unchecked Verdict = iota // it would take an action to find out
	Confirmed
	Contradicted
)

func (v Verdict) String() string {
	switch v {
	case Unchecked:
		return "not checked"
	case Confirmed:
		return "confirmed"
	case Contradicted:
		return "contradicted"
	}
	return "verdict"
}

// Finding is a fact with a client's verdict.
type Finding struct {
	horizon.Fact
	Verdict Verdict
	Detail  string
}

// interview asks every query once and tells what that says about the dialect.
func interview(ctx context.Context, b Binding) (View, []Finding, error) {
	verdicts := map[string]Finding{}
	note := func(name string, err error) {
		f := Finding{Verdict: Confirmed}
		if err != nil {
			f.Verdict, f.Detail = Contradicted, unread(err).detail
		}
		verdicts[name] = f
	}
	var v View
	// A fault closes a connection, so each question has its own; the first one stays open
	// all the while.
	with := func(f func(*horizon.Client) error) error {
		dctx, cancel := context.WithTimeout(ctx, b.Timeout)
		defer cancel()
		c, err := horizon.Dial(dctx, b.Endpoint, b.Process)
		if err != nil {
			return err
		}
		defer c.Close()
		return f(c)
	}
	stateErr := errors.New("not asked")
	err := with(func(c *horizon.Client) error {
		_, err := c.Hello(ctx, b.Timeout)
		note("hello-keys", err)
		stateErr = with(func(c *horizon.Client) (err error) {
			v.State, err = c.State(ctx, b.Timeout)
			return err
		})
		note("state-keys", stateErr)
		note("many-connections", stateErr)
		return nil
	})
	if err != nil {
		return v, nil, unread(err)
	}
	statusErr := with(func(c *horizon.Client) (err error) {
		v.Status, err = c.Status(ctx, b.Timeout)
		return err
	})
	note("status-keys", statusErr)
	note("inventory-keys", with(func(c *horizon.Client) error {
		_, err := c.Inventory(ctx, b.Timeout)
		return err
	}))
	note("events-keys", with(func(c *horizon.Client) error {
		_, err := c.Events(ctx, 0, b.Timeout)
		return err
	}))
	if stateErr == nil {
		at := v.State.Pos
		note("block-word", with(func(c *horizon.Client) error {
			_, err := c.Block(ctx, horizon.Block{X: int32(math.Floor(at[0])), Y: int32(math.Floor(at[1])), Z: int32(math.Floor(at[2]))}, b.Timeout)
			return err
		}))
	}
	for _, name := range [...]string{"line-protocol", "no-greeting", "no-request-ids"} {
		note(name, errors.Join(stateErr, statusErr))
	}
	if b.TokenFile != "" {
		note("tcp-token-line", errors.Join(stateErr, statusErr))
	}
	var out []Finding
	for _, f := range horizon.Dialect() {
		n := verdicts[f.Name]
		n.Fact = f
		out = append(out, n)
	}
	if err := errors.Join(stateErr, statusErr); err != nil {
		return v, out, unread(err)
	}
	return v, out, nil
}
