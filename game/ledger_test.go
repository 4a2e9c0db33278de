package game

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

	"blockworld-voice/game/lab"
	"blockworld-voice/internal/procgroup"
)

// The ledger test drives labs that have random faults with programs that are killed at
// random points, and then holds what we recorded against what the labs say happened.
//
//	LEDGER_INSTRUCTIONS  how many commands at least (default: a few hundred)
//	LEDGER_SECONDS       stop after so long (default 8)
//	LEDGER_WORKERS       how many clients at once (default 4)
//	LEDGER_SEED          the seed (default: a fixed one); a failure prints the one of its client

const (
	ledgerTimeout = 400 * time.Millisecond
	ledgerAction  = 2 * time.Second // of the game's time; the labs run faster
	ledgerSpeed   = 200
)

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

// contract: S3
// contract: S4
// contract: S5
// contract: O2
func TestLedger(t *testing.T) {
	want, limit, seed := setting(t, "LEDGER_INSTRUCTIONS", 600), time.Duration(setting(t, "LEDGER_SECONDS", 8))*time.Second, uint64(setting(t, "LEDGER_SEED", 20261130))
	var did, clients, kills, opened atomic.Int64
	began := time.Now()
	var wg sync.WaitGroup
	for worker := range setting(t, "LEDGER_WORKERS", 4) {
		wg.Go(func() {
			for round := uint64(0); did.Load() < int64(want) && time.Since(began) < limit && !t.Failed(); round++ {
				l := &ledger{t: t, end: began.Add(limit), seed: seed + uint64(worker)*1_000_003 + round*4_000_037, dir: t.TempDir()}
				l.client()
				did.Add(int64(l.commands))
				kills.Add(int64(l.killed))
				opened.Add(int64(l.sessions))
				clients.Add(1)
			}
		})
	}
	wg.Wait()
	t.Logf("%d instructions in %d sessions with %d clients, %d programs killed, %.0f s", did.Load(), opened.Load(), clients.Load(), kills.Load(), time.Since(began).Seconds())
	if did.Load() == 0 || kills.Load() == 0 && limit >= 60*time.Second {
		t.Fatal("nothing was tried")
	}
}

// ledger is one client generation and all programs that drove it.
type ledger struct {
	t        *testing.T
	end      time.Time // no other program is started after it
	seed     uint64
	dir      string
	commands int
	killed   int
	sessions int
	last     string // what the last program was and did
	dirty    bool   // the last program left the client interrupted or unknown
}

func (l *ledger) fail(format string, a ...any) {
	l.t.Helper()
	l.t.Errorf("LEDGER_SEED=%d (one client): %s", l.seed, fmt.Sprintf(format, a...))
}

// client runs one lab with its faults, several programs one after the other, and the comparison.
func (l *ledger) client() {
	rng := rand.New(rand.NewPCG(l.seed, 1))
	ws, state, log := filepath.Join(l.dir, "ws"), filepath.Join(l.dir, "state"), filepath.Join(l.dir, "log")
	if err := os.MkdirAll(log, 0o700); err != nil {
		l.t.Fatal(err)
	}
	more := []string{"--speed", strconv.Itoa(ledgerSpeed), "--lines", filepath.Join(log, "lines.jsonl"), "--late", "600ms"}
	for range rng.IntN(5) {
		more = append(more, "--fault", randomFault(rng).String())
	}
	proc, _, err := StartLab(l.t.Context(), os.Args[0], ws, more...)
	if err != nil {
		l.fail("%v", err)
		return
	}
	defer proc.Close()
	for program := range 6 {
		select {
		case <-proc.Done(): // a fault killed it: this client generation is over
			l.compare(ws, state, log)
			return
		default:
		}
		if program > 0 && time.Now().After(l.end) {
			break
		}
		d := drive{Dir: ws, State: state, Log: log, Seed: rng.Uint64(), First: program * 100, Count: 1 + rng.IntN(30)}
		if rng.IntN(3) > 0 {
			d.Kill, d.KillNth = Points()[rng.IntN(len(Points()))], 1+rng.IntN(4)
		}
		if !l.program(d, proc) {
			return
		}
		if l.dirty && rng.IntN(3) > 0 {
			if _, err := Reconcile(state); err != nil {
				l.fail("%v", err)
				return
			}
			l.dirty = false
		}
	}
	if err := proc.Close(); err != nil {
		l.fail("%v", err)
	}
	l.compare(ws, state, log)
}

func randomFault(rng *rand.Rand) lab.Fault {
	kinds := lab.Kinds()
	f := lab.Fault{Kind: kinds[rng.IntN(len(kinds))], N: 1 + rng.IntN(25)}
	if rng.IntN(4) == 0 {
		f.Word = []string{"state", "status", "stop", "goto", "chat"}[rng.IntN(5)]
	}
	if f.Kind == lab.StopIgnored {
		f.Word = "stop"
	}
	return f
}

// program runs one driver to its end and looks at how it left the client.
func (l *ledger) program(d drive, proc *LabProcess) bool {
	config, err := json.Marshal(d)
	if err != nil {
		l.t.Fatal(err)
	}
	before, outcomes := len(readLines[keptSession](l, d.Log, "sessions.jsonl")), len(readLines[keptOutcome](l, d.Log, "outcomes.jsonl"))
	p, err := procgroup.Start(l.t.Context(), procgroup.Spec{Path: os.Args[0], Args: []string{"ledger-driver", string(config)}, Stderr: os.Stderr})
	if err != nil {
		l.fail("%v", err)
		return false
	}
	werr := p.Wait()
	said := readLines[keptSession](l, d.Log, "sessions.jsonl")[before:]
	made := readLines[keptOutcome](l, d.Log, "outcomes.jsonl")[outcomes:]
	l.commands += len(made)
	opened := len(said) > 0 && said[0].Opened
	closed := len(said) > 1 && said[1].Closed
	killed := werr != nil
	if killed {
		l.killed++
		l.commands++ // the one that it died in, if any
	}
	if opened {
		l.sessions++
	}
	if killed && d.Kill == "" {
		l.fail("a driver failed: %v", werr)
		return false
	}
	if opened && l.dirty {
		l.fail("a session was opened on a client that was left interrupted or unknown, without reconcile")
	}
	if !opened && !killed && !l.dirty && said[0].Reason == Disarmed.String() {
		l.fail("a clean client was refused as left unclean (after %s)", l.last)
	}
	l.last = fmt.Sprintf("%+v, killed %v, said %+v, made %+v", d, killed, said, made)
	// Between these two points the record stands and the driver has not said that it opened.
	owned := opened || killed && (d.Kill == PointOwned || d.Kill == PointOpened)
	if owned && !closed {
		l.dirty = true
	}
	for _, o := range made {
		if o.Kind == KindUnknown {
			l.dirty = true
		}
	}
	return true
}

// compare holds the records against the lab's journal.
func (l *ledger) compare(ws, state, log string) {
	lost, err := Recover(state)
	if err != nil {
		l.fail("%v", err)
	}
	again, err := Recover(state)
	if err != nil || len(again) != 0 {
		l.fail("a lost run was reported twice: %v %v", again, err)
	}
	recovered := map[RunID]bool{}
	for _, r := range lost {
		recovered[r.Run] = true
	}
	for _, s := range readLines[keptSession](l, log, "sessions.jsonl") {
		for _, r := range s.Recovered {
			if recovered[r] {
				l.fail("run %s was recovered twice", r)
			}
			recovered[r] = true
		}
	}
	outcome := map[RunID]keptOutcome{}
	for _, o := range readLines[keptOutcome](l, log, "outcomes.jsonl") {
		if o.Run != "" {
			outcome[o.Run] = o
		}
	}
	durable := map[RunID]int64{}
	for _, d := range readLines[struct {
		Run RunID `json:"run"`
		At  int64 `json:"at"`
	}](l, log, "durable.jsonl") {
		durable[d.Run] = d.At
	}
	type effect struct {
		lab.Entry
		At int64 `json:"at"`
	}
	effects := map[string][]effect{}
	for _, e := range readLines[effect](l, ws, "journal.jsonl") {
		switch e.Effect {
		case lab.EffectWalk, lab.EffectTurn, lab.EffectSay, lab.EffectPlace:
			effects[e.Line] = append(effects[e.Line], e)
		}
	}
	came, ok := map[string]int{}, map[string]bool{}
	for _, n := range readLines[lab.LineNote](l, log, "lines.jsonl") {
		if n.OK {
			ok[n.Line] = true
		} else {
			came[n.Line]++
		}
	}
	byLine := map[string]RunID{}
	for _, a := range readLines[Attempt](l, log, "attempts.jsonl") {
		line := a.LineSHA256.String()
		if _, twice := byLine[line]; twice {
			l.fail("two attempts at one line")
		}
		byLine[line] = a.Run
		o, settled := outcome[a.Run]
		kind := o.Kind
		if !settled {
			if kind, err = Fate(state, a.Run); err != nil {
				l.fail("%v", err)
			}
		}
		n := effects[line]
		switch {
		case came[line] > 1:
			l.fail("%s was sent %d times", a.Command, came[line])
		case len(n) > 1:
			l.fail("%s had %d effects", a.Command, len(n))
		case kind == KindRefused && len(n) > 0:
			l.fail("%s was refused and had an effect", a.Command)
		case kind == KindReported && !ok[line]:
			l.fail("%s was reported without the client's ok", a.Command)
		case settled && recovered[a.Run] && o.Kind != KindUnknown:
			l.fail("%s has the outcome %s and was recovered as unknown", a.Command, o.Kind)
		case recovered[a.Run] && kind != KindUnknown:
			l.fail("%s was recovered and is %s", a.Command, kind)
		case len(n) == 1 && durable[a.Run] > 0 && n[0].At < durable[a.Run]-int64(time.Millisecond):
			l.fail("%s had its effect before its attempt was durable", a.Command)
		}
	}
	for line := range effects {
		if _, there := byLine[line]; !there {
			l.fail("an effect without an attempt: %+v", effects[line])
		}
	}
	for line := range came {
		if _, there := byLine[line]; !there {
			l.fail("a line was sent without an attempt: %s", line)
		}
	}
}

// readLines reads a file of JSON lines; a torn last line is dropped, a missing file is empty.
func readLines[T any](l *ledger, dir, name string) []T {
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
