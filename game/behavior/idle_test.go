package behavior_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"blockworld-voice/game"
	"blockworld-voice/game/behavior"
	"blockworld-voice/game/lab"
	"blockworld-voice/game/taskrig"
	"blockworld-voice/grammar"
)

// Idle tells what changed and does nothing: no line that is not a question, no attempt, no effect, no model.
//
// contract: I1
// contract: I2
// contract: E6
func TestIdleObserves(t *testing.T) {
	for _, remote := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			r := taskrig.Solo(t, lab.Options{Planks: 3}, nil)
			if remote {
				r = taskrig.Duo(t, lab.Options{Planks: 3}, lab.Options{}, nil)
			}
			c := r.Controller(10*time.Second, nil)
			r.Lines.Reset()
			begin(t, c, grammar.Idle{})
			time.Sleep(500 * time.Millisecond)
			for _, change := range []func(){nil, func() { r.Bot.Teleport(3.5, 64, 0.5) }, nil, func() { r.Bot.Hurt(3) }, func() { r.Bot.Select(4) }, nil, nil, func() { r.Bot.Give(4, "minecraft:stone", 2) }} {
				time.Sleep(time.Second)
				if change != nil {
					change()
				}
			}
			if err := c.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			k := r.Keep.Last()
			noticed := 0
			for _, rec := range k.Records {
				if rec.Did == behavior.DidNotice {
					noticed++
				}
				if (rec.Did == behavior.DidNotice) != (len(rec.Changes) > 0) || rec.ModelCalls != 0 || rec.Score != game.ScoreIdle || rec.Reads != (behavior.Reads{Logical: 1, Physical: 2}) {
					t.Fatalf("%+v", rec)
				}
			}
			if noticed != 4 || k.Dids()[0] != behavior.DidObserve || k.End.Did[behavior.DidNotNotice] != len(k.Records)-5 || k.End.Result.Kind() != game.KindReported || k.End.ModelCalls != 0 {
				t.Fatalf("%v %+v", k.Dids(), k.End)
			}
			if n := r.Lines.Count(); n != r.Lines.Queries() || n != 2*(1+len(k.Records)) || len(r.Effects()) != 0 || len(r.Keep.Attempts()) != 0 {
				t.Fatalf("%d lines, %d of them questions; %+v", n, r.Lines.Queries(), r.Effects())
			}
		})
	}
}

// An observation that is missing, or shows another world, or a person at the keys, ends it.
//
// contract: I1
func TestIdleEnds(t *testing.T) {
	for name, f := range map[string]func(*taskrig.Rig){
		"another dimension": func(r *taskrig.Rig) { r.Bot.Travel("minecraft:the_end") },
		"gone":              func(r *taskrig.Rig) { r.BotEnd.Close() },
		"a person":          func(r *taskrig.Rig) { r.Bot.UserInput() },
		"a wrong reply":     func(r *taskrig.Rig) { r.Bot.Arm(lab.Fault{Kind: lab.NaN, Word: "state", N: 1}) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := taskrig.Solo(t, lab.Options{}, nil)
				c := r.Controller(10*time.Second, nil)
				begin(t, c, grammar.Idle{})
				time.Sleep(1500 * time.Millisecond)
				f(r)
				if err := c.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				if k := r.Keep.Last(); len(k.Records) != 3 || k.Dids()[2] != behavior.DidLose || k.End.Result.Kind() != game.KindRefused {
					t.Fatalf("%v %+v", k.Dids(), k.End)
				}
			})
		})
	}
}

// What can't be recorded isn't begun, and isn't gone on with.
//
// contract: T3
// contract: E4
func TestRecordsThatCantBeKept(t *testing.T) {
	full := errors.New("no space left on device")
	bubble(t, func(t *testing.T) {
		r := taskrig.Duo(t, lab.Options{}, lab.Options{}, nil)
		c := r.Controller(10*time.Second, nil)
		r.Person.Teleport(20.5, 64, 0.5)
		r.Keep.Fail(full, nil)
		refused(t, c.Do(t.Context(), grammar.Follow{}, nil), game.Disarmed)
		refused(t, c.Do(t.Context(), grammar.StateQuery{}, nil), game.Disarmed)
		if r.Lines.Count("goto") != 0 {
			t.Fatal("something was sent")
		}
		if err := c.Close(); !errors.Is(err, full) {
			t.Fatal(err)
		}
	})
	bubble(t, func(t *testing.T) {
		r := taskrig.Duo(t, lab.Options{}, lab.Options{}, nil)
		c := r.Controller(10*time.Second, nil)
		r.Person.Teleport(20.5, 64, 0.5)
		time.Sleep(time.Second)
		r.Keep.Fail(nil, full)
		begin(t, c, grammar.Follow{})
		if err := c.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		if n := r.Lines.Count("goto"); n != 1 || r.Keep.Last().End.Why != behavior.WhyStopped {
			t.Fatalf("%d lines, %+v", n, r.Keep.Last().End)
		}
		refused(t, c.Do(t.Context(), grammar.Follow{}, nil), game.Disarmed)
		if err := c.Close(); !errors.Is(err, full) {
			t.Fatal(err)
		}
	})
}

// A behaviour that isn't there, or isn't admitted, is refused in words; the one before has yielded all the same.
//
// contract: T2
func TestAnOrderThatIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := taskrig.Solo(t, lab.Options{}, nil)
		c := behavior.New(r.S, behavior.Options{Keeper: r.Keep, Missing: map[behavior.Kind]string{behavior.Follow: "no target"},
			Works: map[behavior.Kind]func() (behavior.Work, error){behavior.Idle: func() (behavior.Work, error) { return behavior.NewIdle(r.S, 10*time.Second), nil }}})
		defer c.Close()
		begin(t, c, grammar.Idle{})
		time.Sleep(1100 * time.Millisecond)
		out := c.Do(t.Context(), grammar.Follow{}, nil)
		refused(t, out, game.NotPermitted)
		if !strings.Contains(out.Say(), "no target") {
			t.Fatal(out)
		}
		synctest.Wait()
		if k := r.Keep.Last(); k.End == nil || k.End.Why != behavior.WhyReplaced || k.End.Runs != 2 {
			t.Fatalf("%+v", k)
		}
		if kind, active := c.Active(); active {
			t.Fatal(kind)
		}
		refused(t, c.Do(t.Context(), grammar.Build{}, nil), game.NotPermitted)
	})
}

// A command that waits for a behaviour to be settled can be given up, and nothing of it is left.
//
// contract: T1
func TestAWaitingCommandCanBeGivenUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := taskrig.Duo(t, lab.Options{}, lab.Options{}, nil)
		c := r.Controller(10*time.Second, nil)
		r.Person.Teleport(20.5, 64, 0.5)
		time.Sleep(time.Second)
		// The stop of the segment is ignored for a second, so that its settlement takes that long.
		r.Bot.Arm(lab.Fault{Kind: lab.StopIgnored, Word: "stop", N: -1})
		begin(t, c, grammar.Follow{})
		time.Sleep(100 * time.Millisecond)
		ctx, cancel := contextFor(t, 200*time.Millisecond)
		defer cancel()
		out := c.Do(ctx, grammar.Say{Text: "ahoj"}, r.Rec)
		refused(t, out, game.Disarmed)
		if err := c.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if out := c.Do(t.Context(), grammar.StateQuery{}, r.Rec); out.Kind() != game.KindReported || r.Lines.Count("chat") != 0 {
			t.Fatal(out)
		}
		if !slices.Equal(r.Keep.Last().Dids(), []behavior.Did{behavior.DidMove}) && r.Keep.Last().Dids()[0] != behavior.DidYield {
			t.Fatal(r.Keep.Last().Dids())
		}
	})
}
