package game

import (
	"os"
	"runtime"
	"testing"

	"blockworld-voice/game/lab"
	"blockworld-voice/grammar"
)

// census counts what a leak would show in.
func census(t *testing.T) (goroutines, descriptors, children int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	kids, err := os.ReadFile("/proc/thread-self/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range kids {
		if b == ' ' {
			children++
		}
	}
	return runtime.NumGoroutine(), len(fds), children
}

// Sessions leave nothing behind. FLAT_SESSIONS sets how many (10000 by `make ledger`).
// contract: O1
func TestSessionsAreFlat(t *testing.T) {
	r := newRig(t, lab.Options{})
	r.profile.Policy.MaxActions = 5
	n := setting(t, "FLAT_SESSIONS", 100)
	var goroutines, descriptors, children int
	for i := range n {
		s, err := Open(t.Context(), r.profile, r.opt)
		if err != nil {
			t.Fatal(i, err)
		}
		switch i % 10 {
		case 0:
			wantKind(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, r.rec), KindReported)
		case 1:
			wantKind(t, s.Do(t.Context(), grammar.StateQuery{}, r.rec), KindReported)
		case 2:
			wantKind(t, s.Stop(t.Context()), KindCancelled)
		}
		if err := s.Close(); err != nil {
			t.Fatal(i, err)
		}
		g, f, c := census(t)
		if i == n/10 {
			goroutines, descriptors, children = g, f, c
		}
		// The lab's side of a closed connection may take a moment to go: a handful, never a slope.
		if i > n/10 && (g > goroutines+8 || f > descriptors+8 || c > children) {
			t.Fatalf("after %d sessions: %d goroutines, %d descriptors, %d children; after %d: %d, %d, %d", i+1, g, f, c, n/10+1, goroutines, descriptors, children)
		}
	}
}

func TestLabProcessesAreFlat(t *testing.T) {
	var goroutines, descriptors int
	for i := range 6 {
		l, _, err := StartLab(t.Context(), os.Args[0], t.TempDir()+"/ws")
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			l.Kill()
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		g, f, c := census(t)
		if i == 0 {
			goroutines, descriptors = g, f
		}
		if g > goroutines+2 || f > descriptors+2 || c > 0 {
			t.Fatalf("lab %d: %d goroutines (%d), %d descriptors (%d), %d children", i, g, goroutines, f, descriptors, c)
		}
	}
}
