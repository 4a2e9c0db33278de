package recorder

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"blockworld-voice/capture"
	"blockworld-voice/capture/mic"
)

// contract: V2
func TestATakeIsBetweenItsGestures(t *testing.T) {
	g, r := newRig(t, mic.Script{Device: desk})
	if err := r.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(30 * time.Millisecond)
	if n := g.host.Opened.Load() + g.host.Blocks.Load(); n != 0 {
		t.Fatalf("%d streams and blocks before the gesture", n)
	}
	take := mustHold(t, r, 200*time.Millisecond)
	read := g.host.Blocks.Load()
	time.Sleep(50 * time.Millisecond)
	if n := g.host.Blocks.Load(); n != read || g.host.Running.Load() != 0 {
		t.Errorf("%d blocks were read after the take", n-read)
	}
	// The tail after the release belongs to it.
	if s := take.Last.Sub(take.Release); s < 40*time.Millisecond {
		t.Errorf("the last block came %v after the release", s)
	}
	if s := take.Seconds(); s < 0.24 || s > 1 {
		t.Errorf("%v s", s)
	}
	for i, at := range []time.Time{take.Opened, take.First, take.Release, take.Last, take.Closed} {
		if before := []time.Time{take.Gesture, take.Opened, take.First, take.Release, take.Last}[i]; at.Before(before.Add(-time.Millisecond)) {
			t.Errorf("time %d is before the one before it: %+v", i, take)
		}
	}
	if take.Device != desk || take.Rate != 48000 || take.Zeros || take.Overflows+take.Dropped != 0 {
		t.Errorf("%+v", take)
	}
	clip, err := capture.Decode("take", take.WAV())
	if err != nil || clip.Frames != len(take.Samples) {
		t.Fatalf("%v, %d frames of %d", err, clip.Frames, len(take.Samples))
	}
}

// The ring is there only while the gesture is armed, and what a tap recorded is gone.
func TestTapLeavesNothing(t *testing.T) {
	_, r := newRig(t, mic.Script{Device: desk})
	for _, ms := range []time.Duration{20, 100, 240} {
		take, err := hold(t, r, ms*time.Millisecond, Tapped)
		if err != nil || take.End != Tapped || len(take.Samples) != 0 {
			t.Errorf("%d ms: %v, %d samples, %v", ms, take.End, len(take.Samples), err)
		}
	}
}

func TestRingIsPartOfTheTake(t *testing.T) {
	_, r := newRig(t, mic.Script{Device: desk})
	kept, end := make(chan struct{}), make(chan Ending, 1)
	take, err := r.Record(t.Context(), Gesture{At: time.Now(), Kept: kept, End: end}, func(p Progress) {
		if p.Ready {
			time.AfterFunc(100*time.Millisecond, func() { close(kept) })
			time.AfterFunc(200*time.Millisecond, func() { end <- Ending{Released, time.Now()} })
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 480 {
		if take.Samples[i] != mic.Tone(i, 48000) {
			t.Fatalf("sample %d is not the first that the device gave", i)
		}
	}
}

func TestRates(t *testing.T) {
	for _, c := range []struct {
		name   string
		script mic.Script
		rate   int
		passed []int
	}{
		{"refuses 16 kHz", mic.Script{Device: mic.Device{Name: "a", Default: true, Rate: 16000}, Rates: []int{48000}}, 48000, []int{16000}},
		{"44.1 kHz only", mic.Script{Device: mic.Device{Name: "a", Default: true, Rate: 48000}, Rates: []int{44100}}, 44100, []int{48000}},
		{"names no rate", mic.Script{Device: mic.Device{Name: "a", Default: true}, Rates: []int{32000}}, 32000, []int{48000, 44100}},
		{"16 kHz only", mic.Script{Device: mic.Device{Name: "a", Default: true, Rate: 16000}}, 16000, nil},
	} {
		_, r := newRig(t, c.script)
		take := mustHold(t, r, 100*time.Millisecond)
		var passed []int
		for _, p := range take.Passed {
			passed = append(passed, p.Rate)
		}
		if take.Rate != c.rate || !slices.Equal(passed, c.passed) {
			t.Errorf("%s: %d Hz, passed over %v", c.name, take.Rate, passed)
		}
		clip, err := capture.Decode("take", take.WAV())
		if err != nil {
			t.Fatal(err)
		}
		if want := (2*len(take.Samples)*16000 + c.rate) / (2 * c.rate); len(clip.Samples) != want {
			t.Errorf("%s: %d samples at 16 kHz, want %d", c.name, len(clip.Samples), want)
		}
	}
}

// A device that accepts a rate and delivers zeros is asked for another one the next time.
func TestZerosChangeTheRate(t *testing.T) {
	_, r := newRig(t, mic.Script{Device: mic.Device{Name: "a", Default: true, Rate: 16000}, Rates: []int{16000, 44100}, Zeros: []int{16000}})
	take := mustHold(t, r, 400*time.Millisecond)
	if take.Rate != 16000 || !take.Zeros {
		t.Fatalf("%d Hz, zeros %v", take.Rate, take.Zeros)
	}
	if g := capture.Gate(make([]float32, len(take.Samples))); g.Speech {
		t.Error("zeros are speech")
	}
	take = mustHold(t, r, 300*time.Millisecond)
	if take.Rate != 44100 || take.Zeros || len(take.Passed) != 2 {
		t.Errorf("then %d Hz, %+v", take.Rate, take.Passed)
	}
}

// ±1 LSB of dither is no speech, and is not taken for a broken device.
func TestDither(t *testing.T) {
	_, r := newRig(t, mic.Script{Device: desk, Sound: func(n, _ int) int16 { return int16(n*7%3 - 1) }})
	take := mustHold(t, r, 400*time.Millisecond)
	clip, err := capture.Decode("take", take.WAV())
	if err != nil {
		t.Fatal(err)
	}
	if take.Zeros || capture.Gate(clip.Samples).Speech {
		t.Errorf("zeros %v, speech %v", take.Zeros, capture.Gate(clip.Samples).Speech)
	}
}

func TestFirstBlockLate(t *testing.T) {
	_, r := newRig(t, mic.Script{Device: desk, First: 300 * time.Millisecond})
	take := mustHold(t, r, 100*time.Millisecond)
	if gap := take.First.Sub(take.Opened); gap < 290*time.Millisecond {
		t.Errorf("the first block after %v", gap)
	}
	if take.Seconds() < 0.14 {
		t.Errorf("%v s: the time before the first block was taken from the take", take.Seconds())
	}
}

func TestOverflowIsCounted(t *testing.T) {
	_, r := newRig(t, mic.Script{Device: desk, OverflowAt: 3})
	if take := mustHold(t, r, 150*time.Millisecond); take.Overflows != 1 || take.End != Released {
		t.Errorf("%d overflows, %v", take.Overflows, take.End)
	}
}

// slow is a reader that stops for a while.
type slow struct {
	io.ReadCloser
	n, at int
	pause time.Duration
}

func (s *slow) Read(p []byte) (int, error) {
	if s.n++; s.n == s.at {
		time.Sleep(s.pause)
	}
	return s.ReadCloser.Read(p)
}

func TestReaderStalls(t *testing.T) {
	g, r := newRig(t, mic.Script{Device: desk})
	r.cfg.Stall = 2 * time.Second
	g.reader = func(in io.ReadCloser) io.ReadCloser {
		return &slow{ReadCloser: in, at: 20, pause: 500 * time.Millisecond}
	}
	take := mustHold(t, r, 900*time.Millisecond)
	if take.Dropped != 0 || take.Seconds() < 0.9 {
		t.Errorf("%d dropped, %v s", take.Dropped, take.Seconds())
	}
}

// When even the backlog is full, what is lost is counted and marked, and the take goes on.
func TestBacklogOverflows(t *testing.T) {
	l := &live{doc: openedDoc{Take: 1}, blocks: make(chan block, 2)}
	for range 5 {
		l.take(mic.Block{Samples: []int16{1}})
	}
	if l.dropped != 3 || l.seq != 5 {
		t.Fatalf("%d dropped of %d", l.dropped, l.seq)
	}
	<-l.blocks
	<-l.blocks
	l.take(mic.Block{Samples: []int16{1}})
	if b := <-l.blocks; !b.overflow || b.seq != 6 {
		t.Errorf("the block after the loss: %+v", b)
	}
}

// contract: V3
func TestDeviceFailsAndTheNextTakeWorks(t *testing.T) {
	for _, c := range []struct {
		name   string
		script mic.Script
		end    End
	}{
		{"vanishes", mic.Script{Device: desk, VanishAt: 5}, NoCallbacks},
		{"callbacks stop", mic.Script{Device: desk, SilentAt: 5}, NoCallbacks},
	} {
		g, r := newRig(t, c.script)
		take, err := hold(t, r, 5*time.Second, Released)
		if err != nil || take.End != c.end || take.Blocks != 5 || len(take.Samples) != 5*480 {
			t.Fatalf("%s: %+v, %v", c.name, take, err)
		}
		if r.State() != Off {
			t.Errorf("%s: the microphone is %v though its process is proved gone", c.name, r.State())
		}
		g.host.Set(mic.Script{Device: desk})
		if take := mustHold(t, r, 50*time.Millisecond); take.End != Released || g.starts != 2 {
			t.Errorf("%s: the next take: %v, %d processes", c.name, take.End, g.starts)
		}
	}
}

// contract: V3
func TestProcessDiesWithinATake(t *testing.T) {
	g, r := newRig(t, mic.Script{Device: desk})
	time.AfterFunc(150*time.Millisecond, func() { g.mu.Lock(); defer g.mu.Unlock(); g.last.close() })
	take, err := hold(t, r, 5*time.Second, Released)
	if err != nil || take.End != DeviceLost || take.Problem == "" {
		t.Fatalf("%+v, %v", take, err)
	}
	mustHold(t, r, 20*time.Millisecond)
}

func TestNoDevice(t *testing.T) {
	other := mic.Device{Name: "other", Default: true, Rate: 48000}
	for _, c := range []struct {
		name, device string
		scripts      []mic.Script
		problem      Problem
	}{
		{"a named device that is absent", "gone", []mic.Script{{Device: other}}, DeviceMissing},
		{"no device at all", "", nil, DeviceMissing},
		{"a busy device", "", []mic.Script{{Device: other, OpenError: errors.New("busy")}}, OpenFailed},
		{"a device that delivers nothing", "", []mic.Script{{Device: other, First: time.Hour}}, NoFirstBlock},
	} {
		g, r := newRig(t, c.scripts...)
		r.cfg.Device = c.device
		_, err := hold(t, r, 50*time.Millisecond, Released)
		var e *Error
		if !errors.As(err, &e) || e.Problem != c.problem || e.Hint() == "" {
			t.Errorf("%s: %v", c.name, err)
		}
		if r.State() != Off {
			t.Errorf("%s: %v", c.name, r.State())
		}
		g.host.Set(mic.Script{Device: other}, mic.Script{Device: mic.Device{Name: "gone", Rate: 16000}})
		if take := mustHold(t, r, 20*time.Millisecond); take.End != Released {
			t.Errorf("%s: after it was plugged in: %v", c.name, take.End)
		}
	}
}

// contract: V3
func TestUnprovedRetirementFences(t *testing.T) {
	hang := make(chan struct{})
	g, r := newRig(t, mic.Script{Device: desk, HangClose: hang})
	g.stuck, g.after = errors.New("a process may live"), func() { close(hang) }
	_, err := hold(t, r, 50*time.Millisecond, Released)
	if !errors.Is(err, ErrFenced) || r.State() != Uncertain {
		t.Fatalf("%v, the microphone shows %v", err, r.State())
	}
	_, err = hold(t, r, 50*time.Millisecond, Released)
	if !errors.Is(err, ErrFenced) || g.starts != 1 || r.State() != Uncertain {
		t.Errorf("a fresh gesture after that: %v, %d processes, %v", err, g.starts, r.State())
	}
	if err := r.Close(); !errors.Is(err, ErrFenced) {
		t.Errorf("close: %v", err)
	}
}

func TestHangingCloseIsRetired(t *testing.T) {
	hang := make(chan struct{})
	g, r := newRig(t, mic.Script{Device: desk, HangClose: hang})
	g.after = func() { close(hang) } // what SIGKILL does to a process
	take, err := hold(t, r, 50*time.Millisecond, Released)
	if err != nil || take.End != Released || len(take.Samples) == 0 || r.State() != Off {
		t.Fatalf("%+v, %v, %v", take, err, r.State())
	}
}

// contract: X4
func TestStopEndsATake(t *testing.T) {
	_, r := newRig(t, mic.Script{Device: desk})
	ctx, cancel := context.WithCancel(t.Context())
	kept := make(chan struct{})
	close(kept)
	start := time.Now()
	take, err := r.Record(ctx, Gesture{At: start, Kept: kept, End: make(chan Ending)}, func(p Progress) {
		if p.Ready {
			time.AfterFunc(50*time.Millisecond, cancel)
		}
	})
	if err != nil || take.End != Stopped || r.State() != Off {
		t.Fatalf("%+v, %v, %v", take, err, r.State())
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err := r.Record(ctx, Gesture{At: start, Kept: kept, End: make(chan Ending)}, nil); err == nil || r.State() != Off {
		t.Errorf("a take of a stopped session: %v, %v", err, r.State())
	}
}

func TestLostReleaseEndsByLength(t *testing.T) {
	_, r := newRig(t, mic.Script{Device: desk, Speed: 10})
	r.cfg.Max = time.Second
	take, err := hold(t, r, time.Hour, Released)
	if err != nil || take.End != MaxDuration || len(take.Samples) != 48000 {
		t.Errorf("%v, %d samples, %v", take.End, len(take.Samples), err)
	}
	if take.End.Whole() {
		t.Error("such a take is what somebody wanted to say")
	}
}

func TestStartFails(t *testing.T) {
	g, r := newRig(t, mic.Script{Device: desk})
	g.fail = errors.New("no such program")
	_, err := hold(t, r, 0, Released)
	var e *Error
	if !errors.As(err, &e) || e.Problem != HelperFailed || !strings.Contains(err.Error(), "no such program") {
		t.Errorf("%v", err)
	}
	if all, err := func() ([]mic.Device, error) { g.fail = nil; return r.Inputs(t.Context()) }(); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
}
