package behavior_test

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"blockworld-voice/game"
	"blockworld-voice/game/behavior"
	"blockworld-voice/game/lab"
	"blockworld-voice/game/taskrig"
	"blockworld-voice/grammar"
)

// A follow task is ended right before every single line of its admission and its first ticks, by whatever has
// priority. It is settled before the successor begins, and sends nothing afterwards.
//
// contract: T2
// contract: X1
// contract: F4
func TestFollowEndedAtEveryStep(t *testing.T) {
	for _, how := range []string{"stop", "capture", "command", "idle"} {
		for step := 1; step <= 28; step++ {
			bubble(t, func(t *testing.T) {
				r := taskrig.Duo(t, lab.Options{}, lab.Options{}, nil)
				c := r.Controller(30*time.Second, nil)
				r.Person.Teleport(25.5, 64, 0.5)
				time.Sleep(time.Second)
				r.Lines.Reset()
				settled := make(chan game.Outcome, 1)
				var once atomic.Bool
				r.Lines.On(func(n int, _ string) {
					if n != step || !once.CompareAndSwap(false, true) {
						return
					}
					go func() { settled <- interrupt(t, r, c, how) }()
					for kind, active := c.Active(); active && kind == behavior.Follow; kind, active = c.Active() {
						runtime.Gosched()
					}
				})
				begun := c.Do(t.Context(), grammar.Follow{}, r.Rec)
				var out game.Outcome
				select {
				case out = <-settled:
				case <-time.After(20 * time.Second):
					t.Fatalf("%s at line %d was never settled", how, step)
				}
				want := map[string]game.OutcomeKind{"stop": game.KindCancelled, "capture": game.KindReported, "command": game.KindReported, "idle": game.KindReported}[how]
				if out.Kind() != want {
					t.Fatalf("%s at line %d: %T %+v", how, step, out, out)
				}
				gotos := r.Lines.Count("goto")
				time.Sleep(5 * time.Second)
				if n := r.Lines.Count("goto"); n != gotos || n != len(r.Keep.Attempts()) && n+1 != len(r.Keep.Attempts()) {
					t.Fatalf("%s at line %d: %d lines, later %d, %d attempts", how, step, gotos, n, len(r.Keep.Attempts()))
				}
				follow := 0
				for _, k := range r.Keep.All() {
					if k.Start.Kind != behavior.Follow {
						continue
					}
					follow++
					if k.End == nil || k.End.Why == behavior.WhyDone || k.End.Why == behavior.WhyDeadline || k.End.Runs != len(k.Records) {
						t.Fatalf("%s at line %d: %+v", how, step, k.End)
					}
				}
				if begun.Kind() == game.KindReported && follow != 1 {
					t.Fatalf("%s at line %d: begun, and %d tasks were kept", how, step, follow)
				}
				r.Agree()
			})
		}
	}
}

func interrupt(t *testing.T, r *taskrig.Rig, c *behavior.Controller, how string) game.Outcome {
	switch how {
	case "stop":
		return c.Do(t.Context(), grammar.Stop{}, r.Rec)
	case "command":
		return c.Do(t.Context(), grammar.StateQuery{}, r.Rec)
	case "idle":
		return c.Do(t.Context(), grammar.Idle{}, r.Rec)
	}
	release, _, err := c.Capture(t.Context())
	defer release()
	var bad *behavior.RefusedError
	if errors.As(err, &bad) {
		return bad.Refused
	}
	if v, err := r.S.View(t.Context()); err != nil || v.State.Action != "" {
		t.Errorf("the microphone opens while the client acts: %+v %v", v.State.Action, err)
	}
	return game.Reported{}
}

// A companion that is held up in the middle of a segment: the game gives it up after a second, and that is the end.
//
// contract: F3
// contract: F5
func TestStuckInASegment(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := taskrig.Duo(t, lab.Options{}, lab.Options{}, nil)
		c := r.Controller(30*time.Second, nil)
		r.Person.Teleport(25.5, 64, 0.5)
		time.Sleep(time.Second)
		begin(t, c, grammar.Follow{})
		time.Sleep(1200 * time.Millisecond) // in the second segment
		at := r.Bot.Pos()
		for z := -6; z <= 6; z++ {
			for y := 64; y <= 66; y++ {
				r.Bot.SetBlock(int(at[0])+1, y, z, "minecraft:stone")
			}
		}
		if err := c.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		k := r.Keep.Last()
		if did := k.Dids(); len(did) != 2 || did[1] != behavior.DidCancel || k.End.Result.Kind() != game.KindCancelled || k.End.TookNS > int64(2100*time.Millisecond) {
			t.Fatalf("%v %+v", did, k.End)
		}
		r.Agree()
	})
}
