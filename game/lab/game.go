// Package lab is a small real game behind the control socket: a world, a body that walks
// in it, a tick loop, and a journal of everything that physically happened. Its faults are inputs.
package lab

import (
	"io"
	"math"
	"sync"
	"time"
)

// Options describe one lab client. The zero value is a single-player game that runs in
// real time without a socket.
type Options struct {
	Seed     uint64
	Hills    bool
	Name     string // the player's; "" is "companion"
	World    string // the label; "" is "Lab World" in single player and stays empty in remote mode
	Creative bool
	Planks   int     // how many planks lie in the first slot of the hotbar
	Manual   bool    // time moves only by Step
	Speed    float64 // 0 is 1
	Chunks   int     // how many are loaded in each direction from the player; 0 is 10
	Home     string  // game home: its horizon-extras.txt may say noAi:true
	Journal  io.Writer
	Lines    io.Writer // every action line as it came, and every good answer to one: for tests
	Faults   []Fault
	Link     *Link  // the server that this client has joined, nil in single player
	Private  string // a text that every reply carries in fields that must never leave a projection
	OnKill   func() // what the fault "killed" does
	OnSwap   func() // what the fault "replaced" does
}

// Game is one running client. Its methods may be called from any goroutine.
type Game struct {
	opt Options

	mu      sync.Mutex
	world   *world
	me      body
	bag     bag
	tick    int64
	act     *action
	journal journal
	events  ring
	input   inputs
	waits   []*waiter
	faults  faults
	dim     string
	label   string
	dead    bool
	screen  string

	stop chan struct{}
	done sync.WaitGroup
	once sync.Once
}

// action is the one deferred action that runs.
type action struct {
	kind    string
	line    string // digest
	began   int64
	until   int64 // tick at which it times out
	path    []cell
	target  vec
	block   cell
	moved   bool
	stuck   int
	last    vec
	noMove  bool // fault: report ok and do nothing
	answer  chan string
	stopped bool
}

// New makes a game and starts its clock unless time is manual.
func New(o Options) *Game {
	if o.Name == "" {
		o.Name = "companion"
	}
	if o.World == "" && o.Link == nil {
		o.World = "Lab World"
	}
	if o.Chunks <= 0 {
		o.Chunks = loadedChunks
	}
	if o.Speed <= 0 {
		o.Speed = 1
	}
	g := &Game{opt: o, world: newWorld(o.Seed, !o.Hills), dim: "minecraft:overworld", label: o.World, screen: "playing", stop: make(chan struct{})}
	g.journal.w = o.Journal
	g.faults = newFaults(o.Faults)
	g.bag = newBag(o.Planks)
	g.spawn()
	if o.Link != nil {
		o.Link.attach(g)
	}
	if !o.Manual {
		g.done.Add(1)
		go g.run()
	}
	return g
}

func (g *Game) spawn() {
	h := g.world.height(0, 0)
	g.me = body{pos: vec{0.5, float64(h + 1), 0.5}, health: maxHealth, onGround: true}
	g.me.fallFrom = g.me.pos.y
}

// Close stops the clock. Actions that still wait get no answer.
func (g *Game) Close() {
	g.once.Do(func() { close(g.stop) })
	g.done.Wait()
}

// Step moves time by n ticks.
func (g *Game) Step(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for range n {
		g.advance()
	}
}

// Journal returns what happened so far.
func (g *Game) Journal() []Entry {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]Entry(nil), g.journal.entries...)
}

// Tick is the number of ticks since the start.
func (g *Game) Tick() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tick
}

// maxCatchUp bounds how many ticks are made up for after a stall, in ticks.
const maxCatchUp = 2000

// run keeps the pace: as many ticks as the time since the last look calls for.
func (g *Game) run() {
	defer g.done.Done()
	per := float64(time.Second) / 20 / g.opt.Speed
	t := time.NewTicker(time.Duration(math.Max(per, float64(time.Millisecond))))
	defer t.Stop()
	began, made := time.Now(), int64(0)
	for {
		select {
		case <-g.stop:
			return
		case <-t.C:
		}
		due := int64(float64(time.Since(began)) / per)
		if due-made > maxCatchUp {
			made = due - maxCatchUp
		}
		g.mu.Lock()
		for ; made < due; made++ {
			g.advance()
		}
		g.mu.Unlock()
	}
}

// advance is one tick. g.mu is held.
func (g *Game) advance() {
	g.tick++
	want, jump := vec{}, false
	if g.act != nil && !g.dead {
		want, jump = g.drive()
	}
	if !g.dead {
		before := g.me.pos
		if d := g.me.step(g.world, want, jump); d > 0 {
			g.hurt(d)
		}
		if a := g.act; a != nil && a.kind == "goto" && !a.moved && g.me.pos != before {
			a.moved = true
			g.note(EffectWalk, a.line, g.tick-a.began, "")
		}
	}
	g.wake()
}

// note writes the journal. g.mu is held.
func (g *Game) note(e Effect, line string, after int64, text string) {
	g.journal.add(Entry{Effect: e, Line: line, After: after, Pos: g.me.pos.array(), Note: text})
}

// drive lets the running action act in this tick and ends it when its time has come.
func (g *Game) drive() (want vec, jump bool) {
	a := g.act
	switch a.kind {
	case "place":
		g.drivePlace(a)
		return vec{}, false
	}
	if a.noMove {
		g.finish(`{"ok":true,"pos":` + posText(g.me.pos) + `}`)
		return vec{}, false
	}
	if g.me.pos.sub(a.target).len() <= stopRadius || len(a.path) == 0 {
		g.finish(`{"ok":true,"pos":` + posText(g.me.pos) + `}`)
		return vec{}, false
	}
	if g.tick >= a.until {
		g.finish(errorReply("timeout", "the walk took longer than its timeout"))
		return vec{}, false
	}
	next := a.path[0].standing()
	d := vec{next.x - g.me.pos.x, 0, next.z - g.me.pos.z}
	if d.len() < 0.12 && math.Abs(next.y-g.me.pos.y) < 0.6 {
		a.path = a.path[1:]
		return g.drive()
	}
	if g.me.pos == a.last {
		a.stuck++
	} else {
		a.stuck = 0
	}
	a.last = g.me.pos
	if a.stuck > 40 {
		g.finish(errorReply("state", "the way is blocked; try another target"))
		return vec{}, false
	}
	n := math.Min(walkSpeed, d.len())
	if l := d.len(); l > 1e-9 {
		d = vec{d.x / l * n, 0, d.z / l * n}
	}
	return d, next.y > g.me.pos.y+0.4
}

// finish ends the running action with an answer. g.mu is held.
func (g *Game) finish(answer string) {
	a := g.act
	g.act = nil
	if a.kind == "goto" && a.moved {
		g.note(EffectWalkEnd, a.line, g.tick-a.began, "")
	}
	a.answer <- answer // has room for one
}

// hurt takes health away and kills at zero.
func (g *Game) hurt(d float64) {
	g.me.health = math.Max(0, g.me.health-d)
	if g.me.health > 0 || g.dead {
		return
	}
	g.dead = true
	g.screen = "death"
	g.note(EffectDeath, "", 0, "")
	g.events.add("death", "")
	if g.act != nil {
		g.finish(errorReply("state", "the player died; use: respawn"))
	}
}

// Hurt takes health away, as a fall or a monster would.
func (g *Game) Hurt(d float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hurt(d)
}

// Travel puts the player into another dimension, as a portal would.
func (g *Game) Travel(dimension string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.travel(dimension)
}

func (g *Game) travel(dimension string) {
	g.dim = dimension
	g.events.add("dimension", dimension)
}

// Rename gives the world another label, as opening another world would.
func (g *Game) Rename(label string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.label = label
	g.events.add("world", label)
}

// UserInput is a person's key press on this client.
func (g *Game) UserInput() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.userInput()
}

func (g *Game) userInput() {
	g.input.add(g.tick, "user", "key")
	g.events.add("user-input", "")
}

// Teleport moves the player, as a command of the server would.
func (g *Game) Teleport(x, y, z float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.me.pos, g.me.vel, g.me.fallFrom, g.me.onGround = vec{x, y, z}, vec{}, y, false
}

// SetBlock changes a cell, as another player would.
func (g *Game) SetBlock(x, y, z int, block string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.world.set(cell{x, y, z}, block)
	g.note(EffectBlock, "", 0, block)
}

// Pos is where the player stands.
func (g *Game) Pos() [3]float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.me.pos.array()
}
