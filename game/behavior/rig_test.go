package behavior_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"blockworld-voice/game"
	"blockworld-voice/game/behavior"
	"blockworld-voice/game/horizon"
	"blockworld-voice/game/lab"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/procgroup"
)

// The test program is also the lab that tests start as a child.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "lab" {
		os.Exit(lab.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

// duo is two lab clients on one server, at 1× under the clock of a bubble: a whole minute takes no time.
type duo struct {
	t      *testing.T
	bot    *lab.Game
	person *lab.Game
	s      *game.Session
	o      *behavior.Observer
	ctl    *behavior.Controller
	keep   *keeper
	target game.Dialer
	rec    *recorder
}

const server = "lab.test:4000"

// remote is a lab's link that needs no network: the lab only wants to know that it is up, and where.
func newDuo(t *testing.T, bot, person lab.Options, change func(*game.Profile)) *duo {
	t.Helper()
	hub := lab.NewLocalHub(server, 1, false)
	t.Cleanup(hub.Close)
	for _, l := range [...]**lab.Link{&bot.Link, &person.Link} {
		var err error
		if *l, err = hub.Join(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup((*l).Close)
	}
	person.Name = "person"
	d := &duo{t: t, bot: lab.New(bot), person: lab.New(person), keep: &keeper{}, rec: &recorder{}}
	t.Cleanup(d.bot.Close)
	t.Cleanup(d.person.Close)
	bs, bdial := d.bot.Pipe()
	ps, pdial := d.person.Pipe()
	t.Cleanup(bs.Close)
	t.Cleanup(ps.Close)
	p, target := profiles(t)
	if change != nil {
		change(&p)
	}
	d.target = over(pdial)
	var err error
	if d.s, err = game.Open(t.Context(), p, game.Options{StateDir: filepath.Join(p.Workspace, "..", "state"), GameHome: p.Workspace, Dial: over(bdial)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.s.Close() })
	if d.o, err = behavior.Observe(t.Context(), p.Binding, target, d.target); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.o.Close() })
	d.ctl = d.controller(30 * time.Second)
	return d
}

func (d *duo) controller(span time.Duration) *behavior.Controller {
	c := behavior.New(d.s, behavior.Options{Keeper: d.keep, Ended: d.keep.ended, Works: map[behavior.Kind]func() (behavior.Work, error){
		behavior.Idle:   func() (behavior.Work, error) { return behavior.NewIdle(d.s, span), nil },
		behavior.Follow: func() (behavior.Work, error) { return behavior.NewFollow(d.s, d.o, span), nil },
	}})
	d.t.Cleanup(func() { _ = c.Close() })
	return c
}

func over(dial func(context.Context) (net.Conn, error)) game.Dialer {
	return func(ctx context.Context) (*horizon.Client, error) {
		c, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		return horizon.Over(c), nil
	}
}

func profiles(t *testing.T) (game.Profile, game.Binding) {
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
	e2, err := horizon.ParseEndpoint(filepath.Join(dir, "person.sock"), "")
	if err != nil {
		t.Fatal(err)
	}
	p := game.Profile{
		Binding: game.Binding{Endpoint: e, Process: self, Name: "companion", Dimension: "minecraft:overworld", Mode: game.Remote, Server: server, Timeout: 6 * time.Second},
		Policy: game.Policy{Actions: []game.Action{game.ActGoTo, game.ActLookAt, game.ActSay, game.ActIdle, game.ActFollow, game.ActPlace},
			Min: [3]grammar.Coord{-51200, -6400, -51200}, Max: [3]grammar.Coord{51200, 31900, 51200}, MaxDistance: 64, ActionSeconds: 30, MaxActions: 200,
			Expires: time.Now().Add(time.Hour).UTC().Truncate(time.Second)},
		Workspace: ws, CheckoutRoots: []string{filepath.Join(dir, "checkout")},
	}
	target := p.Binding
	target.Endpoint, target.Name, target.Process = e2, "person", procgroup.ID{PID: os.Getppid(), StartTicks: 1}
	return p, target
}

// keeper keeps tasks in memory.
type keeper struct {
	mu      sync.Mutex
	books   []*book
	ends    []behavior.End
	fail    error // of the next Begin
	failRun error // of every Close
}

type book struct {
	k        *keeper
	start    behavior.Start
	records  []behavior.Record
	outcomes []game.OutcomeRecord
	end      *behavior.End
	recorder
}

func (k *keeper) Begin(s behavior.Start) (behavior.Book, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail != nil {
		return nil, k.fail
	}
	b := &book{k: k, start: s}
	k.books = append(k.books, b)
	return b, nil
}

func (k *keeper) ended(e behavior.End) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ends = append(k.ends, e)
}

// last is the newest task, without a race.
func (k *keeper) last() ([]behavior.Record, *behavior.End) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.books) == 0 {
		return nil, nil
	}
	b := k.books[len(k.books)-1]
	return append([]behavior.Record(nil), b.records...), b.end
}

func (k *keeper) attempts() []game.Attempt {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []game.Attempt
	for _, b := range k.books {
		out = append(out, b.recorder.list()...)
	}
	return out
}

func (b *book) Name() string               { return "t000001" }
func (b *book) Recorder(int) game.Recorder { return &b.recorder }

func (b *book) Close(r behavior.Record, o game.OutcomeRecord) error {
	b.k.mu.Lock()
	defer b.k.mu.Unlock()
	if b.k.failRun != nil {
		return b.k.failRun
	}
	b.records, b.outcomes = append(b.records, r), append(b.outcomes, o)
	return nil
}

func (b *book) End(e behavior.End) error {
	b.k.mu.Lock()
	defer b.k.mu.Unlock()
	b.end = &e
	return nil
}

// recorder keeps attempts in memory.
type recorder struct {
	mu       sync.Mutex
	attempts []game.Attempt
	fail     error
}

func (r *recorder) Attempt(a game.Attempt) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		return r.fail
	}
	r.attempts = append(r.attempts, a)
	return nil
}

func (r *recorder) Event(game.Event) error { return nil }

func (r *recorder) list() []game.Attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]game.Attempt(nil), r.attempts...)
}

// bubble runs a test under a clock of its own.
func bubble(t *testing.T, f func(*testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// dids is what the runs of a task came to.
func dids(rs []behavior.Record) []behavior.Did {
	var out []behavior.Did
	for _, r := range rs {
		out = append(out, r.Did)
	}
	return out
}
