package game

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"blockworld-voice/game/horizon"
	"blockworld-voice/game/lab"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/procgroup"
)

// The test program is also the lab and the driver that tests start as children.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "lab" {
		os.Exit(lab.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) > 2 && os.Args[1] == "ledger-driver" {
		os.Exit(runDriver(os.Args[2]))
	}
	goleak.VerifyTestMain(m)
}

// rig is a lab in this process with a profile that fits it.
type rig struct {
	t       *testing.T
	g       *lab.Game
	srv     *lab.Server
	profile Profile
	opt     Options
	rec     *recorder
}

// brief is a binding's timeout in tests that have to wait for it: short, and long enough
// for a busy machine to answer.
const brief = 1500 * time.Millisecond

// speed lets a lab in real time get on.
const speed = 40

func newRig(t *testing.T, o lab.Options) *rig {
	t.Helper()
	if o.Speed == 0 {
		o.Speed = speed
	}
	if o.Planks == 0 {
		o.Planks = 16
	}
	g := lab.New(o)
	t.Cleanup(g.Close)
	dir := t.TempDir()
	srv, err := g.ListenUnix(filepath.Join(dir, "c.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	srv.Late = 30 * time.Second
	r := &rig{t: t, g: g, srv: srv, rec: &recorder{}}
	r.profile = testProfile(t, dir, srv.Endpoint())
	if o.Link != nil {
		r.profile.Binding.Mode, r.profile.Binding.Server, r.profile.Binding.World = Remote, o.Link.Address(), o.World
	}
	r.opt = Options{StateDir: filepath.Join(dir, "state"), GameHome: filepath.Join(dir, "home")}
	return r
}

func testProfile(t testing.TB, dir, endpoint string) Profile {
	t.Helper()
	self, err := procgroup.Self()
	if err != nil {
		t.Fatal(err)
	}
	e, err := horizon.ParseEndpoint(endpoint, "")
	if err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(dir, "workspace")
	if err := os.MkdirAll(ws, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(ws, 0o700); err != nil {
		t.Fatal(err)
	}
	return Profile{
		Binding: Binding{Endpoint: e, Process: self, Name: "companion", Dimension: "minecraft:overworld", Mode: SinglePlayerLab, World: "Lab World", Timeout: 3 * time.Second},
		Policy: Policy{Actions: []Action{ActGoTo, ActLookAt, ActSay, ActPlace}, Min: [3]grammar.Coord{-51200, -6400, -51200}, Max: [3]grammar.Coord{51200, 31900, 51200},
			MaxDistance: 64, ActionSeconds: 30, MaxActions: 50, Expires: time.Now().Add(time.Hour).UTC().Truncate(time.Second)},
		Workspace: ws, CheckoutRoots: []string{filepath.Join(dir, "checkout")},
	}
}

func (r *rig) open() *Session {
	r.t.Helper()
	s, err := Open(r.t.Context(), r.profile, r.opt)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = s.Close() })
	return s
}

// effects is the journal without what merely ends.
func (r *rig) effects() []lab.Entry {
	var out []lab.Entry
	for _, e := range r.g.Journal() {
		switch e.Effect {
		case lab.EffectWalk, lab.EffectTurn, lab.EffectSay, lab.EffectPlace:
			out = append(out, e)
		}
	}
	return out
}

// recorder keeps in memory what a recorder keeps on disk.
type recorder struct {
	mu       sync.Mutex
	attempts []Attempt
	events   []Event
	fail     error // of the next attempt
	failNote error // of every event
	onTry    func()
}

func (r *recorder) Attempt(a Attempt) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		return r.fail
	}
	r.attempts = append(r.attempts, a)
	if r.onTry != nil {
		r.onTry()
	}
	return nil
}

func (r *recorder) Event(e Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	return r.failNote
}

func (r *recorder) kinds() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, e := range r.events {
		out = append(out, string(e.Kind))
	}
	return strings.Join(out, " ")
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.attempts)
}

func goTo(x, y, z int) grammar.GoTo {
	return grammar.GoTo{X: grammar.Blocks(x), Y: grammar.Blocks(y), Z: grammar.Blocks(z)}
}

func wantRefused(t *testing.T, o Outcome, r Reason) {
	t.Helper()
	if got, ok := o.(Refused); !ok || got.Reason != r {
		t.Fatalf("%T %+v, want refused: %s", o, o, r)
	}
}

func wantKind(t *testing.T, o Outcome, k OutcomeKind) {
	t.Helper()
	if o.Kind() != k {
		t.Fatalf("%T %+v, want %s", o, o, k)
	}
}
