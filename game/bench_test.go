package game

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"blockworld-voice/game/horizon"
	"blockworld-voice/game/lab"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/atomicfile"
)

// diskBook is a recorder that keeps an attempt as the evidence does: whole or not at all.
type diskBook struct {
	dir    string
	events *os.File
}

func (b *diskBook) Attempt(a Attempt) error {
	return atomicfile.Write(filepath.Join(b.dir, "attempt.json"), []byte(a.Line))
}

func (b *diskBook) Event(e Event) error {
	_, err := b.events.WriteString(string(e.Kind) + "\n")
	return err
}

// syncs is how often a guarded action waits for the disk: the attempt's file, its folder, the fence.
const syncs = 3

// BenchmarkGuardedAction compares a guarded look-at (admission, records, send, receipt)
// with the bare round trip of its line on the same socket. It reports the whole as a
// multiple of the bare one, and which share of the overhead goes into the three durable
// writes: the rest is four reads of the client, a connection and our own work.
func BenchmarkGuardedAction(b *testing.B) {
	g := lab.New(lab.Options{Speed: 1})
	defer g.Close()
	dir := b.TempDir()
	srv, err := g.ListenUnix(filepath.Join(dir, "c.sock"))
	if err != nil {
		b.Fatal(err)
	}
	defer srv.Close()
	var durable, guarded, round time.Duration
	var from time.Time
	at := func(p Point) {
		switch p {
		case PointBeforeDisk:
			from = time.Now()
		case PointFenced:
			durable += time.Since(from)
		}
	}
	p := testProfile(b, dir, srv.Endpoint())
	s, err := Open(context.Background(), p, Options{StateDir: filepath.Join(dir, "state"), GameHome: dir, At: at})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	f, err := os.Create(filepath.Join(dir, "events"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	book := &diskBook{dir: dir, events: f}
	bare, err := horizon.Dial(context.Background(), p.Binding.Endpoint, p.Binding.Process)
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	n := 0
	for b.Loop() {
		n++
		began := time.Now()
		if _, err := bare.Ask(context.Background(), horizon.LookAt{X: horizon.Centi(n % 1000)}, time.Second); err != nil {
			b.Fatal(err)
		}
		round += time.Since(began)
		began = time.Now()
		if o := s.Do(context.Background(), grammar.LookAt{X: grammar.Coord(n % 1000), Y: 6400}, book); o.Kind() != KindReported {
			b.Fatalf("%+v", o)
		}
		guarded += time.Since(began)
		s.gate.Lock()
		s.used = 0
		s.gate.Unlock()
	}
	over := guarded - round
	b.ReportMetric(float64(guarded)/float64(round), "×bare")
	b.ReportMetric(syncs, "fsyncs/op")
	b.ReportMetric(100*float64(durable)/float64(over), "%durable")
	b.ReportMetric(float64(over-durable)/float64(n)/1e3, "µs-rest/op")
}
