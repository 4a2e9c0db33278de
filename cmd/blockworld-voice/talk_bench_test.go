package main

import (
	"os"
	"testing"
	"time"

	"blockworld-voice/capture/recorder"
	"blockworld-voice/internal/lang"
	"blockworld-voice/internal/procgroup"
	"blockworld-voice/internal/soundtest"
	"blockworld-voice/synth"
	"blockworld-voice/synth/player"
)

// benchEnv is the sound server's environment for this process and what it starts.
func benchEnv(b *testing.B) {
	b.Helper()
	server := soundtest.Start(b)
	for _, v := range server.Env() {
		for i := range v {
			if v[i] == '=' {
				b.Setenv(v[:i], v[i+1:])
				break
			}
		}
	}
}

func report(b *testing.B, name string, d []time.Duration) {
	b.Helper()
	b.ReportMetric(float64(percentile(d, 50).Microseconds())/1000, "ms-p50-"+name)
	b.ReportMetric(float64(percentile(d, 95).Microseconds())/1000, "ms-p95-"+name)
}

// BenchmarkTakeOnASoundServer: from the gesture to the ready sign, and from the end of the tail to the closed microphone.
func BenchmarkTakeOnASoundServer(b *testing.B) {
	benchEnv(b)
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	r := recorder.New(recorder.Config{Start: procgroup.Piped(procgroup.Spec{Path: exe, Args: []string{recorderProcess}})})
	defer func() {
		if err := r.Close(); err != nil {
			b.Error(err)
		}
	}()
	if err := r.Warm(b.Context()); err != nil {
		b.Fatal(err)
	}
	var ready, closed []time.Duration
	for b.Loop() {
		kept, end := make(chan struct{}), make(chan recorder.Ending, 1)
		close(kept)
		take, err := r.Record(b.Context(), recorder.Gesture{At: time.Now(), Kept: kept, End: end}, func(p recorder.Progress) {
			if p.Ready {
				time.AfterFunc(300*time.Millisecond, func() { end <- recorder.Ending{Why: recorder.Released, At: time.Now()} })
			}
		})
		if err != nil {
			b.Fatal(err)
		}
		ready = append(ready, take.First.Sub(take.Gesture))
		closed = append(closed, take.Closed.Sub(take.Release)-recorder.DefaultTail)
	}
	report(b, "ready", ready)
	report(b, "closed", closed)
}

// BenchmarkReplyOnASoundServer: from the words of a reply to the first sample that the device asks for.
func BenchmarkReplyOnASoundServer(b *testing.B) {
	benchEnv(b)
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	p, conf, err := player.Program(exe, []string{playerProcess}, player.Pulse, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer conf.Close()
	voice := &synth.Espeak{}
	var first []time.Duration
	for b.Loop() {
		start := time.Now()
		said, err := voice.Speak(b.Context(), lang.EN, "Refused.")
		if err != nil {
			b.Fatal(err)
		}
		f, err := p.Play(b.Context(), said.Audio)
		if err != nil {
			b.Fatal(err)
		}
		first = append(first, f.Started.Sub(start))
	}
	report(b, "first", first)
}
