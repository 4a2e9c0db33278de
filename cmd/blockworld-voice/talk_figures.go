package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"blockworld-voice/evidence"
	"blockworld-voice/internal/pipeline"
)

// figures are how long a person waited, over a session.
type figures struct {
	utterances int
	ready      []time.Duration // gesture to the first sample
	transcript []time.Duration // release to the transcript
	engine     []time.Duration // of that: the recogniser
	overhead   []time.Duration // release to the decision without tail and recogniser
	reply      []time.Duration // release to the first sample of the reply
	spoken     []time.Duration // of that: from the decision, without the game
}

func (f *figures) add(r *pipeline.Record) {
	f.utterances++
	t := r.Timing
	if t.Gesture.IsZero() || t.First.IsZero() {
		return
	}
	f.ready = append(f.ready, t.First.Sub(t.Gesture))
	if r.Transcript == nil || t.Release.IsZero() {
		return
	}
	engine := stageTime(r, evidence.Transcribe)
	f.transcript = append(f.transcript, t.Transcribed.Sub(t.Release))
	f.engine = append(f.engine, engine)
	f.overhead = append(f.overhead, t.Decided.Sub(t.Closed)-engine)
	if p := r.Playback; p != nil && !p.First.IsZero() {
		f.reply = append(f.reply, p.First.Sub(t.Release))
		f.spoken = append(f.spoken, p.First.Sub(t.Decided)-stageTime(r, evidence.Game))
	}
}

func stageTime(r *pipeline.Record, s evidence.Stage) time.Duration {
	for _, rc := range r.Trail {
		if rc.Stage == s {
			return time.Duration(rc.EndNS - rc.StartNS)
		}
	}
	return 0
}

// String is the session's summary: nothing without a recording.
func (f figures) String() string {
	var parts []string
	for _, c := range []struct {
		name string
		of   []time.Duration
	}{
		{"gesture to ready", f.ready}, {"release to transcript", f.transcript}, {"of it the recogniser", f.engine},
		{"closed microphone to decision without it", f.overhead}, {"release to reply", f.reply}, {"decision to reply without the game", f.spoken},
	} {
		if len(c.of) > 0 {
			parts = append(parts, fmt.Sprintf("%s %d/%d ms", c.name, percentile(c.of, 50).Milliseconds(), percentile(c.of, 95).Milliseconds()))
		}
	}
	s := count(f.utterances, "utterance")
	if len(parts) > 0 {
		s += "; p50/p95: " + strings.Join(parts, ", ")
	}
	return s
}

// percentile is the nearest rank.
func percentile(d []time.Duration, p int) time.Duration {
	s := slices.Sorted(slices.Values(d))
	i := (len(s)*p + 99) / 100
	return s[max(i-1, 0)]
}
