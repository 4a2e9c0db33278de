package build_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"blockworld-voice/game"
	"blockworld-voice/game/behavior"
	"blockworld-voice/game/build"
	"blockworld-voice/game/lab"
	"blockworld-voice/internal/procgroup"
)

// The ledger of tasks: programs that wait, follow and build on labs with random faults, interrupted and killed at
// random points; then what was recorded is held against what the labs say happened. The settings are those of the
// ledger of single commands: LEDGER_INSTRUCTIONS (here: orders), LEDGER_SECONDS, LEDGER_WORKERS, LEDGER_SEED.

func setting(t *testing.T, name string, or int) int {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		return or
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		t.Fatalf("%s=%q is no number", name, v)
	}
	return n
}

// contract: S4
// contract: S5
// contract: B1
// contract: B5
func TestLedgerOfTasks(t *testing.T) {
	want, limit, seed := setting(t, "LEDGER_INSTRUCTIONS", 200), time.Duration(setting(t, "LEDGER_SECONDS", 8))*time.Second, uint64(setting(t, "LEDGER_SEED", 20261130))
	var tries, kills, sessions, clients atomic.Int64
	began := time.Now()
	var wg sync.WaitGroup
	for worker := range setting(t, "LEDGER_WORKERS", 3) {
		wg.Go(func() {
			for round := uint64(0); tries.Load() < int64(want) && time.Since(began) < limit && !t.Failed(); round++ {
				l := &ledger{t: t, end: began.Add(limit), seed: seed + uint64(worker)*1_000_003 + round*4_000_037, dir: t.TempDir()}
				l.client()
				tries.Add(int64(l.attempts))
				kills.Add(int64(l.killed))
				sessions.Add(int64(l.sessions))
				clients.Add(1)
			}
		})
	}
	wg.Wait()
	t.Logf("%d attempts in %d sessions with %d clients, %d programs killed, %.0f s", tries.Load(), sessions.Load(), clients.Load(), kills.Load(), time.Since(began).Seconds())
	if tries.Load() == 0 {
		t.Fatal("nothing was tried")
	}
}

type ledger struct {
	t                          *testing.T
	end                        time.Time
	seed                       uint64
	dir                        string
	attempts, killed, sessions int
}

func (l *ledger) fail(format string, a ...any) {
	l.t.Helper()
	l.t.Errorf("LEDGER_SEED=%d (one client): %s", l.seed, fmt.Sprintf(format, a...))
}

func (l *ledger) client() {
	rng := rand.New(rand.NewPCG(l.seed, 1))
	ws, other, state, log := filepath.Join(l.dir, "ws"), filepath.Join(l.dir, "other"), filepath.Join(l.dir, "state"), filepath.Join(l.dir, "log")
	if err := os.MkdirAll(log, 0o700); err != nil {
		l.t.Fatal(err)
	}
	speed := strconv.Itoa(ledgerSpeed)
	more := []string{"--serve", "0", "--speed", speed, "--lines", filepath.Join(log, "lines.jsonl"), "--late", "600ms", "--planks", "64"}
	for range rng.IntN(4) {
		more = append(more, "--fault", fault(rng).String())
	}
	bot, p, err := game.StartLab(l.t.Context(), os.Args[0], ws, more...)
	if err != nil {
		l.fail("%v", err)
		return
	}
	defer bot.Close()
	person, _, err := game.StartLab(l.t.Context(), os.Args[0], other, "--join", p.Binding.Server, "--name", "person", "--speed", speed)
	if err != nil {
		l.fail("%v", err)
		return
	}
	defer person.Close()
	for program := range 4 {
		select {
		case <-bot.Done():
			l.compare(ws, state, log)
			return
		default:
		}
		if program > 0 && time.Now().After(l.end) {
			break
		}
		d := drive{Dir: ws, Target: other, State: state, Log: log, Seed: rng.Uint64(), Count: 1 + rng.IntN(12)}
		if accepted := lines[build.Plan](l, log, "accepted.jsonl"); len(accepted) > 0 {
			d.Plan = &accepted[len(accepted)-1]
		}
		if rng.IntN(3) > 0 {
			d.Kill, d.KillNth = game.Points()[rng.IntN(len(game.Points()))], 1+rng.IntN(4)
		}
		config, err := json.Marshal(d)
		if err != nil {
			l.t.Fatal(err)
		}
		proc, err := procgroup.Start(l.t.Context(), procgroup.Spec{Path: os.Args[0], Args: []string{"task-driver", string(config)}, Stderr: os.Stderr})
		if err != nil {
			l.fail("%v", err)
			return
		}
		if err := proc.Wait(); err != nil {
			if l.killed++; d.Kill == "" {
				l.fail("a driver failed: %v", err)
				return
			}
		}
		if rng.IntN(3) > 0 {
			if _, err := game.Reconcile(state); err != nil {
				l.fail("%v", err)
				return
			}
		}
	}
	if err := bot.Close(); err != nil {
		l.fail("%v", err)
	}
	l.compare(ws, state, log)
}

func fault(rng *rand.Rand) lab.Fault {
	kinds := lab.Kinds()
	f := lab.Fault{Kind: kinds[rng.IntN(len(kinds))], N: 1 + rng.IntN(20)}
	if rng.IntN(3) == 0 {
		f.Word = []string{"state", "status", "stop", "goto", "place", "block", "inventory"}[rng.IntN(7)]
	}
	if f.Kind == lab.StopIgnored {
		f.Word = "stop"
	}
	return f
}

// tally is what is known of one line of control.
type tally struct {
	attempts, mayHave, reported, placed int // attempts; those that may have been sent; reported; seen to be placed
	came, ok, effects                   int
	command                             string
}

// compare holds the records against the lab's journal. A waypoint may come twice, so lines are counted.
func (l *ledger) compare(ws, state, log string) {
	lost, err := game.Recover(state)
	if err != nil {
		l.fail("%v", err)
	}
	recovered := map[game.RunID]bool{}
	for _, r := range lost {
		recovered[r.Run] = true
	}
	for _, s := range lines[keptSession](l, log, "sessions.jsonl") {
		if s.Opened {
			l.sessions++
		}
		for _, r := range s.Recovered {
			if recovered[r] {
				l.fail("run %s was recovered twice", r)
			}
			recovered[r] = true
		}
	}
	outcome := map[game.RunID]keptOutcome{}
	for _, o := range lines[keptOutcome](l, log, "outcomes.jsonl") {
		outcome[o.Run] = o
	}
	all := map[string]*tally{}
	of := func(line string) *tally {
		if all[line] == nil {
			all[line] = &tally{}
		}
		return all[line]
	}
	runs := map[game.RunID]bool{}
	for _, a := range lines[game.Attempt](l, log, "attempts.jsonl") {
		l.attempts++
		if runs[a.Run] {
			l.fail("run %s was tried twice", a.Run)
		}
		runs[a.Run] = true
		n := of(a.LineSHA256.String())
		n.attempts, n.command = n.attempts+1, a.Command
		o, settled := outcome[a.Run]
		kind := o.Kind
		if !settled {
			if kind, err = game.Fate(state, a.Run); err != nil {
				l.fail("%v", err)
			}
		}
		if kind != game.KindRefused {
			n.mayHave++
		}
		if kind == game.KindReported {
			n.reported++
		}
		if o.Did == behavior.DidPlace {
			n.placed++
		}
		if recovered[a.Run] && kind != game.KindUnknown {
			l.fail("%s was recovered and is %s", a.Command, kind)
		}
	}
	for _, n := range lines[lab.LineNote](l, log, "lines.jsonl") {
		if n.OK {
			of(n.Line).ok++
		} else {
			of(n.Line).came++
		}
	}
	for _, e := range lines[lab.Entry](l, ws, "journal.jsonl") {
		switch e.Effect {
		case lab.EffectWalk, lab.EffectTurn, lab.EffectSay, lab.EffectPlace:
			of(e.Line).effects++
		}
	}
	for line, n := range all {
		switch {
		case n.attempts == 0:
			l.fail("a line was sent without an attempt: %s, %+v", line, n)
		case n.came > n.attempts:
			l.fail("%s was sent %d times in %d attempts", n.command, n.came, n.attempts)
		case n.effects > n.mayHave:
			l.fail("%s had %d effects, %d attempts were not refused", n.command, n.effects, n.mayHave)
		case n.reported > n.ok:
			l.fail("%s was reported %d times, the client said ok %d times", n.command, n.reported, n.ok)
		case n.placed > n.effects:
			l.fail("%s was seen to be placed %d times and was %d times", n.command, n.placed, n.effects)
		}
	}
	plans := map[string]bool{}
	for _, p := range lines[build.Plan](l, log, "accepted.jsonl") {
		if plans[p.Digest.String()] {
			l.fail("the plan %s was accepted twice", p.Digest)
		}
		plans[p.Digest.String()] = true
	}
}

// lines reads a file of JSON lines; a torn last line is dropped, a missing file is empty.
func lines[T any](l *ledger, dir, name string) []T {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return nil
	}
	defer f.Close()
	var out []T
	for in := bufio.NewReader(f); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return out
		}
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			l.fail("%s: %v in %q", name, err, line)
			return out
		}
		out = append(out, v)
	}
}
