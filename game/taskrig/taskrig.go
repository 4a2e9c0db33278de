// Package taskrig lets tests run real sessions against real labs under a clock of their own: a minute at 1× takes no
// time, and every deadline is exact. Only tests import it.
package taskrig

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"blockworld-voice/game"
	"blockworld-voice/game/behavior"
	"blockworld-voice/game/horizon"
	"blockworld-voice/game/lab"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/procgroup"
)

// Server is the address of the rig's server.
const Server = "lab.test:4000"

// Rig is a companion in a lab with a session on it, and, in a Duo, a person on the same server.
type Rig struct {
	T        testing.TB
	Bot      *lab.Game
	Person   *lab.Game // nil in a Solo
	S        *game.Session
	O        *behavior.Observer
	Keep     *Keeper
	Rec      *Recorder
	Lines    *Lines // that went to the companion's client
	Their    *Lines // that went to the person's
	Profile  game.Profile
	Target   game.Binding
	BotEnd   *lab.Server
	TheirEnd *lab.Server
	their    func(context.Context) (net.Conn, error)
}

// Duo is two clients on one server, with an observer on the person's.
func Duo(t testing.TB, bot, person lab.Options, change func(*game.Profile)) *Rig {
	t.Helper()
	hub := lab.NewLocalHub(Server, 1, false)
	t.Cleanup(hub.Close)
	for _, l := range [...]**lab.Link{&bot.Link, &person.Link} {
		var err error
		if *l, err = hub.Join(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup((*l).Close)
	}
	person.Name = "person"
	r := solo(t, bot, change)
	r.Person = lab.New(person)
	t.Cleanup(r.Person.Close)
	r.TheirEnd, r.their = r.Person.Pipe()
	t.Cleanup(r.TheirEnd.Close)
	r.Target = r.Profile.Binding
	r.Target.Name, r.Target.Process = "person", procgroup.ID{PID: os.Getppid(), StartTicks: 1}
	var err error
	if r.Target.Endpoint, err = horizon.ParseEndpoint(filepath.Join(r.Profile.Workspace, "person.sock"), ""); err != nil {
		t.Fatal(err)
	}
	r.Their = &Lines{}
	if r.O, err = behavior.Observe(t.Context(), r.Profile.Binding, r.Target, Over(r.their, r.Their)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.O.Close() })
	return r
}

// Solo is one client in single player.
func Solo(t testing.TB, bot lab.Options, change func(*game.Profile)) *Rig {
	t.Helper()
	return solo(t, bot, change)
}

func solo(t testing.TB, bot lab.Options, change func(*game.Profile)) *Rig {
	t.Helper()
	r := &Rig{T: t, Keep: &Keeper{}, Rec: &Recorder{}, Lines: &Lines{}}
	r.Bot = lab.New(bot)
	t.Cleanup(r.Bot.Close)
	var dial func(context.Context) (net.Conn, error)
	r.BotEnd, dial = r.Bot.Pipe()
	t.Cleanup(r.BotEnd.Close)
	r.Profile = profile(t, bot.Link != nil)
	if change != nil {
		change(&r.Profile)
	}
	var err error
	if r.S, err = game.Open(t.Context(), r.Profile, game.Options{StateDir: filepath.Join(r.Profile.Workspace, "..", "state"), GameHome: r.Profile.Workspace,
		Dial: Over(dial, r.Lines)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.S.Close() })
	return r
}

// Controller makes one that can wait and, in a Duo, follow; more kinds of work may be given.
func (r *Rig) Controller(span time.Duration, more map[behavior.Kind]func() (behavior.Work, error)) *behavior.Controller {
	works := map[behavior.Kind]func() (behavior.Work, error){
		behavior.Idle: func() (behavior.Work, error) { return behavior.NewIdle(r.S, span), nil },
	}
	if r.O != nil {
		works[behavior.Follow] = func() (behavior.Work, error) { return behavior.NewFollow(r.S, r.O, span), nil }
	}
	for k, f := range more {
		works[k] = f
	}
	c := behavior.New(r.S, behavior.Options{Keeper: r.Keep, Works: works, Ended: r.Keep.ended})
	r.T.Cleanup(func() { _ = c.Close() })
	return c
}

// Walk walks the person to a place by its own client, and returns when it is there.
func (r *Rig) Walk(x, y, z float64) {
	r.T.Helper()
	ctx := r.T.Context()
	c, err := r.their(ctx)
	if err != nil {
		r.T.Error(err)
		return
	}
	h := horizon.Over(c)
	defer h.Close()
	if _, err := h.Ask(ctx, horizon.GoTo{X: horizon.Centi(x * 100), Y: horizon.Centi(y * 100), Z: horizon.Centi(z * 100)}, time.Minute); err != nil {
		r.T.Error(err)
	}
}

// Over dials through a pipe and counts what is sent.
func Over(dial func(context.Context) (net.Conn, error), l *Lines) game.Dialer {
	return func(ctx context.Context) (*horizon.Client, error) {
		c, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		return horizon.Over(&counted{c, l}), nil
	}
}

// Lines are the words of the lines that were sent, in order.
type Lines struct {
	mu    sync.Mutex
	words []string
	on    func(n int, word string)
}

type counted struct {
	net.Conn
	l *Lines
}

func (c *counted) Write(b []byte) (int, error) {
	word, _, _ := strings.Cut(strings.TrimSuffix(string(bytes.TrimRight(b, "\n")), "\n"), " ")
	c.l.mu.Lock()
	c.l.words = append(c.l.words, word)
	n, on := len(c.l.words), c.l.on
	c.l.mu.Unlock()
	if on != nil {
		on(n, word)
	}
	return c.Conn.Write(b)
}

// On calls f right before every line is sent, with its number since the last Reset and its word.
func (l *Lines) On(f func(n int, word string)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.on = f
}

// Reset counts from zero again.
func (l *Lines) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.words = nil
}

// Count counts lines by their words; without words, all of them.
func (l *Lines) Count(words ...string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(words) == 0 {
		return len(l.words)
	}
	n := 0
	for _, w := range l.words {
		for _, want := range words {
			if w == want {
				n++
			}
		}
	}
	return n
}

// Queries counts the questions.
func (l *Lines) Queries() int { return l.Count("state", "status", "block", "inventory") }

func profile(t testing.TB, remote bool) game.Profile {
	t.Helper()
	self, err := procgroup.Self()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ws := filepath.Join(dir, "workspace")
	if err := os.Mkdir(ws, 0o700); err != nil {
		t.Fatal(err)
	}
	e, err := horizon.ParseEndpoint(filepath.Join(dir, "bot.sock"), "")
	if err != nil {
		t.Fatal(err)
	}
	p := game.Profile{
		Binding: game.Binding{Endpoint: e, Process: self, Name: "companion", Dimension: "minecraft:overworld", Mode: game.SinglePlayerLab, World: "Lab World", Timeout: 6 * time.Second},
		Policy: game.Policy{Actions: []game.Action{game.ActGoTo, game.ActLookAt, game.ActSay, game.ActIdle, game.ActFollow, game.ActPlace},
			Min: [3]grammar.Coord{-51200, -6400, -51200}, Max: [3]grammar.Coord{51200, 31900, 51200}, MaxDistance: 64, ActionSeconds: 30, MaxActions: 200,
			Expires: time.Now().Add(time.Hour).UTC().Truncate(time.Second)},
		Workspace: ws, CheckoutRoots: []string{filepath.Join(dir, "checkout")}, Digest: digest.Of([]byte(dir)),
	}
	if remote {
		p.Binding.Mode, p.Binding.Server, p.Binding.World = game.Remote, Server, ""
	}
	return p
}

// Effects is the companion's journal without what merely ends.
func (r *Rig) Effects() []lab.Entry {
	var out []lab.Entry
	for _, e := range r.Bot.Journal() {
		switch e.Effect {
		case lab.EffectWalk, lab.EffectTurn, lab.EffectSay, lab.EffectPlace:
			out = append(out, e)
		}
	}
	return out
}

// Agree holds the journal against the attempts: nothing happened that no attempt announced, no attempt had two
// effects, and what was refused had none.
func (r *Rig) Agree() {
	r.T.Helper()
	left := map[string]int{}
	for _, a := range append(r.Keep.Attempts(), r.Rec.List()...) {
		left[a.LineSHA256.String()]++
	}
	for _, e := range r.Effects() {
		if left[e.Line]--; left[e.Line] < 0 {
			r.T.Errorf("an effect without an attempt, or a second one: %+v", e)
		}
	}
	moved := 0
	for _, b := range r.Keep.All() {
		for _, rec := range b.Records {
			if rec.ModelCalls != 0 {
				r.T.Errorf("a model was called: %+v", rec)
			}
			if rec.Did == behavior.DidMove || rec.Did == behavior.DidPlace {
				moved++
			}
		}
	}
	if n := len(r.Effects()); moved > n {
		r.T.Errorf("%d runs say that something was seen to happen, the journal knows %d", moved, n)
	}
}
