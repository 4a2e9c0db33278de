package behavior_test

import (
	"testing"
	"testing/synctest"
	"time"

	"blockworld-voice/game"
	"blockworld-voice/game/behavior"
	"blockworld-voice/game/lab"
	"blockworld-voice/grammar"
)

func TestFollowWalks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDuo(t, lab.Options{}, lab.Options{}, nil)
		d.person.Teleport(12.5, 64, 0.5)
		time.Sleep(time.Second)
		out := d.ctl.Do(t.Context(), grammar.Follow{}, d.rec)
		if out.Kind() != game.KindReported {
			t.Fatalf("%+v", out)
		}
		if err := d.ctl.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		rs, end := d.keep.last()
		if end.Why != behavior.WhyDone || end.Did[behavior.DidMove] != 4 || end.Did[behavior.DidStay] != 26 || len(rs) != 30 {
			t.Fatal(dids(rs), end)
		}
	})
}
