package behavior

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"blockworld-voice/game"
	"blockworld-voice/game/horizon"
	"blockworld-voice/grammar"
)

const ms = time.Millisecond

// The ticks of a directive come a second apart, never sooner, and those that are missed are not made up for.
//
// contract: F2
// contract: T1
func TestCadence(t *testing.T) {
	for _, c := range []struct {
		name string
		view time.Duration // a run takes as long
		want time.Duration // between the starts of two
	}{{"quick", 10 * ms, 1000 * ms}, {"just in time", 999 * ms, 1000 * ms}, {"a little late", 1001 * ms, 1001 * ms}, {"slow", 2700 * ms, 2700 * ms}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl := &client{health: 20, view: c.view}
				n, ctl := only(t, Idle, NewIdle(cl, 10*time.Second))
				if out := ctl.Do(t.Context(), grammar.Idle{}, nil); out.Kind() != game.KindReported {
					t.Fatal(out)
				}
				began := time.Now() // admission is over
				if err := ctl.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				starts, _, _, _ := cl.times()
				starts = starts[1:] // the first look is admission
				for i, s := range starts {
					if got := s.Sub(began); got != time.Duration(i)*c.want {
						t.Fatalf("tick %d starts after %v", i+1, got)
					}
				}
				_, end := n.last(t)
				if want := min(10, int(10*time.Second/c.want)+1); len(starts) != want || end.Runs != want {
					t.Fatalf("%d ticks, %d runs, want %d", len(starts), end.Runs, want)
				}
				if took := time.Duration(end.TookNS); took > 10*time.Second || end.Why == WhyDeadline && took != 10*time.Second {
					t.Fatalf("%v %s", took, end.Why)
				}
			})
		})
	}
}

// A directive has at most 60 s and 60 ticks, whatever it is made with, and a session only so many directives.
//
// contract: F2
func TestDirectivesAreFinite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl := &client{health: 20}
		n, ctl := only(t, Idle, NewIdle(cl, time.Hour))
		began := time.Now()
		if out := ctl.Do(t.Context(), grammar.Idle{}, nil); out.Kind() != game.KindReported {
			t.Fatal(out)
		}
		if err := ctl.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, end := n.last(t); end.Runs != MaxTicks || time.Since(began) > MaxSpan {
			t.Fatalf("%d runs in %v", end.Runs, time.Since(began))
		}
		if n.start.Runs != MaxTicks || n.start.SpanNS != int64(MaxSpan) || n.start.CadenceNS != int64(MinCadence) {
			t.Fatalf("%+v", n.start)
		}
	})
	for asked, want := range map[int]int{0: 20, 3: 3, 100: 100, 5000: 100} {
		synctest.Test(t, func(t *testing.T) {
			cl := &client{health: 20}
			c := New(session{}, Options{Keeper: &notes{}, Directives: asked, Works: map[Kind]func() (Work, error){Idle: func() (Work, error) { return NewIdle(cl, time.Second), nil }}})
			defer c.Close()
			for i := range want + 2 {
				out := c.Do(t.Context(), grammar.Idle{}, nil)
				if r, ok := out.(game.Refused); ok != (i >= want) || ok && r.Reason != game.Budget {
					t.Fatalf("asked for %d: the %dth is %+v", asked, i+1, out)
				}
			}
		})
	}
}

// The age of a sample counts from the beginning of its read to the moment at which the bytes go.
//
// contract: F4
func TestFreshness(t *testing.T) {
	for _, c := range []struct {
		name                string
		state, view, before time.Duration
		did                 Did
	}{
		{"fresh", 0, 0, 0, DidMove},
		{"just fresh", 300 * ms, 300 * ms, 400 * ms, DidMove},
		{"a millisecond too old", 300 * ms, 300 * ms, 401 * ms, DidAge},
		{"old by its own read", 1001 * ms, 0, 0, DidAge},
		{"old by the look at the companion", 0, 1001 * ms, 0, DidAge},
		{"old by the way to the socket", 0, 0, 1001 * ms, DidAge},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, o := watched([3]float64{10, 0, 0})
				p.state = c.state
				cl := &client{health: 20, view: c.view, post: 1, before: c.before, action: 100 * ms, step: 2}
				w := NewFollow(cl, o, time.Minute)
				r := w.Run(t.Context(), Tick{Gen: 1, N: 1, Until: time.Now().Add(time.Minute), Valid: func() bool { return true }}, &notes{})
				if r.Did != c.did || r.More != (c.did == DidMove) {
					t.Fatalf("%+v", r)
				}
				if _, sent, _, _ := cl.times(); len(sent) == 1 != (c.did == DidMove) {
					t.Fatal("sent on a sample that is too old, or not on a fresh one")
				}
				if want := c.state + c.view + c.before; r.Facts.SampleAge != int64(want) {
					t.Fatalf("the age is recorded as %v, want %v", time.Duration(r.Facts.SampleAge), want)
				}
			})
		})
	}
}

// An action is cancelled at the moment at which its sample, or its task, is over.
//
// contract: F4
func TestDeadlineWatcher(t *testing.T) {
	for _, c := range []struct {
		name         string
		state, until time.Duration
		action       time.Duration
		after        time.Duration // cancelled so long after it was sent; 0 is not at all
		did          Did
	}{
		{"it ends in time", 0, time.Minute, 2999 * ms, 0, DidMove},
		{"it outlives its sample", 0, time.Minute, 3001 * ms, 3000 * ms, DidAge},
		{"an older sample", 700 * ms, time.Minute, 9000 * ms, 2300 * ms, DidAge},
		{"it outlives the task", 0, 1234 * ms, 9000 * ms, 1234 * ms, DidAge},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, o := watched([3]float64{10, 0, 0})
				p.state = c.state
				cl := &client{health: 20, action: c.action, step: 2}
				w := NewFollow(cl, o, time.Minute)
				r := w.Run(t.Context(), Tick{Gen: 1, N: 1, Until: time.Now().Add(c.until), Valid: func() bool { return true }}, &notes{})
				_, _, ended, causes := cl.times()
				if r.Did != c.did || (c.after == 0) != (len(ended) == 0) || c.after > 0 && (ended[0] != c.after || !errors.Is(causes[0], errOutlived)) {
					t.Fatalf("%+v %v %v", r, ended, causes)
				}
			})
		})
	}
}

// The task's authority is asked for at the last moment, under the session's own lock.
//
// contract: F4
func TestNothingGoesWithoutAuthority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, o := watched([3]float64{10, 0, 0})
		cl := &client{health: 20, before: 500 * ms, action: ms, step: 2}
		var valid atomic.Bool
		valid.Store(true)
		time.AfterFunc(499*ms, func() { valid.Store(false) })
		r := NewFollow(cl, o, time.Minute).Run(t.Context(), Tick{Gen: 1, N: 1, Until: time.Now().Add(time.Minute), Valid: valid.Load}, &notes{})
		if _, sent, _, _ := cl.times(); len(sent) != 0 || r.Outcome.Kind() != game.KindRefused || r.More {
			t.Fatalf("%+v", r)
		}
	})
}

// The look after a segment: too late it proves nothing, and too little progress ends the task.
//
// contract: F5
func TestProgress(t *testing.T) {
	for _, c := range []struct {
		name string
		step float64
		post time.Duration
		hurt float64
		did  Did
	}{
		{"enough", 0.05, 0, 0, DidMove}, {"too little", 0.049, 0, 0, DidNotMove}, {"none", 0, 0, 0, DidNotMove}, {"away", -1, 0, 0, DidNotMove},
		{"just in time", 2, 1000 * ms, 0, DidMove}, {"too late", 2, 1001 * ms, 0, DidUnverified}, {"outside", 2000, 0, 0, DidUnverified},
		{"hurt", 2, 0, 3, DidUnverified}, {"dead", 2, 0, 20, DidUnverified},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, o := watched([3]float64{10, 0, 0})
				cl := &client{health: 20, post: c.post, action: 100 * ms, step: c.step}
				time.AfterFunc(50*ms, func() {
					cl.mu.Lock()
					defer cl.mu.Unlock()
					cl.health -= c.hurt
				})
				r := NewFollow(cl, o, time.Minute).Run(t.Context(), Tick{Gen: 1, N: 1, Until: time.Now().Add(time.Minute), Valid: func() bool { return true }}, &notes{})
				if r.Did != c.did || r.More != (c.did == DidMove) || r.Outcome.Kind() != game.KindReported || r.Facts.Reads.Logical != 3 {
					t.Fatalf("%+v", r)
				}
			})
		})
	}
}

// A read of the target that has begun is waited for when the task is interrupted: its sample is dropped, and the
// observer lives on. Only what the read itself meets retires it.
//
// contract: F6
func TestOwnedReadSettlement(t *testing.T) {
	for _, c := range []struct {
		name          string
		state, status time.Duration
		cancel        time.Duration // 0 is never
		ends          time.Duration
		sample        bool
		retired       bool
		change        func(*person)
	}{
		{"undisturbed", 100 * ms, 100 * ms, 0, 200 * ms, true, false, nil},
		{"interrupted in the first line", 4000 * ms, 1000 * ms, 1000 * ms, 5000 * ms, false, false, nil},
		{"interrupted in the second line", 1000 * ms, 4000 * ms, 2000 * ms, 5000 * ms, false, false, nil},
		{"interrupted before", 100 * ms, 100 * ms, -1, 0, false, false, nil},
		{"each line has the binding's timeout", 6001 * ms, 0, 0, 6000 * ms, false, true, nil},
		{"the whole has twice that", 5999 * ms, 6002 * ms, 0, 11999 * ms, false, true, nil},
		{"interrupted, and then a real timeout", 7000 * ms, 0, 1000 * ms, 6000 * ms, false, true, nil},
		{"another server", 10 * ms, 10 * ms, 0, 20 * ms, false, true, func(p *person) { p.server = "h:2" }},
		{"single player", 10 * ms, 10 * ms, 0, 20 * ms, false, true, func(p *person) { p.server = "" }},
		{"another dimension", 10 * ms, 10 * ms, 0, 20 * ms, false, false, func(p *person) { p.dim = "minecraft:the_end" }},
		{"loading", 10 * ms, 10 * ms, 0, 20 * ms, false, false, func(p *person) { p.loading = true }},
		{"it declines", 10 * ms, 10 * ms, 0, 10 * ms, false, false, func(p *person) { p.err = &horizon.ReplyError{Kind: horizon.KindState} }},
		{"No AI", 10 * ms, 10 * ms, 0, 10 * ms, false, true, func(p *person) { p.err = &horizon.ReplyError{Kind: horizon.KindDenied} }},
		{"another player", 10 * ms, 10 * ms, 0, 20 * ms, false, true, func(p *person) { p.name = "c" }},
		{"a malformed reply", 10 * ms, 10 * ms, 0, 10 * ms, false, true, func(p *person) { p.err = horizon.ErrMalformed }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, o := watched([3]float64{10, 0, 0})
				p.state, p.status = c.state, c.status
				if c.change != nil {
					c.change(p)
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				if c.cancel > 0 {
					time.AfterFunc(c.cancel, func() { cancel(errTest) })
				} else if c.cancel < 0 {
					cancel(errTest)
				}
				began := time.Now()
				s, err := o.Look(ctx, 7)
				if took := time.Since(began); took != c.ends {
					t.Fatalf("it took %v, want %v", took, c.ends)
				}
				if (err == nil) != c.sample || c.cancel != 0 && !errors.Is(err, errTest) {
					t.Fatalf("%+v %v", s, err)
				}
				if c.sample && (s.Gen != 7 || s.Began != began || s.Seq == 0) {
					t.Fatalf("%+v", s)
				}
				if (o.Retired() != nil) != c.retired || p.closed != c.retired {
					t.Fatal(o.Retired(), p.closed)
				}
				cancel(nil)
				p.state, p.status, p.err, p.name, p.dim, p.loading, p.server = 0, 0, nil, "b", "minecraft:overworld", false, "h:1"
				asked := p.asked
				switch _, err = o.Look(t.Context(), 8); {
				case c.retired && (err == nil || p.asked != asked):
					t.Fatal("a retired observer came back")
				case !c.retired && err != nil:
					t.Fatal(err)
				}
				if err := o.Close(); err != nil || o.Retired() == nil {
					t.Fatal(err)
				}
				if _, err = o.Look(t.Context(), 9); err == nil {
					t.Fatal("a closed observer looks")
				}
			})
		})
	}
}

// A behaviour that is interrupted in a read of the target is settled when the read is, and nothing follows from it.
//
// contract: F6
// contract: T2
func TestReplacementWaitsForTheRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, o := watched([3]float64{10, 0, 0})
		cl := &client{health: 20, action: 10 * ms, step: 2}
		n, ctl := only(t, Follow, NewFollow(cl, o, time.Minute))
		if out := ctl.Do(t.Context(), grammar.Follow{}, nil); out.Kind() != game.KindReported {
			t.Fatal(out)
		}
		synctest.Wait()
		time.Sleep(500 * ms)
		p.mu.Lock()
		p.state = 4000 * ms
		p.mu.Unlock()
		time.Sleep(1500 * ms) // the second tick reads since 1 s
		release, took, err := ctl.Capture(t.Context())
		if err != nil || took != 3000*ms {
			t.Fatal(took, err)
		}
		release()
		if err := ctl.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		r, end := n.last(t)
		if _, sent, _, _ := cl.times(); len(sent) != 1 || r.Did != DidYield || end.Why != WhyCapture || o.Retired() != nil {
			t.Fatalf("%+v %+v", r, end)
		}
	})
}

// An observer has no way to do anything: not in its own methods, and not behind them.
//
// contract: F1
func TestAnObserverCanOnlyLook(t *testing.T) {
	for _, c := range []struct {
		of   reflect.Type
		want []string
	}{
		{reflect.TypeFor[*Observer](), []string{"Close", "Lines", "Look", "Retired"}},
		{reflect.TypeFor[asker](), []string{"Close", "State", "Status"}},
	} {
		var got []string
		for i := range c.of.NumMethod() {
			got = append(got, c.of.Method(i).Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v has %v", c.of, got)
		}
	}
	for i := range reflect.TypeFor[Observer]().NumField() {
		f := reflect.TypeFor[Observer]().Field(i)
		if f.IsExported() || f.Type == reflect.TypeFor[*horizon.Client]() {
			t.Errorf("the field %s reaches more", f.Name)
		}
	}
}

// contract: F1
func TestPair(t *testing.T) {
	if err := Pair(pairOf("a"), pairOf("b")); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(a, b *game.Binding){
		"the companion in single player": func(a, _ *game.Binding) { a.Mode = game.SinglePlayerLab },
		"the target in single player":    func(_, b *game.Binding) { b.Mode = game.SinglePlayerLab },
		"another server":                 func(_, b *game.Binding) { b.Server = "h:2" },
		"another dimension":              func(_, b *game.Binding) { b.Dimension = "minecraft:the_end" },
		"another label":                  func(_, b *game.Binding) { b.World = "x" },
		"one process":                    func(a, b *game.Binding) { b.Process = a.Process },
		"one endpoint":                   func(a, b *game.Binding) { b.Endpoint = a.Endpoint },
	} {
		a, b := pairOf("a"), pairOf("b")
		change(&a, &b)
		if err := Pair(a, b); err == nil {
			t.Errorf("%s: admitted", name)
		}
	}
}

// A waypoint lies toward the target, outside the radius in which the game takes it for reached, at most four blocks
// away, and not beyond the target.
//
// contract: F3
func TestWaypoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := func(name string) (p [3]float64) {
			for i := range p {
				p[i] = rapid.Float64Range(-40, 40).Draw(t, name)
			}
			return p
		}
		from, to := at("from"), at("to")
		d := horizon.Distance(from, to)
		w, ok := Waypoint(from, to)
		if d <= Deadband {
			if ok {
				t.Fatalf("a segment within the deadband: %v", d)
			}
			return
		}
		if !ok {
			t.Fatalf("no segment over %v blocks", d)
		}
		n, left := horizon.Distance(from, place(w)), horizon.Distance(place(w), to)
		if !(n > MinSegment && n <= MaxSegment) {
			t.Fatalf("a segment of %v", n)
		}
		// In a line, but for rounding; so the game's 1.5 blocks before it are progress.
		if left > d-n+0.05 || n-horizon.StopRadius < LeastProgress {
			t.Fatalf("%v → %v over %v: %v and %v of %v", from, to, place(w), n, left, d)
		}
	})
}

// contract: F2
func TestBehavioursNeedPermission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, a := range []game.Action{game.ActIdle, game.ActFollow} {
			cl := &client{health: 20, deny: a}
			_, o := watched([3]float64{10, 0, 0})
			k, w, cmd := Idle, NewIdle(cl, time.Second), grammar.Command(grammar.Idle{})
			if a == game.ActFollow {
				k, w, cmd = Follow, NewFollow(cl, o, time.Second), grammar.Follow{}
			}
			n, ctl := only(t, k, w)
			if r, ok := ctl.Do(t.Context(), cmd, nil).(game.Refused); !ok || r.Reason != game.NotPermitted || len(n.ends) != 0 {
				t.Fatalf("%+v", r)
			}
		}
	})
}
