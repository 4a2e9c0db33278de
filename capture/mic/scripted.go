package mic

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Script says what a device of a Scripted host does.
type Script struct {
	Device Device
	Rates  []int // that it takes; nil is its own only
	// Zeros are the rates at which it delivers nothing but zeros.
	Zeros []int
	// First is how long after the start the first block comes.
	First time.Duration
	// Sound gives the sample at frame n of a stream that runs at a rate; nil is a 440 Hz tone.
	Sound func(n, rate int) int16
	// Speed is how much faster than the clock the device runs; 0 is 1.
	Speed float64
	// After each of these numbers of blocks, counted within a stream, something happens.
	OverflowAt int           // the block after it is marked
	VanishAt   int           // the stream ends with no more callbacks and Close fails
	SilentAt   int           // callbacks simply stop
	StallAt    int           // the next block comes Stall later
	Stall      time.Duration // see StallAt
	OpenError  error
	HangClose  chan struct{} // Close waits for it
}

// Scripted is a host for tests. It counts what is read, and when.
type Scripted struct {
	mu      sync.Mutex
	scripts []Script

	Opened  atomic.Int64 // streams that were opened
	Running atomic.Int64 // streams that are open now
	Blocks  atomic.Int64 // blocks that were delivered, over all streams
}

// NewScripted returns a host with these devices.
func NewScripted(s ...Script) *Scripted { return &Scripted{scripts: s} }

// Set replaces the devices: what was plugged in or out is seen at the next Inputs.
func (h *Scripted) Set(s ...Script) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.scripts = s
}

// Inputs implements Host.
func (h *Scripted) Inputs() ([]Device, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []Device
	for _, s := range h.scripts {
		out = append(out, s.Device)
	}
	return out, nil
}

// Close implements Host.
func (h *Scripted) Close() error { return nil }

// Open implements Host.
func (h *Scripted) Open(d Device, rate int, callback func(Block)) (Stream, error) {
	h.mu.Lock()
	i := slices.IndexFunc(h.scripts, func(s Script) bool { return s.Device == d })
	if i < 0 {
		h.mu.Unlock()
		return nil, &NotFoundError{Name: d.Name, Have: []string{"…"}}
	}
	s := h.scripts[i]
	h.mu.Unlock()
	rates := s.Rates
	if rates == nil {
		rates = []int{s.Device.Rate}
	}
	switch {
	case s.OpenError != nil:
		return nil, s.OpenError
	case !slices.Contains(rates, rate):
		return nil, fmt.Errorf("%d Hz: %w", rate, ErrRate)
	}
	st := &scriptedStream{host: h, script: s, rate: rate, callback: callback, stop: make(chan struct{}), done: make(chan struct{})}
	h.Opened.Add(1)
	h.Running.Add(1)
	go st.run()
	return st, nil
}

type scriptedStream struct {
	host     *Scripted
	script   Script
	rate     int
	callback func(Block)
	stop     chan struct{}
	done     chan struct{}
	once     sync.Once
	vanished atomic.Bool
}

func (s *scriptedStream) Latency() time.Duration { return time.Duration(s.script.Device.LatencyNS) }

// Tone is the sound of a device without one of its own.
func Tone(n, rate int) int16 {
	// A triangle: integers only, so that it has the same bits on every machine.
	period := max(2, rate/440)
	x := n % period
	if x > period/2 {
		x = period - x
	}
	return int16(x*16000/period - 4000)
}

func (s *scriptedStream) run() {
	defer close(s.done)
	size := s.rate / 100
	speed := s.script.Speed
	if speed <= 0 {
		speed = 1
	}
	sound := s.script.Sound
	if sound == nil {
		sound = Tone
	}
	if slices.Contains(s.script.Zeros, s.rate) {
		sound = func(int, int) int16 { return 0 }
	}
	block := make([]int16, size)
	next := time.Now().Add(s.script.First)
	for n := 1; ; n++ {
		if s.script.StallAt > 0 && n == s.script.StallAt+1 {
			next = next.Add(s.script.Stall)
		}
		next = next.Add(time.Duration(float64(10*time.Millisecond) / speed))
		t := time.NewTimer(time.Until(next))
		select {
		case <-s.stop:
			t.Stop()
			return
		case <-t.C:
		}
		if s.script.VanishAt > 0 && n > s.script.VanishAt {
			s.vanished.Store(true)
			<-s.stop
			return
		}
		if s.script.SilentAt > 0 && n > s.script.SilentAt {
			<-s.stop
			return
		}
		for i := range block {
			block[i] = sound((n-1)*size+i, s.rate)
		}
		s.host.Blocks.Add(1)
		s.callback(Block{Samples: block, Overflow: s.script.OverflowAt > 0 && n == s.script.OverflowAt+1})
	}
}

func (s *scriptedStream) Close() error {
	s.once.Do(func() {
		if s.script.HangClose != nil {
			<-s.script.HangClose
		}
		close(s.stop)
		<-s.done
		s.host.Running.Add(-1)
	})
	if s.vanished.Load() {
		return fmt.Errorf("the device is gone")
	}
	return nil
}
