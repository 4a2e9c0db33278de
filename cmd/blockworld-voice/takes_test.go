package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"blockworld-voice/capture"
	"blockworld-voice/capture/recorder"
	"blockworld-voice/evidence"
	"blockworld-voice/game"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/lang"
	"blockworld-voice/internal/pcm"
	"blockworld-voice/internal/pipeline"
	"blockworld-voice/internal/procgroup"
)

// still is a companion that does as it is told.
type still struct{}

func (still) Limits() game.Limits {
	return game.Limits{Permitted: grammar.Kinds(), Min: [3]grammar.Coord{-100, -100, -100}, Max: [3]grammar.Coord{100, 100, 100}}
}

func (still) Do(context.Context, grammar.Command, game.Recorder) game.Outcome {
	return game.Reported{Detail: "done"}
}

// held is what a process holds.
type held struct{ files, goroutines, children, helperFiles, kilobytes, helperKilobytes int }

func measure(t *testing.T) held {
	t.Helper()
	runtime.GC()
	h := held{goroutines: runtime.NumGoroutine(), files: entries(t, "/proc/self/fd"), kilobytes: resident(t, os.Getpid())}
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range tasks {
		data, err := os.ReadFile(f)
		if err != nil {
			continue // a thread that ended
		}
		for _, pid := range strings.Fields(string(data)) {
			h.children++
			n, err := strconv.Atoi(pid)
			if err != nil {
				t.Fatal(err)
			}
			h.helperFiles += entries(t, filepath.Join("/proc", pid, "fd"))
			h.helperKilobytes += resident(t, n)
		}
	}
	return h
}

func entries(t *testing.T, dir string) int {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func resident(t *testing.T, pid int) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(data))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize() / 1024
}

// A thousand takes in one session, through the process with the microphone and the whole pipeline: what both
// processes hold stays what it was, and equal sound gives equal bits.
func TestAThousandTakes(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	given := pretended{Mic: true, Hears: "state"}
	rec := recorder.New(recorder.Config{Tail: time.Nanosecond, Start: procgroup.Piped(procgroup.Spec{
		Path: exe, Args: []string{recorderProcess}, Env: append(os.Environ(), given.env()),
	})})
	defer func() {
		if err := rec.Close(); err != nil {
			t.Error(err)
		}
	}()
	store, err := evidence.Open(filepath.Join(t.TempDir(), "evidence"))
	if err != nil {
		t.Fatal(err)
	}
	session, err := pipeline.Open(pipeline.Config{Store: store, Engine: pretendedEars{given}, Languages: []lang.Language{lang.EN}})
	if err != nil {
		t.Fatal(err)
	}
	session.Bind(still{})
	var first []int16
	var speech []byte
	one := func(i int) {
		kept, end := make(chan struct{}), make(chan recorder.Ending, 1)
		close(kept)
		blocks := 0
		var take *recorder.Take
		r, err := session.Do(t.Context(), pipeline.Live{Record: func(ctx context.Context) (*recorder.Take, error) {
			var err error
			take, err = rec.Record(ctx, recorder.Gesture{At: time.Now(), Kept: kept, End: end}, func(recorder.Progress) {
				if blocks++; blocks == 2 {
					end <- recorder.Ending{Why: recorder.Released, At: time.Now()}
				}
			})
			return take, err
		}})
		if err != nil {
			t.Fatalf("take %d: %v", i, err)
		}
		if err := r.Check(); err != nil {
			t.Fatalf("take %d: %v", i, err)
		}
		if rec.State() != recorder.Off || len(take.Samples) < 320 {
			t.Fatalf("take %d: %v, %d samples", i, rec.State(), len(take.Samples))
		}
		// Equal sound, equal bits: as recorded, and as resampled by a state of its own.
		samples := take.Samples[:320]
		clip, err := capture.Decode("take", pcm.WAV(floats(samples), 44100))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first, speech = append(first, samples...), clip.SpeechWAV()
		}
		for j := range first {
			if samples[j] != first[j] {
				t.Fatalf("take %d differs at sample %d", i, j)
			}
		}
		if !bytes.Equal(speech, clip.SpeechWAV()) {
			t.Fatalf("take %d is resampled differently", i)
		}
	}
	for i := range 100 {
		one(i)
	}
	before := measure(t)
	for i := range 900 {
		one(100 + i)
	}
	after := measure(t)
	t.Logf("after 100 takes %+v, after 1000 %+v", before, after)
	if after.children != before.children || before.children != 1 {
		t.Errorf("processes: %d, then %d", before.children, after.children)
	}
	if after.files > before.files+2 || after.helperFiles > before.helperFiles+2 || after.goroutines > before.goroutines+2 {
		t.Errorf("%+v became %+v", before, after)
	}
	const most = 24 << 10 // a collector's slack, in kB; a leak of one take's samples 900 times is more
	if after.kilobytes > before.kilobytes+most || after.helperKilobytes > before.helperKilobytes+most {
		t.Errorf("memory: %+v became %+v", before, after)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	rep, err := evidence.Verify(store.Root())
	if err != nil || !rep.OK() || rep.Utterances != 1000 {
		t.Errorf("%+v, %v", rep, err)
	}
}

func floats(s []int16) []float32 {
	out := make([]float32, len(s))
	for i, v := range s {
		out[i] = float32(v) / 32768
	}
	return out
}
