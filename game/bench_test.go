package game

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

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

// BenchmarkGuardedAction compares a guarded look-at (admission, records, send, receipt)
// with the bare round trip of its line on the same socket. It reports the overhead as a
// ratio, in fsyncs of this disk, and the share of it that fsync alone explains.
func BenchmarkGuardedAction(b *testing.B) {
	g := lab.New(lab.Options{Speed: 1})
	defer g.Close()
	dir := b.TempDir()
	srv, err := g.ListenUnix(filepath.Join(dir, "c.sock"))
	if err != nil {
		b.Fatal(err)
	}
	defer srv.Close()
	p := testProfile(b, dir, srv.Endpoint())
	s, err := Open(context.Background(), p, Options{StateDir: filepath.Join(dir, "state"), GameHome: dir})
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
	var round, sync, guarded time.Duration
	n := 0
	for b.Loop() {
		n++
		began := time.Now()
		if _, err := bare.Ask(context.Background(), horizon.LookAt{X: horizon.Centi(n % 1000)}, time.Second); err != nil {
			b.Fatal(err)
		}
		round += time.Since(began)
		sync += recordSyncs(b, dir, f)
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
	b.ReportMetric(3*float64(over)/float64(sync), "fsyncs")
	b.ReportMetric(100*float64(sync)/float64(over), "%fsync")
}

// recordSyncs makes the three syncs of an action on the same disk and nothing else: the
// attempt's file, its folder, and the fence.
func recordSyncs(b *testing.B, dir string, f *os.File) time.Duration {
	b.Helper()
	t, err := os.Create(filepath.Join(dir, "probe"))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := t.WriteString("look-at 1 2 3\n"); err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	if err := t.Sync(); err != nil {
		b.Fatal(err)
	}
	spent := time.Since(began)
	if err := t.Close(); err != nil {
		b.Fatal(err)
	}
	if err := os.Rename(t.Name(), filepath.Join(dir, "probed")); err != nil {
		b.Fatal(err)
	}
	began = time.Now()
	if err := atomicfile.SyncDir(dir); err != nil {
		b.Fatal(err)
	}
	spent += time.Since(began)
	if _, err := f.WriteString("fence\n"); err != nil {
		b.Fatal(err)
	}
	began = time.Now()
	if err := unix.Fdatasync(int(f.Fd())); err != nil {
		b.Fatal(err)
	}
	return spent + time.Since(began)
}
