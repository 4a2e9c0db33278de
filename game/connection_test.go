package game

import (
	"errors"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"blockworld-voice/game/horizon"
	"blockworld-voice/game/lab"
	"blockworld-voice/grammar"
)

// relay stands between a session and its lab, counts the connections and can cut them all.
type relay struct {
	l     net.Listener
	mu    sync.Mutex
	conns []net.Conn
	made  int
	wg    sync.WaitGroup
}

func newRelay(t *testing.T, r *rig) *relay {
	t.Helper()
	path := filepath.Join(t.TempDir(), "r.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	target := r.profile.Binding.Endpoint.String()
	if r.profile.Binding.Endpoint, err = horizon.ParseEndpoint(path, ""); err != nil {
		t.Fatal(err)
	}
	y := &relay{l: l}
	y.wg.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("unix", target)
			if err != nil {
				_ = in.Close()
				continue
			}
			y.mu.Lock()
			y.made++
			y.conns = append(y.conns, in, out)
			y.mu.Unlock()
			for _, p := range [][2]net.Conn{{in, out}, {out, in}} {
				y.wg.Go(func() {
					_, _ = io.Copy(p[0], p[1])
					_ = p[0].Close()
				})
			}
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		y.cut()
		y.wg.Wait()
	})
	return y
}

func (y *relay) cut() {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, c := range y.conns {
		_ = c.Close()
	}
	y.conns = nil
}

func (y *relay) count() int {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.made
}

// An action has a connection of its own, which is made once: a second answer to an earlier action can't be taken for
// the answer to this one. The queries share another, which is made anew when the other side closed it.
// contract: S5
func TestEveryActionHasItsConnection(t *testing.T) {
	r := newRig(t, lab.Options{})
	y := newRelay(t, r)
	s := r.open()
	for i := range 3 {
		wantKind(t, s.Do(t.Context(), grammar.LookAt{X: grammar.Blocks(i), Y: 6400}, r.rec), KindReported)
	}
	if got := y.count(); got != 1+3 {
		t.Errorf("%d connections for three actions, want 4", got)
	}
	y.cut()
	wantKind(t, s.Do(t.Context(), grammar.LookAt{Y: 6400}, r.rec), KindReported)
	if got := y.count(); got != 6 {
		t.Errorf("%d connections after they were cut, want 6", got)
	}
	if got := len(r.effects()); got != 4 {
		t.Errorf("%d effects of four actions", got)
	}
}

// An attempt that can't be recorded leaves no connection behind.
// contract: S4
func TestRefusedAttemptHangsUp(t *testing.T) {
	r := newRig(t, lab.Options{})
	y := newRelay(t, r)
	s := r.open()
	r.rec.fail = errors.New("the disk is full")
	wantRefused(t, s.Do(t.Context(), grammar.LookAt{Y: 6400}, r.rec), Disarmed)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_ = y.l.Close()
	y.wg.Wait() // every connection is over, and the listener too
}
