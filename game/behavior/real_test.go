package behavior_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"blockworld-voice/game"
	"blockworld-voice/game/behavior"
	"blockworld-voice/game/horizon"
	"blockworld-voice/game/lab"
	"blockworld-voice/game/taskrig"
	"blockworld-voice/grammar"
)

// pair is two labs as processes of their own, at 1× in real time, behind real sockets.
type pair struct {
	s       *game.Session
	o       *behavior.Observer
	c       *behavior.Controller
	keep    *taskrig.Keeper
	profile game.Profile
	person  *horizon.Client
	dir     string
}

func newPair(t testing.TB, span time.Duration) *pair {
	t.Helper()
	start := func(more ...string) (string, game.Profile) {
		dir := filepath.Join(t.TempDir(), "ws")
		l, p, err := game.StartLab(t.Context(), os.Args[0], dir, more...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
		return dir, p
	}
	p := &pair{keep: &taskrig.Keeper{}}
	var target game.Profile
	p.dir, p.profile = start("--serve", "0")
	_, target = start("--join", p.profile.Binding.Server, "--name", "person")
	p.profile.Policy.MaxActions = 10_000
	var err error
	if p.s, err = game.Open(t.Context(), p.profile, game.Options{StateDir: filepath.Join(t.TempDir(), "state"), GameHome: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.s.Close() })
	if p.o, err = behavior.Observe(t.Context(), p.profile.Binding, target.Binding, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.o.Close() })
	if p.person, err = horizon.Dial(t.Context(), target.Binding.Endpoint, target.Binding.Process); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.person.Close() })
	p.c = behavior.New(p.s, behavior.Options{Keeper: p.keep, Directives: behavior.MostOrders, Works: map[behavior.Kind]func() (behavior.Work, error){
		behavior.Follow: func() (behavior.Work, error) { return behavior.NewFollow(p.s, p.o, span), nil },
	}})
	t.Cleanup(func() { _ = p.c.Close() })
	return p
}

// FOLLOW_SECONDS is how long the person walks (default 5; make ledger takes the whole minute).
func followSeconds(t *testing.T) int {
	t.Helper()
	v := os.Getenv("FOLLOW_SECONDS")
	if v == "" {
		return 5
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > 60 {
		t.Fatalf("FOLLOW_SECONDS=%q is no number from 1 to 60", v)
	}
	return n
}

// The same as in a bubble, over real sockets and in real time: nothing depends on a clock that stands still.
//
// contract: F2
// contract: F5
func TestFollowInRealTime(t *testing.T) {
	seconds := followSeconds(t)
	p := newPair(t, time.Duration(seconds)*time.Second)
	began := time.Now()
	if out := p.c.Do(t.Context(), grammar.Follow{}, nil); out.Kind() != game.KindReported {
		t.Fatal(out)
	}
	x, rest := 2.0, 0
	for s := range seconds {
		if s >= seconds*2/5 && s < seconds*3/5 {
			rest++ // the person stands in the middle
		} else {
			x += 2
			if _, err := p.person.Ask(t.Context(), horizon.GoTo{X: horizon.Centi((x + 1.4) * 100), Y: 6400, Z: 50}, 10*time.Second); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Until(began.Add(time.Duration(s+1) * time.Second)))
	}
	if err := p.c.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	k := p.keep.Last()
	end := k.End
	if end.Result.Kind() != game.KindReported || end.Runs < seconds-1 || end.Runs > seconds || end.Did[behavior.DidMove]+end.Did[behavior.DidStay] != end.Runs || end.Did[behavior.DidMove] == 0 {
		t.Fatalf("%+v %v", end, k.Dids())
	}
	walks := map[string]int{}
	for _, e := range journal(t, p.dir) {
		if e.Effect == lab.EffectWalk {
			walks[e.Line]++
		}
	}
	tried := map[string]int{}
	for _, a := range p.keep.Attempts() {
		tried[a.LineSHA256.String()]++
	}
	for line, n := range walks {
		if n != tried[line] {
			t.Errorf("%d effects of %d attempts", n, tried[line])
		}
	}
	if len(walks) != len(tried) {
		t.Errorf("%d lines had effects, %d were tried", len(walks), len(tried))
	}
	t.Logf("%d s: %d runs, %v, %d s of rest", seconds, end.Runs, end.Did, rest)
}

func journal(t testing.TB, dir string) []lab.Entry {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []lab.Entry
	for in := bufio.NewScanner(f); in.Scan(); {
		var e lab.Entry
		if err := json.Unmarshal(in.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// gameTick is one tick of the game.
const gameTick = time.Second / horizon.TicksPerSecond

// BenchmarkInterruption measures how long it takes from a stop, and from the start of a capture, in the middle of a
// followed segment, to the settled boundary: the session is over, or the microphone may open. The lab runs at 1×. It
// reports the median and the 95th percentile in game ticks, beside the game's own answer to a bare stop and a look,
// which is taken off.
func BenchmarkInterruption(b *testing.B) {
	p := newPair(b, behavior.MaxSpan)
	if _, err := p.person.Ask(b.Context(), horizon.GoTo{X: 2000, Y: 6400, Z: 50}, time.Minute); err != nil {
		b.Fatal(err)
	}
	for name, end := range map[string]func(*behavior.Controller) error{
		"capture": func(c *behavior.Controller) error {
			release, _, err := c.Capture(context.Background())
			release()
			return err
		},
		"stop": func(c *behavior.Controller) error {
			if out := c.Do(context.Background(), grammar.Stop{}, nil); out.Kind() != game.KindCancelled {
				return errors.New(out.Say())
			}
			return c.Wait(context.Background())
		},
	} {
		b.Run(name, func(b *testing.B) { p.interruptions(b, end) })
	}
}

func (p *pair) interruptions(b *testing.B, end func(*behavior.Controller) error) {
	bare, err := horizon.Dial(b.Context(), p.profile.Binding.Endpoint, p.profile.Binding.Process)
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	look := func() horizon.PlayerState {
		st, err := bare.State(b.Context(), time.Second)
		if err != nil {
			b.Fatal(err)
		}
		return st
	}
	_ = p.s.Close()
	var own, over []time.Duration
	for b.Loop() {
		s, err := game.Open(b.Context(), p.profile, game.Options{StateDir: filepath.Join(p.dir, "..", "state"), GameHome: p.dir})
		if err != nil {
			b.Fatal(err)
		}
		c := behavior.New(s, behavior.Options{Keeper: p.keep, Works: map[behavior.Kind]func() (behavior.Work, error){
			behavior.Follow: func() (behavior.Work, error) { return behavior.NewFollow(s, p.o, behavior.MaxSpan), nil },
		}})
		// Back to where it began, so that the target is far again.
		if out := c.Do(b.Context(), grammar.GoTo{X: 50, Y: 6400, Z: 50}, &taskrig.Recorder{}); out.Kind() != game.KindReported {
			b.Fatal(out)
		}
		from := time.Now()
		if err := bare.Stop(b.Context(), time.Second); err != nil {
			b.Fatal(err)
		}
		look()
		answer := time.Since(from)
		if out := c.Do(b.Context(), grammar.Follow{}, nil); out.Kind() != game.KindReported {
			b.Fatal(out)
		}
		for look().Action == "" {
			time.Sleep(time.Millisecond)
		}
		from = time.Now()
		if err := end(c); err != nil {
			b.Fatal(err)
		}
		own, over = append(own, answer), append(over, max(0, time.Since(from)-answer))
		if err := errors.Join(c.Close(), s.Close()); err != nil {
			b.Fatal(err)
		}
	}
	ticks := func(ds []time.Duration, q float64) float64 {
		slices.Sort(ds)
		return float64(ds[min(len(ds)-1, int(q*float64(len(ds))))]) / float64(gameTick)
	}
	b.ReportMetric(ticks(over, 0.5), "ticks-p50")
	b.ReportMetric(ticks(over, 0.95), "ticks-p95")
	b.ReportMetric(ticks(own, 0.5), "ticks-game")
	b.ReportMetric(0, "ns/op")
}
