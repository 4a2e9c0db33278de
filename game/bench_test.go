package game

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"blockworld-voice/evidence"
	"blockworld-voice/game/horizon"
	"blockworld-voice/game/lab"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/atomicfile"
)

// BenchmarkGuardedAction compares a guarded look-at with the bare round trip of its line on the same socket and the
// same machine. It splits what the guarded one takes longer in three:
//
//	%fsync  waiting for the disk: records that are durable when they return, with their few µs of JSON
//	%reads  the three fresh views, of a state and a status each, before the attempt, before the bytes and after the
//	        report: A4, S3 and S6 ask for them, and each is two round trips like the bare one
//	%own    all the rest: rendering, checks, the last look at the process, the send
//
// "contract" keeps no more than S4 demands: the attempt and its fence. "evidence" is the action as the program
// records it, from the stage's started mark through every event to the outcome and the receipt.
func BenchmarkGuardedAction(b *testing.B) {
	b.Run("contract", func(b *testing.B) { guarded(b, &plainBook{dir: b.TempDir()}) })
	b.Run("evidence", func(b *testing.B) { guarded(b, newEvidenceBook(b)) })
}

// keeper is a recorder with what belongs to an action around it.
type keeper interface {
	Recorder
	prepare(testing.TB)      // not a part of the action
	begin(testing.TB)        // before Do
	end(testing.TB, Outcome) // after Do
	finish(testing.TB)       // not a part of the action
	syncs() int              // how often an action waits for the disk, the fence included
}

func guarded(b *testing.B, k keeper) {
	g := lab.New(lab.Options{Speed: 1})
	defer g.Close()
	dir := b.TempDir()
	srv, err := g.ListenUnix(filepath.Join(dir, "c.sock"))
	if err != nil {
		b.Fatal(err)
	}
	defer srv.Close()
	c := &stopwatch{keeper: k}
	p := testProfile(b, dir, srv.Endpoint())
	s, err := Open(context.Background(), p, Options{StateDir: filepath.Join(dir, "state"), GameHome: dir, At: c.at})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	bare, err := horizon.Dial(context.Background(), p.Binding.Endpoint, p.Binding.Process)
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	*c = stopwatch{keeper: k}
	var whole, round time.Duration
	n := 0
	for b.Loop() {
		n++
		k.prepare(b)
		from := time.Now()
		if _, err := bare.Ask(context.Background(), horizon.LookAt{X: horizon.Centi(n % 1000)}, time.Second); err != nil {
			b.Fatal(err)
		}
		round += time.Since(from)
		from = time.Now()
		c.wait(func() { k.begin(b) })
		o := s.Do(context.Background(), grammar.LookAt{X: grammar.Coord(n % 1000), Y: 6400}, c)
		if o.Kind() != KindReported {
			b.Fatalf("%+v", o)
		}
		c.wait(func() { k.end(b, o) })
		whole += time.Since(from)
		k.finish(b)
		s.gate.Lock()
		s.used = 0
		s.gate.Unlock()
	}
	over := whole - round
	own := over - c.durable - c.reads
	share := func(d time.Duration) float64 { return 100 * float64(d) / float64(over) }
	b.ReportMetric(0, "ns/op") // it would count the preparations too
	b.ReportMetric(float64(round)/float64(n)/1e3, "µs-bare")
	b.ReportMetric(float64(whole)/float64(round), "×bare")
	b.ReportMetric(float64(k.syncs()), "fsyncs/op")
	b.ReportMetric(share(c.durable), "%fsync")
	b.ReportMetric(share(c.reads), "%reads")
	b.ReportMetric(share(own), "%own")
	b.ReportMetric(float64(own)/float64(n)/1e3, "µs-own")
	b.ReportMetric(100*float64(c.durable)/float64(c.durable+own), "%fsync-beside-reads")
}

// stopwatch sorts the time of an action.
type stopwatch struct {
	keeper
	durable, reads time.Duration
	from           time.Time     // of the piece under way
	before         time.Duration // durable until then
}

func (c *stopwatch) wait(f func()) {
	from := time.Now()
	f()
	c.durable += time.Since(from)
}

func (c *stopwatch) Attempt(a Attempt) (err error) {
	c.wait(func() { err = c.keeper.Attempt(a) })
	return err
}

func (c *stopwatch) Event(e Event) (err error) {
	c.wait(func() { err = c.keeper.Event(e) })
	return err
}

// at ends a piece. An event that was kept in it is counted already.
func (c *stopwatch) at(p Point) {
	piece := time.Since(c.from) - (c.durable - c.before)
	switch p {
	case PointFenced:
		c.durable += piece
	case PointChecked, PointRechecked, PointObserved:
		c.reads += piece
	}
	c.from, c.before = time.Now(), c.durable
}

// plainBook keeps an attempt whole or not at all, and events as they come.
type plainBook struct {
	dir    string
	events *os.File
}

func (k *plainBook) prepare(t testing.TB) {
	if k.events != nil {
		return
	}
	var err error
	if k.events, err = os.Create(filepath.Join(k.dir, "events")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.events.Close() })
}
func (*plainBook) begin(testing.TB)        {}
func (*plainBook) end(testing.TB, Outcome) {}
func (*plainBook) finish(testing.TB)       {}
func (*plainBook) syncs() int              { return 3 } // the attempt's file, its folder, the fence

func (k *plainBook) Attempt(a Attempt) error {
	return atomicfile.Write(filepath.Join(k.dir, "attempt.json"), []byte(a.Line))
}

func (k *plainBook) Event(e Event) error {
	_, err := k.events.WriteString(string(e.Kind) + "\n")
	return err
}

// evidenceBook keeps an action as the program does: an utterance's game stage.
type evidenceBook struct {
	store  *evidence.Store
	s      *evidence.Session
	u      *evidence.Utterance
	mark   evidence.Mark
	log    *evidence.Log
	run    RunID
	events int
}

func newEvidenceBook(t testing.TB) *evidenceBook {
	store, err := evidence.Open(filepath.Join(t.TempDir(), "evidence"))
	if err != nil {
		t.Fatal(err)
	}
	return &evidenceBook{store: store}
}

func must(t testing.TB, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

func (k *evidenceBook) prepare(t testing.TB) {
	var err error
	if k.s == nil {
		k.s, err = k.store.NewSession(time.Now())
		must(t, err)
		t.Cleanup(func() { _ = k.s.Close() })
	}
	k.u, err = k.s.Begin()
	must(t, err)
	for _, s := range []evidence.Stage{evidence.Capture, evidence.Transcribe, evidence.Grammar} {
		must(t, k.u.Skip(s, evidence.Skipped, "a benchmark"))
	}
	k.events = 0
}

func (k *evidenceBook) begin(t testing.TB) {
	var err error
	k.mark, err = k.u.BeginStage(evidence.Game)
	must(t, err)
	k.log, err = k.u.OpenLog(evidence.Game, evidence.EventsFile)
	must(t, err)
}

func (k *evidenceBook) Attempt(a Attempt) error {
	k.run = a.Run
	_, err := k.u.PutJSON(evidence.Game, evidence.AttemptFile, a)
	return err
}

func (k *evidenceBook) Event(e Event) error {
	k.events++
	return k.log.Append(e)
}

func (k *evidenceBook) end(t testing.TB, o Outcome) {
	_, err := k.u.PutJSON(evidence.Game, evidence.OutcomeFile, Record(k.run, o))
	must(t, err)
	must(t, k.u.PutReceipt(evidence.Receipt{Stage: evidence.Game, Verdict: evidence.Done, StartNS: k.mark.StartNS, EndNS: k.s.Elapsed(), WallStart: k.mark.WallStart}))
}

func (k *evidenceBook) finish(t testing.TB) {
	for _, s := range []evidence.Stage{evidence.Synth, evidence.Playback} {
		must(t, k.u.Skip(s, evidence.Skipped, "a benchmark"))
	}
	_, err := k.u.Seal()
	must(t, err)
}

// syncs: the stage's folder, the log's name and head, every event, attempt and outcome with their folder, the fence,
// the receipt with its folder.
func (k *evidenceBook) syncs() int { return 1 + 2 + k.events + 2*2 + 1 + 2 }
