package behavior

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"blockworld-voice/game"
	"blockworld-voice/game/horizon"
	"blockworld-voice/grammar"
)

// client is a companion whose every answer takes a time that the test sets, to the millisecond.
type client struct {
	mu     sync.Mutex
	pos    [3]float64
	health float64
	view   time.Duration   // a look takes
	post   time.Duration   // a look after an action takes; 0 is view
	before time.Duration   // from Act to the guard
	action time.Duration   // from the guard to the answer
	step   float64         // how far an action moves toward its target
	lost   bool            // actions end unknown
	deny   game.Action     // not permitted
	began  []time.Time     // of the looks that begin a run
	sent   []time.Time     // when bytes went
	ended  []time.Duration // how long actions took when they were cancelled
	acted  bool
	causes []error
}

func (c *client) Profile() game.Profile {
	far := grammar.Blocks(512)
	return game.Profile{Binding: pairOf("a"), Policy: game.Policy{Min: [3]grammar.Coord{-far, -far, -far}, Max: [3]grammar.Coord{far, far, far}, MaxDistance: 64}}
}

func pairOf(name string) game.Binding {
	e, err := horizon.ParseEndpoint("/"+name, "")
	if err != nil {
		panic(err)
	}
	b := game.Binding{Endpoint: e, Name: name, Mode: game.Remote, Server: "h:1", Dimension: "minecraft:overworld", Timeout: 6 * time.Second}
	b.Process.PID = int(name[0])
	return b
}

func (c *client) Permitted(a game.Action) error {
	if a == c.deny {
		return game.Refusal(game.NotPermitted, "no %s", a)
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *client) View(ctx context.Context) (game.View, error) {
	c.mu.Lock()
	d := c.view
	if c.acted && c.post > 0 {
		d = c.post
	}
	if !c.acted {
		c.began = append(c.began, time.Now())
	}
	c.acted = false
	c.mu.Unlock()
	if err := wait(ctx, d); err != nil {
		return game.View{}, game.Refusal(game.NotBound, "%s", err)
	}
	return c.now(), nil
}

func (c *client) now() game.View {
	c.mu.Lock()
	defer c.mu.Unlock()
	return game.View{State: horizon.PlayerState{Pos: c.pos, Health: c.health, Name: "a"}}
}

func (c *client) Ready(v game.View) error {
	if v.State.Health <= 0 {
		return game.Refusal(game.NotBound, "dead")
	}
	return nil
}

func (c *client) Queries() game.Queries { return game.Queries{} }

func (c *client) Act(ctx context.Context, o game.Order, rec game.Recorder) game.Outcome {
	if err := wait(ctx, c.before); err != nil {
		return game.Refused{Reason: game.Disarmed, Detail: "cancelled before anything was sent"}
	}
	if err := o.Check(c.now()); err != nil {
		return game.AsRefused(err)
	}
	if err := rec.Attempt(game.Attempt{Run: game.NewRun()}); err != nil {
		return game.Refused{Reason: game.Disarmed, Detail: "no record"}
	}
	from := time.Now()
	c.mu.Lock()
	c.sent = append(c.sent, from)
	c.mu.Unlock()
	err := wait(ctx, c.action)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acted = true
	if err != nil {
		c.ended, c.causes = append(c.ended, time.Since(from)), append(c.causes, context.Cause(ctx))
		if c.lost {
			return game.Unknown{Detail: "lost"}
		}
		return game.Cancelled{Detail: "stopped"}
	}
	if c.lost {
		return game.Unknown{Detail: "lost"}
	}
	c.pos[0] += c.step
	return game.Reported{Detail: "ok"}
}

func (c *client) times() (began, sent []time.Time, ended []time.Duration, causes []error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]time.Time(nil), c.began...), append([]time.Time(nil), c.sent...), append([]time.Duration(nil), c.ended...), append([]error(nil), c.causes...)
}

// person is a target's client with a clock of its own.
type person struct {
	mu     sync.Mutex
	pos    [3]float64
	health float64
	state  time.Duration
	status time.Duration
	asked  int
	closed bool
	name   string
	err    error

	dim     string
	server  string
	loading bool
}

func (p *person) State(ctx context.Context, limit time.Duration) (horizon.PlayerState, error) {
	p.mu.Lock()
	p.asked++
	d, err := p.state, p.err
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if e := wait(ctx, d); e != nil {
		return horizon.PlayerState{}, e
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return horizon.PlayerState{Name: p.name, Pos: p.pos, Health: p.health, Dimension: p.dim, Loaded: !p.loading, Joined: true}, err
}

func (p *person) Status(ctx context.Context, limit time.Duration) (horizon.ClientStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := wait(ctx, p.status); err != nil {
		return horizon.ClientStatus{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	st := horizon.ClientStatus{Dimension: p.dim}
	if p.server != "" {
		st.Server = &horizon.Server{Address: p.server, Joined: true, Loaded: true}
	}
	return st, nil
}

func (p *person) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return nil
}

func watched(pos [3]float64) (*person, *Observer) {
	p := &person{pos: pos, health: 20, name: "b", dim: "minecraft:overworld", server: "h:1"}
	return p, newObserver(p, pairOf("b"))
}

// session is a companion for a controller that does no single actions but the one of the test.
type session struct {
	do func(context.Context, grammar.Command) game.Outcome
}

func (s session) Limits() game.Limits { return game.Limits{} }
func (s session) Do(ctx context.Context, c grammar.Command, _ game.Recorder) game.Outcome {
	if s.do == nil {
		return game.Reported{Detail: "done"}
	}
	return s.do(ctx, c)
}
func (s session) Stop(context.Context) game.Outcome { return game.Cancelled{Detail: "stopped"} }

// notes keeps tasks in memory.
type notes struct {
	mu      sync.Mutex
	records []Record
	ends    []End
	slow    time.Duration // a record takes
	start   Start
}

func (n *notes) Begin(s Start) (Book, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.start = s
	return n, nil
}

func (n *notes) Name() string               { return "t000001" }
func (n *notes) Recorder(int) game.Recorder { return n }
func (n *notes) Attempt(game.Attempt) error { return nil }
func (n *notes) Event(game.Event) error     { return nil }
func (n *notes) Close(r Record, _ game.OutcomeRecord) error {
	time.Sleep(n.slow)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.records = append(n.records, r)
	return nil
}
func (n *notes) End(e End) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ends = append(n.ends, e)
	return nil
}

func (n *notes) last(t *testing.T) (Record, End) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.records) == 0 || len(n.ends) == 0 {
		t.Fatalf("%d records, %d ends", len(n.records), len(n.ends))
	}
	return n.records[len(n.records)-1], n.ends[len(n.ends)-1]
}

// only makes a controller that can do one work.
func only(t *testing.T, k Kind, w Work) (*notes, *Controller) {
	t.Helper()
	n := &notes{}
	c := New(session{}, Options{Keeper: n, Works: map[Kind]func() (Work, error){k: func() (Work, error) { return w, nil }}})
	t.Cleanup(func() { _ = c.Close() })
	return n, c
}

var errTest = errors.New("test")
