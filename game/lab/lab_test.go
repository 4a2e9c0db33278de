package lab_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"go.uber.org/goleak"

	"blockworld-voice/game/horizon"
	"blockworld-voice/game/lab"
	"blockworld-voice/internal/procgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const wait = 10 * time.Second

// open starts a game with a socket and connects to it.
func open(t *testing.T, o lab.Options) (*lab.Game, *lab.Server, *horizon.Client) {
	t.Helper()
	g := lab.New(o)
	t.Cleanup(g.Close)
	s, err := g.ListenUnix(filepath.Join(t.TempDir(), "c.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return g, s, dial(t, s)
}

func dial(t *testing.T, s *lab.Server) *horizon.Client {
	t.Helper()
	e, err := horizon.ParseEndpoint(s.Endpoint(), "")
	if err != nil {
		t.Fatal(err)
	}
	self, err := procgroup.Self()
	if err != nil {
		t.Fatal(err)
	}
	c, err := horizon.Dial(t.Context(), e, self)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func state(t *testing.T, c *horizon.Client) horizon.PlayerState {
	t.Helper()
	s, err := c.State(t.Context(), wait)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// walk sends a goto and steps time by hand until it is answered.
func walk(t *testing.T, g *lab.Game, c *horizon.Client, r horizon.Request) error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := c.Ask(t.Context(), r, wait)
		done <- err
	}()
	for range 1_000_000 {
		select {
		case err := <-done:
			return err
		default:
			g.Step(1)
		}
	}
	t.Fatal("no answer")
	return nil
}

func to(x, y, z int, s time.Duration) horizon.GoTo {
	return horizon.GoTo{X: horizon.Centi(x * 100), Y: horizon.Centi(y * 100), Z: horizon.Centi(z * 100), Timeout: s}
}

func TestQueries(t *testing.T) {
	_, _, c := open(t, lab.Options{Manual: true, Planks: 5})
	h, err := c.Hello(t.Context(), wait)
	if err != nil || h.Game != "horizon" || len(h.Protocol) == 0 {
		t.Fatalf("%+v %v", h, err)
	}
	s := state(t, c)
	if s.World != "Lab World" || s.Name != "companion" || s.Pos != [3]float64{0.5, 64, 0.5} || s.Health != 20 || s.Action != "" || s.Held == nil || s.Held.Count != 5 {
		t.Fatalf("%+v", s)
	}
	st, err := c.Status(t.Context(), wait)
	if err != nil || st.Server != nil || st.Renderer == nil || st.Screen != "playing" {
		t.Fatalf("%+v %v", st, err)
	}
	b, err := c.Inventory(t.Context(), wait)
	if err != nil || len(b.Slots) != 1 || b.Slots[0].Item != "minecraft:oak_planks" || b.Offhand != nil || b.Carried != nil {
		t.Fatalf("%+v %v", b, err)
	}
	cell, err := c.Block(t.Context(), horizon.Block{X: 0, Y: 62, Z: 0}, wait)
	if err != nil || !cell.Loaded || cell.Block != "minecraft:stone" {
		t.Fatalf("%+v %v", cell, err)
	}
	if cell, err = c.Block(t.Context(), horizon.Block{X: 5000, Y: 62, Z: 0}, wait); err != nil || cell.Loaded || cell.Block != "" {
		t.Fatalf("%+v %v", cell, err)
	}
}

func TestGoToStopsWithinTheRadius(t *testing.T) {
	g, _, c := open(t, lab.Options{Manual: true})
	if err := walk(t, g, c, to(10, 64, -5, 30*time.Second)); err != nil {
		t.Fatal(err)
	}
	if d := horizon.Distance(state(t, c).Pos, [3]float64{10, 64, -5}); d > 1.5 || d < 0.5 {
		t.Fatalf("stopped %.2f blocks away", d)
	}
	j := g.Journal()
	if len(j) != 2 || j[0].Effect != lab.EffectWalk || j[1].Effect != lab.EffectWalkEnd || j[0].After != 1 {
		t.Fatalf("%+v", j)
	}
	// 11.2 blocks at walking speed are 45 to 60 ticks along a grid.
	if j[1].After < 45 || j[1].After > 80 {
		t.Fatalf("the walk took %d ticks", j[1].After)
	}
}

func TestGoToEndsByItsTimeoutAndWithoutPath(t *testing.T) {
	g, _, c := open(t, lab.Options{Manual: true})
	var bad *horizon.ReplyError
	if err := walk(t, g, c, to(60, 64, 0, time.Second)); !errors.As(err, &bad) || bad.Kind != horizon.KindTimeout {
		t.Fatal(err)
	}
	if err := walk(t, g, c, to(0, 120, 0, time.Second)); !errors.As(err, &bad) || bad.Kind != horizon.KindState {
		t.Fatal(err)
	}
	// Already there: ok without any displacement.
	p := state(t, c).Pos
	before := len(g.Journal())
	if err := walk(t, g, c, to(int(p[0])+1, 64, 0, time.Second)); err != nil || len(g.Journal()) != before {
		t.Fatal(err, g.Journal())
	}
}

func TestWalkOverHillsKeepsFeetOnTheGround(t *testing.T) {
	for seed := range uint64(8) {
		g, _, c := open(t, lab.Options{Manual: true, Hills: true, Seed: seed})
		x, z := 60, -55
		y := 64
		for ; y < 75; y++ {
			cell, err := c.Block(t.Context(), horizon.Block{X: int32(x), Y: int32(y), Z: int32(z)}, wait)
			if err != nil {
				t.Fatal(err)
			}
			if cell.Block == "minecraft:air" {
				break
			}
		}
		if err := walk(t, g, c, to(x, y, z, 120*time.Second)); err != nil {
			t.Fatalf("seed %d: %v at %v", seed, err, g.Pos())
		}
		g.Step(40)
		s := state(t, c)
		if s.Health != 20 || s.Pos[1] != math.Trunc(s.Pos[1]) {
			t.Fatalf("seed %d: %+v", seed, s)
		}
	}
}

func TestStopFromASecondConnection(t *testing.T) {
	g, s, c := open(t, lab.Options{Manual: true})
	done := make(chan error, 1)
	go func() {
		_, err := c.Ask(t.Context(), to(50, 64, 0, 60*time.Second), wait)
		done <- err
	}()
	other := dial(t, s)
	for state(t, other).Action == "" {
	}
	g.Step(10)
	if err := other.Stop(t.Context(), wait); err != nil {
		t.Fatal(err)
	}
	var bad *horizon.ReplyError
	if err := <-done; !errors.As(err, &bad) || bad.Kind != horizon.KindState {
		t.Fatal(err)
	}
	at := g.Pos()
	g.Step(20)
	if g.Pos() != at || state(t, other).Action != "" {
		t.Fatal("it went on")
	}
}

func TestPlaceTakesOneAndLandsLater(t *testing.T) {
	g, _, c := open(t, lab.Options{Manual: true, Planks: 3})
	if err := walk(t, g, c, horizon.Place{X: 2, Y: 64, Z: 0}); err != nil {
		t.Fatal(err)
	}
	cell, err := c.Block(t.Context(), horizon.Block{X: 2, Y: 64, Z: 0}, wait)
	if err != nil || cell.Block != "minecraft:oak_planks" {
		t.Fatalf("%+v %v", cell, err)
	}
	if s := state(t, c); s.Held.Count != 2 {
		t.Fatalf("%+v", s.Held)
	}
	var bad *horizon.ReplyError
	if err := walk(t, g, c, horizon.Place{X: 2, Y: 64, Z: 0}); !errors.As(err, &bad) || bad.Kind != horizon.KindTimeout {
		t.Fatal(err)
	}
	if j := g.Journal(); len(j) != 1 || j[0].Effect != lab.EffectPlace || j[0].After != 4 {
		t.Fatalf("%+v", j)
	}
}

func TestDeathEndsAWalk(t *testing.T) {
	g, _, c := open(t, lab.Options{Manual: true, Faults: []lab.Fault{{Kind: lab.Death}}})
	var bad *horizon.ReplyError
	if err := walk(t, g, c, to(40, 64, 0, 60*time.Second)); !errors.As(err, &bad) || bad.Kind != horizon.KindState {
		t.Fatal(err)
	}
	if s := state(t, c); s.Health != 0 {
		t.Fatalf("%+v", s)
	}
	g.Teleport(0.5, 100, 0.5)
	if _, err := c.Ask(t.Context(), horizon.Chat{Text: "hello"}, wait); err != nil {
		t.Fatal(err)
	}
}

func TestFallHurts(t *testing.T) {
	g, _, c := open(t, lab.Options{Manual: true})
	g.Teleport(0.5, 74, 0.5)
	g.Step(100)
	if s := state(t, c); s.Pos[1] != 64 || s.Health != 13 {
		t.Fatalf("%+v", s)
	}
}

func TestProvenanceAndEvents(t *testing.T) {
	g, _, c := open(t, lab.Options{Manual: true})
	if _, err := c.Ask(t.Context(), horizon.Chat{Text: "hello"}, wait); err != nil {
		t.Fatal(err)
	}
	s := state(t, c)
	if s.Input.LastOrigin != "agent" || s.Input.Agent != 1 || s.Input.UserSinceAgent || s.Input.UserSeen {
		t.Fatalf("%+v", s.Input)
	}
	g.UserInput()
	g.Step(40)
	if s = state(t, c); s.Input.LastOrigin != "user" || s.Input.User != 1 || !s.Input.UserSinceAgent || s.Input.LastUserAge != 2 {
		t.Fatalf("%+v", s.Input)
	}
	l, err := c.Events(t.Context(), 0, wait)
	if err != nil || l.Last != 2 || len(l.Events) != 2 || l.Events[0].Kind != horizon.EventChat || l.Events[1].Kind != horizon.EventUserInput {
		t.Fatalf("%+v %v", l, err)
	}
	if l, err = c.Events(t.Context(), 2, wait); err != nil || len(l.Events) != 0 {
		t.Fatalf("%+v %v", l, err)
	}
	if err := walk(t, g, c, horizon.WaitEvent{Kind: horizon.EventUserInput, Since: 1, Timeout: time.Second}); err != nil {
		t.Fatal(err)
	}
	var bad *horizon.ReplyError
	if err := walk(t, g, c, horizon.WaitEvent{Kind: horizon.EventDeath, Since: 1, Timeout: time.Second}); !errors.As(err, &bad) || bad.Kind != horizon.KindTimeout {
		t.Fatal(err)
	}
}

func TestTCPWithToken(t *testing.T) {
	g := lab.New(lab.Options{Manual: true})
	t.Cleanup(g.Close)
	tok := filepath.Join(t.TempDir(), "token")
	s, err := g.ListenTCP(0, tok)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	e, err := horizon.ParseEndpoint(s.Endpoint(), tok)
	if err != nil {
		t.Fatal(err)
	}
	self, _ := procgroup.Self()
	c, err := horizon.Dial(t.Context(), e, self)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	state(t, c)
	if err := os.WriteFile(tok, []byte("00000000000000000000000000000000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wrong, err := horizon.Dial(t.Context(), e, self)
	if err == nil {
		defer wrong.Close()
		_, err = wrong.State(t.Context(), wait)
	}
	if err == nil {
		t.Fatal("a wrong token was taken")
	}
	if _, err := horizon.Dial(t.Context(), e, procgroup.ID{PID: 1, StartTicks: self.StartTicks}); !errors.Is(err, horizon.ErrWrongPeer) {
		t.Fatal(err)
	}
}

func TestNoAIClosesTheSocketAtOnce(t *testing.T) {
	home := t.TempDir()
	g := lab.New(lab.Options{Manual: true, Home: home})
	t.Cleanup(g.Close)
	path := filepath.Join(t.TempDir(), "c.sock")
	s, err := g.ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	c := dial(t, s)
	state(t, c)
	if err := os.WriteFile(filepath.Join(home, "horizon-extras.txt"), []byte("fov:70\nnoAi:true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if _, err := c.State(t.Context(), wait); err == nil {
		t.Fatal("it still answers")
	}
	if _, err := g.ListenUnix(path); !errors.Is(err, lab.ErrNoAI) {
		t.Fatal(err)
	}
}

func TestTwoClientsOnOneServer(t *testing.T) {
	hub, err := lab.NewHub(0, 7, false)
	if err != nil {
		t.Fatal(err)
	}
	defer hub.Close()
	join := func(name string) (*lab.Game, *horizon.Client) {
		l, err := lab.Join(hub.Address())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(l.Close)
		g, _, c := open(t, lab.Options{Manual: true, Name: name, Link: l, Planks: 2})
		return g, c
	}
	ga, a := join("companion")
	_, b := join("person")
	st, err := a.Status(t.Context(), wait)
	if err != nil || st.Server == nil || st.Server.Address != hub.Address() || !st.Server.Joined || !st.Server.Loaded {
		t.Fatalf("%+v %v", st, err)
	}
	if s := state(t, b); s.World != "" || s.Name != "person" {
		t.Fatalf("%+v", s)
	}
	if err := walk(t, ga, a, horizon.Place{X: 2, Y: 64, Z: 0}); err != nil {
		t.Fatal(err)
	}
	for {
		cell, err := b.Block(t.Context(), horizon.Block{X: 2, Y: 64, Z: 0}, wait)
		if err != nil {
			t.Fatal(err)
		}
		if cell.Block == "minecraft:oak_planks" {
			break
		}
	}
	hub.Close()
	for {
		if st, err = a.Status(t.Context(), wait); err != nil {
			t.Fatal(err)
		}
		if !st.Server.Joined {
			break
		}
	}
}

// One seed gives one journal at any speed.
func TestJournalDoesNotDependOnSpeed(t *testing.T) {
	play := func(o lab.Options) []lab.Entry {
		o.Hills, o.Seed, o.Planks = true, 42, 4
		g, _, c := open(t, o)
		for _, r := range []horizon.Request{to(12, 64, 3, 30*time.Second), horizon.Chat{Text: "ahoj"}, horizon.LookAt{X: 100, Y: 6400, Z: 5050}, to(-7, 64, 11, 30*time.Second),
			to(-30, 64, 0, time.Second), to(-7, 64, 11, 30*time.Second), horizon.Place{X: -5, Y: 64, Z: 11}} {
			var err error
			if o.Manual {
				err = walk(t, g, c, r)
			} else {
				_, err = c.Ask(t.Context(), r, wait)
			}
			var bad *horizon.ReplyError
			if err != nil && !errors.As(err, &bad) {
				t.Fatal(err)
			}
		}
		return g.Journal()
	}
	want := play(lab.Options{Manual: true})
	if len(want) < 8 {
		t.Fatalf("only %d entries: %+v", len(want), want)
	}
	for _, speed := range []float64{20, 150, 1000} {
		if got := play(lab.Options{Speed: speed}); !reflect.DeepEqual(got, want) {
			t.Errorf("speed %v:\n%+v\nnot\n%+v", speed, got, want)
		}
	}
}

func TestFaultForms(t *testing.T) {
	for _, s := range []string{"busy@1", "no-reply@3", "nan@state:2", "stop-ignored@stop:*"} {
		f, err := lab.ParseFault(s)
		if err != nil || f.String() != s {
			t.Errorf("%s: %v %v", s, f, err)
		}
	}
	for _, s := range []string{"", "nothing", "busy@0", "busy@x", "busy@fly:1", "busy@"} {
		if _, err := lab.ParseFault(s); err == nil {
			t.Errorf("%q was accepted", s)
		}
	}
}

func BenchmarkTick(b *testing.B) {
	g := lab.New(lab.Options{Manual: true, Hills: true})
	defer g.Close()
	for b.Loop() {
		g.Step(1)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ticks/s")
}
