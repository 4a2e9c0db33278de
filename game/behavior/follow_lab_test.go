package behavior_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"blockworld-voice/game"
	"blockworld-voice/game/behavior"
	"blockworld-voice/game/horizon"
	"blockworld-voice/game/lab"
	"blockworld-voice/game/taskrig"
	"blockworld-voice/grammar"
)

// A person walks for a minute, stands for a while in the middle, and is followed all the way, at 1×.
//
// contract: F2
// contract: F3
// contract: F5
// contract: E6
func TestFollowAWalkingPersonForAMinute(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := taskrig.Duo(t, lab.Options{}, lab.Options{}, nil)
		c := r.Controller(60*time.Second, nil)
		r.Person.Teleport(5.5, 64, 0.5)
		time.Sleep(time.Second)
		began := time.Now()
		begin(t, c, grammar.Follow{})
		farthest := 0.0
		x, z := 5.5, 0.5
		for s := range 60 {
			// The first 25 seconds to the east, 10 of rest, then to the south: 2 blocks a second.
			switch {
			case s < 25:
				x += 2
			case s >= 35:
				z += 2
			}
			r.Walk(x+1.4, 64, z+1.4)
			time.Sleep(time.Until(began.Add(time.Duration(s+1) * time.Second)))
			farthest = max(farthest, horizon.Distance(r.Bot.Pos(), r.Person.Pos()))
		}
		if err := c.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		k := r.Keep.Last()
		end := k.End
		if end.Why != behavior.WhyDone || end.Runs != 60 || end.Runs != len(k.Records) || end.Did[behavior.DidMove]+end.Did[behavior.DidStay] != 60 ||
			end.Did[behavior.DidMove] < 35 || end.Did[behavior.DidStay] < 6 {
			t.Fatalf("%+v %v", end, k.Dids())
		}
		if farthest > 12 || horizon.Distance(r.Bot.Pos(), r.Person.Pos()) > 8 {
			t.Fatalf("%.1f blocks apart at the most, %.1f at the end", farthest, horizon.Distance(r.Bot.Pos(), r.Person.Pos()))
		}
		if n := len(r.Keep.Attempts()); n != end.Did[behavior.DidMove] || n != len(r.Effects()) || n != end.Attempts || r.Lines.Count("goto") != n {
			t.Fatalf("%d attempts, %d effects, %d lines, %+v", n, len(r.Effects()), r.Lines.Count("goto"), end)
		}
		for _, a := range r.Keep.Attempts() {
			if a.Score != game.ScoreFollow {
				t.Fatal(a.Score)
			}
		}
		// The person's client was only asked, and as often as the records say.
		if asked := r.Their.Count("state", "status"); asked != r.Their.Count() || uint64(asked) != r.O.Lines() {
			t.Fatalf("%d lines to the target, %d of them questions, %d in the observer", r.Their.Count(), asked, r.O.Lines())
		}
		for _, e := range r.Person.Journal() {
			if e.Effect != lab.EffectWalk && e.Effect != lab.EffectWalkEnd {
				t.Fatalf("the person's client did %+v", e)
			}
		}
		if end.ModelCalls != 0 {
			t.Fatal("a model was called")
		}
		r.Agree()
	})
}

// What ends a follow task on its own, and that nothing is sent afterwards.
//
// contract: F4
// contract: F5
// contract: F6
func TestWhatEndsFollowing(t *testing.T) {
	for _, c := range []struct {
		name   string
		bot    lab.Options
		change func(*game.Profile)
		at     func(*taskrig.Rig) // 2.8 s after the begin, between two segments
		did    behavior.Did
		kind   game.OutcomeKind
		runs   int
	}{
		{name: "the target leaves", at: func(r *taskrig.Rig) { r.TheirEnd.Close() }, did: behavior.DidLose, kind: game.KindRefused, runs: 4},
		{name: "the target teleports", at: func(r *taskrig.Rig) { r.Person.Teleport(100, 64, 0) }, did: behavior.DidPart, kind: game.KindRefused, runs: 4},
		{name: "the target goes to another dimension", at: func(r *taskrig.Rig) { r.Person.Travel("minecraft:the_nether") }, did: behavior.DidLose, kind: game.KindRefused, runs: 4},
		{name: "the target goes to another world", at: func(r *taskrig.Rig) { r.Person.Rename("elsewhere") }, did: behavior.DidLose, kind: game.KindRefused, runs: 4},
		{name: "the target is hurt", at: func(r *taskrig.Rig) { r.Person.Hurt(2) }, did: behavior.DidHurt, kind: game.KindRefused, runs: 4},
		{name: "the target dies", at: func(r *taskrig.Rig) { r.Person.Hurt(20) }, did: behavior.DidHurt, kind: game.KindRefused, runs: 4},
		{name: "the companion is hurt", at: func(r *taskrig.Rig) { r.Bot.Hurt(2) }, did: behavior.DidHurt, kind: game.KindRefused, runs: 4},
		{name: "the companion dies", at: func(r *taskrig.Rig) { r.Bot.Hurt(20) }, did: behavior.DidRefuse, kind: game.KindRefused, runs: 4},
		{name: "the companion goes to another dimension", at: func(r *taskrig.Rig) { r.Bot.Travel("minecraft:the_nether") }, did: behavior.DidRefuse, kind: game.KindRefused, runs: 4},
		{name: "the companion goes to another world", at: func(r *taskrig.Rig) { r.Bot.Rename("elsewhere") }, did: behavior.DidRefuse, kind: game.KindRefused, runs: 4},
		{name: "a person takes over", at: func(r *taskrig.Rig) { r.Bot.UserInput() }, did: behavior.DidRefuse, kind: game.KindRefused, runs: 4},
		{name: "ok without a movement", bot: lab.Options{Faults: []lab.Fault{{Kind: lab.NoDisplacement, Word: "goto", N: 2}}}, did: behavior.DidNotMove, kind: game.KindReported, runs: 2},
		{name: "the companion is walled in", at: wall, did: behavior.DidCancel, kind: game.KindCancelled, runs: 4},
		{name: "the budget is used up", change: func(p *game.Profile) { p.Policy.MaxActions = 2 }, did: behavior.DidRefuse, kind: game.KindRefused, runs: 3},
		{name: "the space ends", change: func(p *game.Profile) { p.Policy.Max[0] = grammar.Blocks(8) }, did: behavior.DidRefuse, kind: game.KindRefused, runs: 3},
		{name: "the client is busy", bot: lab.Options{Faults: []lab.Fault{{Kind: lab.Busy, Word: "goto", N: 2}}}, did: behavior.DidRefuse, kind: game.KindRefused, runs: 2},
		{name: "the look afterwards fails", bot: lab.Options{Faults: []lab.Fault{{Kind: lab.WrongType, Word: "state", N: 7}}}, did: behavior.DidUnverified, kind: game.KindReported, runs: 1},
		{name: "the reply is lost", bot: lab.Options{Faults: []lab.Fault{{Kind: lab.DisconnectAfter, Word: "goto", N: 2}}}, did: behavior.DidNotKnow, kind: game.KindUnknown, runs: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := taskrig.Duo(t, c.bot, lab.Options{}, c.change)
				ctl := r.Controller(60*time.Second, nil)
				r.Person.Teleport(20.5, 64, 0.5)
				time.Sleep(time.Second)
				begin(t, ctl, grammar.Follow{})
				time.Sleep(2800 * time.Millisecond)
				if c.at != nil {
					c.at(r)
				}
				if err := ctl.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				sent := r.Lines.Count("goto")
				time.Sleep(5 * time.Second)
				k := r.Keep.Last()
				dids := k.Dids()
				if len(dids) != c.runs || dids[len(dids)-1] != c.did || slices.Index(dids, c.did) != len(dids)-1 || k.End.Result.Kind() != c.kind {
					t.Fatalf("%v %+v\n%+v", dids, k.End, k.Records[len(k.Records)-1])
				}
				if r.Lines.Count("goto") != sent {
					t.Fatal("something was sent after the end")
				}
				r.Agree()
				if c.did == behavior.DidLose {
					gone := c.name == "the target leaves"
					if (r.O.Retired() != nil) != gone {
						t.Fatal("retired: ", r.O.Retired())
					}
					// A target that comes back can be followed again; an observer that is retired stays so.
					r.Person.Travel("minecraft:overworld")
					r.Person.Rename("")
					if out := ctl.Do(t.Context(), grammar.Follow{}, r.Rec); (out.Kind() == game.KindReported) == gone {
						t.Fatalf("%+v", out)
					}
				}
				if c.kind == game.KindUnknown {
					refused(t, ctl.Do(t.Context(), grammar.StateQuery{}, r.Rec), game.Disarmed)
				}
			})
		})
	}
}

// wall puts the companion into a cell of stone.
func wall(r *taskrig.Rig) {
	at := r.Bot.Pos()
	x, z := int(at[0]), int(at[2])
	for dx := -2; dx <= 2; dx++ {
		for dz := -2; dz <= 2; dz++ {
			for y := 64; y <= 67; y++ {
				if max(dx*dx, dz*dz) == 4 {
					r.Bot.SetBlock(x+dx, y, z+dz, "minecraft:stone")
				}
			}
		}
	}
}

// A behaviour is ended in the middle of a segment, by whatever has priority, and is settled before anything else begins.
//
// contract: T2
// contract: X1
// contract: X3
func TestAFollowedSegmentYields(t *testing.T) {
	walking := func(t *testing.T) (*taskrig.Rig, *behavior.Controller) {
		r := taskrig.Duo(t, lab.Options{}, lab.Options{}, nil)
		c := r.Controller(60*time.Second, nil)
		r.Person.Teleport(25.5, 64, 0.5)
		time.Sleep(time.Second)
		begin(t, c, grammar.Follow{})
		time.Sleep(2300 * time.Millisecond) // the third segment is under way
		if len(r.Effects()) != 3 || r.Keep.Last().End != nil {
			t.Fatal("not in a segment")
		}
		return r, c
	}
	ends := func(t *testing.T, r *taskrig.Rig, c *behavior.Controller, why behavior.Why) {
		t.Helper()
		if err := c.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		k := r.Keep.Last()
		if k.End.Why != why || k.End.Runs != 3 || k.Dids()[2] != behavior.DidYield || k.End.Result.Kind() != game.KindCancelled || k.Outcomes[2].Kind != game.KindCancelled {
			t.Fatalf("%+v %v", k.End, k.Dids())
		}
		stops := 0
		for _, e := range r.Bot.Journal() {
			if e.Effect == lab.EffectStop {
				stops++
			}
		}
		if stops != 1 {
			t.Fatalf("%d actions were stopped", stops)
		}
		still := r.Bot.Pos()
		time.Sleep(2 * time.Second)
		if horizon.Distance(still, r.Bot.Pos()) > 0.5 && why != behavior.WhyReplaced {
			t.Fatal("it walks on")
		}
		r.Agree()
	}
	t.Run("capture", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r, c := walking(t)
			release, took, err := c.Capture(t.Context())
			if err != nil || took > 2*50*time.Millisecond {
				t.Fatal(took, err)
			}
			// The microphone may open: the client was seen to be idle, and stays so.
			if v, err := r.S.View(t.Context()); err != nil || v.State.Action != "" {
				t.Fatal(v, err)
			}
			refused(t, c.Do(t.Context(), grammar.StateQuery{}, r.Rec), game.Busy)
			ends(t, r, c, behavior.WhyCapture)
			release()
			release()
			if out := c.Do(t.Context(), grammar.StateQuery{}, r.Rec); out.Kind() != game.KindReported {
				t.Fatal(out)
			}
		})
	})
	t.Run("stop", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r, c := walking(t)
			if out := c.Do(t.Context(), grammar.Stop{}, r.Rec); out.Kind() != game.KindCancelled {
				t.Fatal(out)
			}
			ends(t, r, c, behavior.WhyStopped)
			refused(t, c.Do(t.Context(), grammar.Follow{}, r.Rec), game.Disarmed)
			if _, _, err := c.Capture(t.Context()); err == nil {
				t.Fatal("a capture after a stop")
			}
		})
	})
	t.Run("command", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r, c := walking(t)
			out := c.Do(t.Context(), grammar.GoTo{X: grammar.Blocks(1), Y: grammar.Blocks(64), Z: grammar.Blocks(1)}, r.Rec)
			if out.Kind() != game.KindReported {
				t.Fatal(out)
			}
			ends(t, r, c, behavior.WhyReplaced)
			if len(r.Rec.List()) != 1 {
				t.Fatal("the command was tried more than once")
			}
		})
	})
	t.Run("another behaviour", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r, c := walking(t)
			begin(t, c, grammar.Idle{})
			all := r.Keep.All()
			if len(all) != 2 || all[0].End == nil || all[0].End.Why != behavior.WhyReplaced || all[1].Start.Gen != all[0].Start.Gen+1 {
				t.Fatalf("%+v", all)
			}
			r.Agree()
		})
	})
	t.Run("a stop that can't be seen", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r, c := walking(t)
			r.Bot.Arm(lab.Fault{Kind: lab.DisconnectBefore, Word: "stop", N: -1})
			_, _, err := c.Capture(t.Context())
			var bad *behavior.RefusedError
			if !errors.As(err, &bad) || bad.Reason != game.Disarmed {
				t.Fatal("the microphone opens on an unknown effect: ", err)
			}
			if err := c.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			if k := r.Keep.Last(); k.End.Result.Kind() != game.KindUnknown || k.End.ModelCalls != 0 {
				t.Fatalf("%+v", k.End)
			}
			refused(t, c.Do(t.Context(), grammar.Idle{}, r.Rec), game.Disarmed)
		})
	})
}

// The task's time is over in the middle of a segment.
//
// contract: F4
func TestTheDeadlineStopsASegment(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := taskrig.Duo(t, lab.Options{}, lab.Options{}, nil)
		c := r.Controller(2300*time.Millisecond, nil)
		r.Person.Teleport(25.5, 64, 0.5)
		time.Sleep(time.Second)
		began := time.Now()
		begin(t, c, grammar.Follow{})
		if err := c.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 2300*time.Millisecond {
			t.Fatal(took)
		}
		k := r.Keep.Last()
		if k.End.Why != behavior.WhyDeadline || k.Dids()[2] != behavior.DidYield || k.End.Runs != 3 {
			t.Fatalf("%+v %v", k.End, k.Dids())
		}
		r.Agree()
		synctest.Wait()
	})
}
