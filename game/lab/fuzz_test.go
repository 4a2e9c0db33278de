package lab_test

import (
	"testing"

	"blockworld-voice/game/lab"
)

// FuzzFault: every form of a fault that is accepted reads back as itself.
func FuzzFault(f *testing.F) {
	f.Add("busy@1")
	f.Add("nan@state:*")
	f.Fuzz(func(t *testing.T, s string) {
		v, err := lab.ParseFault(s)
		if err != nil {
			return
		}
		if again, err := lab.ParseFault(v.String()); err != nil || again.String() != v.String() {
			t.Fatalf("%q reads as %+v, then %+v (%v)", s, v, again, err)
		}
	})
}
