package build_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"blockworld-voice/game"
	"blockworld-voice/game/behavior"
	"blockworld-voice/game/build"
	"blockworld-voice/grammar"
)

// drive is what a driver is told: one program that opens a session, gives orders and may be killed at a point.
type drive struct {
	Dir, Target, State, Log string
	Seed                    uint64
	Count                   int
	Kill                    game.Point
	KillNth                 int
	Plan                    *build.Plan // of an earlier program: it must not be built again
}

type keptOutcome struct {
	Run  game.RunID       `json:"run"`
	Kind game.OutcomeKind `json:"kind"`
	Did  behavior.Did     `json:"did,omitempty"`
}

type keptSession struct {
	Opened    bool         `json:"opened"`
	Recovered []game.RunID `json:"recovered,omitempty"`
}

// disk is a keeper and a recorder on disk.
type disk struct {
	dir string
	mu  sync.Mutex
	run game.RunID // of the last attempt
}

func (d *disk) put(name string, v any, sync bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := os.OpenFile(filepath.Join(d.dir, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil || !sync {
		return err
	}
	return f.Sync()
}

func (d *disk) Attempt(a game.Attempt) error {
	d.mu.Lock()
	d.run = a.Run
	d.mu.Unlock()
	return d.put("attempts.jsonl", a, true)
}

func (d *disk) Event(game.Event) error                      { return nil }
func (d *disk) Begin(behavior.Start) (behavior.Book, error) { return d, nil }
func (d *disk) Name() string                                { return "t000001" }
func (d *disk) Recorder(int) game.Recorder                  { return d }
func (d *disk) End(behavior.End) error                      { return nil }
func (d *disk) Close(r behavior.Record, _ game.OutcomeRecord) error {
	return d.put("outcomes.jsonl", keptOutcome{r.Run, r.Outcome, r.Did}, false)
}

// The binding's timeout of programs that build is the least that is allowed; the others wait for less.
const (
	quickTimeout = 400 * time.Millisecond
	ledgerSpeed  = 60
)

func runDriver(config string) int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	var d drive
	if err := json.Unmarshal([]byte(config), &d); err != nil {
		return fail(err)
	}
	p, err := game.ReadProfile(filepath.Join(d.Dir, "profile.json"))
	if err != nil {
		return fail(err)
	}
	target, err := game.ReadProfile(filepath.Join(d.Target, "profile.json"))
	if err != nil {
		return fail(err)
	}
	rng := rand.New(rand.NewPCG(d.Seed, 77))
	builds := rng.IntN(3) == 0
	if !builds {
		p.Binding.Timeout = quickTimeout
	}
	target.Binding.Timeout = quickTimeout
	p.Policy.ActionSeconds, p.Policy.MaxActions = 2, 1000
	k := &disk{dir: d.Log}
	var mu sync.Mutex
	left := d.KillNth
	at := func(pt game.Point) {
		mu.Lock()
		defer mu.Unlock()
		if pt == d.Kill {
			if left--; left <= 0 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
	}
	s, err := game.Open(context.Background(), p, game.Options{StateDir: d.State, GameHome: d.Dir, At: at})
	var o *game.OpenError
	if errors.As(err, &o) {
		var kept keptSession
		for _, r := range o.Recovered {
			kept.Recovered = append(kept.Recovered, r.Run)
		}
		if err := k.put("sessions.jsonl", kept, false); err != nil {
			return fail(err)
		}
		return 0
	}
	if err != nil {
		return fail(err)
	}
	kept := keptSession{Opened: true}
	for _, r := range s.Recovered() {
		kept.Recovered = append(kept.Recovered, r.Run)
	}
	if err := k.put("sessions.jsonl", kept, false); err != nil {
		return fail(err)
	}
	works := map[behavior.Kind]func() (behavior.Work, error){
		behavior.Idle: func() (behavior.Work, error) { return behavior.NewIdle(s, 3*time.Second), nil },
		behavior.Build: func() (behavior.Work, error) {
			plan, err := planHere(s, p, rng, d.Plan)
			if err != nil {
				return nil, err
			}
			return build.New(s, plan, func() error {
				if err := build.Claim(d.Dir, plan.Digest, time.Now()); err != nil {
					return err
				}
				return k.put("accepted.jsonl", plan, true)
			}, nil), nil
		},
	}
	if ob, err := behavior.Observe(context.Background(), p.Binding, target.Binding, nil); err == nil {
		defer ob.Close()
		works[behavior.Follow] = func() (behavior.Work, error) { return behavior.NewFollow(s, ob, 3*time.Second), nil }
	}
	c := behavior.New(s, behavior.Options{Keeper: k, Works: works, Directives: behavior.MostOrders})
	for i := range d.Count {
		if !order(s, c, k, rng, i, builds) {
			break
		}
	}
	if err := errors.Join(c.Close(), s.Close()); err != nil {
		return fail(err)
	}
	return 0
}

// planHere is a plan of one or three cells beside the companion, or the one of an earlier program.
func planHere(s *game.Session, p game.Profile, rng *rand.Rand, earlier *build.Plan) (build.Plan, error) {
	if earlier != nil && rng.IntN(3) == 0 {
		return *earlier, nil
	}
	v, err := s.View(context.Background())
	if err != nil {
		return build.Plan{}, err
	}
	x, y, z := int32(math.Floor(v.State.Pos[0])), int32(math.Floor(v.State.Pos[1]+0.01)), int32(math.Floor(v.State.Pos[2]))
	plan := build.Plan{Plot: "ledger", Session: build.SessionOf(p), Mode: build.Survival, World: p.Binding.World, Dimension: p.Binding.Dimension, Server: p.Binding.Server,
		Cells: [][3]int32{{x + 2, y, z}}, Expires: time.Now().UTC().Add(50 * time.Second).Truncate(time.Second)}
	if rng.IntN(2) == 0 {
		plan.Cells = append(plan.Cells, [3]int32{x - 2, y, z}, [3]int32{x, y, z + 2})
	}
	doc, err := plan.Document()
	if err != nil {
		return plan, err
	}
	return build.Parse(doc)
}

// order gives one order, sometimes interrupted, and says whether the session can go on.
func order(s *game.Session, c *behavior.Controller, k *disk, rng *rand.Rand, n int, builds bool) bool {
	ctx := context.Background()
	var cmd grammar.Command
	task := true
	switch i := rng.IntN(12); {
	case i < 5:
		cmd = grammar.Follow{}
	case i < 8 && builds:
		cmd = grammar.Build{}
	case i < 9:
		cmd = grammar.Idle{}
	case i < 10:
		cmd, task = grammar.Say{Text: fmt.Sprintf("povedz %d %d", os.Getpid(), n)}, false
	default:
		cmd, task = grammar.GoTo{X: grammar.Coord(rng.IntN(2400) - 1200), Y: 6400, Z: grammar.Coord(rng.IntN(2400) - 1200)}, false
	}
	k.mu.Lock()
	k.run = ""
	k.mu.Unlock()
	out := c.Do(ctx, cmd, k)
	if !task {
		k.mu.Lock()
		run := k.run
		k.mu.Unlock()
		if run != "" && k.put("outcomes.jsonl", keptOutcome{Run: run, Kind: out.Kind()}, false) != nil {
			return false
		}
	}
	if task && out.Kind() == game.KindReported {
		time.Sleep(time.Duration(rng.IntN(60_000)) * time.Microsecond)
		switch rng.IntN(6) {
		case 0, 1: // let it get on, or end
			short, cancel := context.WithTimeout(ctx, time.Duration(rng.IntN(1500))*time.Millisecond)
			_ = c.Wait(short)
			cancel()
		case 2:
			if release, _, err := c.Capture(ctx); err == nil {
				release()
			}
		case 3:
			if rng.IntN(3) == 0 {
				c.Do(ctx, grammar.Stop{}, nil)
			}
		}
	}
	ok, _ := s.Armed()
	return ok
}
