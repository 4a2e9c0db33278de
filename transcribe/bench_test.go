package transcribe

import (
	"testing"
	"time"
)

// BenchmarkOwn measures what a decision costs beside the native library: own-ms a clip,
// and its share of the whole.
func BenchmarkOwn(b *testing.B) {
	e := engine(b, b.TempDir())
	req := request(b, "en/goto_10_64_m5.wav")
	if _, err := e.Transcribe(b.Context(), req); err != nil { // fills the silence table
		b.Fatal(err)
	}
	var native, all time.Duration
	for b.Loop() {
		t0 := time.Now()
		t, err := e.Transcribe(b.Context(), req)
		if err != nil {
			b.Fatal(err)
		}
		all += time.Since(t0)
		native += time.Duration(t.EncodeNS + t.DecodeNS)
	}
	b.ReportMetric(float64((all-native).Microseconds())/1000/float64(b.N), "own-ms")
	b.ReportMetric(100*float64(all-native)/float64(all), "own-%")
}
