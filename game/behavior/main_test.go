package behavior_test

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"blockworld-voice/game"
	"blockworld-voice/game/behavior"
	"blockworld-voice/game/lab"
	"blockworld-voice/grammar"
)

// The test program is also the lab that tests start as a child.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "lab" {
		os.Exit(lab.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

// bubble runs a test under a clock of its own.
func bubble(t *testing.T, f func(*testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func begin(t *testing.T, c *behavior.Controller, cmd grammar.Command) {
	t.Helper()
	if out := c.Do(t.Context(), cmd, nil); out.Kind() != game.KindReported {
		t.Fatalf("%T %+v", out, out)
	}
}

func refused(t *testing.T, out game.Outcome, r game.Reason) {
	t.Helper()
	if got, ok := out.(game.Refused); !ok || got.Reason != r {
		t.Fatalf("%T %+v, want refused: %s", out, out, r)
	}
}

func contextFor(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), d)
}
