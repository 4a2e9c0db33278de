package evidence

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// BenchmarkWrite is one whole utterance, durable at every step.
func BenchmarkWrite(b *testing.B) {
	s := must(Open(filepath.Join(b.TempDir(), "evidence")))
	e := newSession(b, s)
	for i := 0; b.Loop(); i++ {
		_, _, err := writeUtterance(e, i)
		noError(b, err)
	}
	noError(b, e.Close())
}

// BenchmarkVerify reports the time an utterance takes, and the largest heap seen, for a session of
// EVIDENCE_BENCH_UTTERANCES (1000): the heap must not depend on that number.
func BenchmarkVerify(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("EVIDENCE_BENCH_UTTERANCES"))
	if err != nil {
		n = 1000
	}
	s := must(Open(filepath.Join(b.TempDir(), "evidence")))
	s.disk = quickDisk{}
	dir := writeSession(b, s, n)
	stop, done := make(chan struct{}), make(chan uint64)
	go func() {
		var peak uint64
		for {
			select {
			case <-stop:
				done <- peak
				return
			case <-time.After(5 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}
		}
	}()
	for b.Loop() {
		clean(b, dir)
	}
	close(stop)
	b.ReportMetric(float64(<-done)/1e6, "MB-peak")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/utterance")
}
