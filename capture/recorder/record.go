package recorder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"blockworld-voice/internal/frames"
)

// Gesture is how a person steers a take.
type Gesture struct {
	At time.Time // the key went down
	// Kept is closed when the gesture is one that was meant. Until then samples are only in the ring.
	Kept <-chan struct{}
	// End gives one value when the gesture is over.
	End <-chan Ending
}

// Ending is the end of a gesture.
type Ending struct {
	Why End
	At  time.Time
}

// Progress is told while a take is made.
type Progress struct {
	Ready   bool          // the first block has arrived: speak now
	Level   float64       // dB below full scale, of the newest block
	Elapsed time.Duration // of samples
}

// Record makes one take: it opens the device, waits for the gesture's end and closes the device. When it returns the
// device is closed, or the recorder is fenced. told runs on the caller's goroutine. The end of ctx ends the take as Stopped.
func (r *Recorder) Record(ctx context.Context, g Gesture, told func(Progress)) (*Take, error) {
	old := r.h
	if err := r.Warm(ctx); err != nil {
		return nil, err
	}
	t := &taking{r: r, ctx: ctx, g: g, told: told, take: &Take{Gesture: g.At}}
	t.wall, t.mono = time.Now(), monotonic()
	err := t.open()
	if err != nil && t.refused && r.h == old {
		// The process knows the devices that there were when it was started.
		if err = r.retire(); err == nil {
			err = r.Warm(ctx)
		}
		if err == nil {
			err = t.open()
		}
	}
	if err != nil {
		return nil, errors.Join(err, r.retire())
	}
	t.listen()
	t.close()
	if t.sick {
		if err := r.retire(); err != nil {
			return t.take, err
		}
	} else {
		r.set(Off)
	}
	t.take.Closed = time.Now()
	if t.take.First.IsZero() {
		switch {
		case ctx.Err() != nil:
			return t.take, &Error{Problem: Cancelled}
		case t.take.End.Failed():
			return t.take, &Error{Problem: NoFirstBlock, Detail: t.take.Problem}
		}
	}
	return t.take, nil
}

// taking is one take under way.
type taking struct {
	r    *Recorder
	h    *helper
	ctx  context.Context
	g    Gesture
	told func(Progress)
	take *Take
	wall time.Time // two clocks at one moment
	mono int64
	ring []int16 // what came before the gesture was known to be meant
	kept bool
	sick bool // the process has to be retired

	refused bool // the process said that it can't open the device
}

// when brings a time of the process onto our clock.
func (t *taking) when(mono int64) time.Time { return t.wall.Add(time.Duration(mono - t.mono)) }

// open opens the device. After an error the process has to be retired.
func (t *taking) open() error {
	t.r.take++
	t.h = t.r.h
	t.r.set(On)
	if err := t.h.w.WriteJSON(kindOpen, openDoc{t.r.take, t.r.cfg.Device}); err != nil {
		return &Error{Problem: HelperFailed, Err: err}
	}
	f, err := t.h.next(t.ctx, t.r.cfg.Open)
	switch {
	case err != nil && t.ctx.Err() != nil:
		return &Error{Problem: Cancelled, Err: err}
	case errors.Is(err, errSilent):
		return &Error{Problem: OpenFailed, Detail: "no answer from the sound system"}
	case err != nil:
		return &Error{Problem: HelperFailed, Err: err}
	}
	switch f.Kind {
	case kindReady:
		var d openedDoc
		if err := f.JSON(&d); err != nil || d.Take != t.r.take {
			return &Error{Problem: HelperFailed, Err: err}
		}
		t.take.Device, t.take.Rate, t.take.Latency, t.take.Passed = d.Device, d.Rate, time.Duration(d.LatencyNS), d.Passed
		t.take.Opened = t.when(d.StartedNS)
		return nil
	case kindError:
		var d errorDoc
		if err := f.JSON(&d); err != nil {
			return &Error{Problem: HelperFailed, Err: err}
		}
		t.refused = true
		p := OpenFailed
		if d.Missing {
			p = DeviceMissing
		}
		return &Error{Problem: p, Detail: d.Problem, hint: d.Hint}
	}
	return &Error{Problem: HelperFailed, Detail: fmt.Sprintf("it answers %q", f.Kind)}
}

// listen takes in blocks until the take has ended.
func (t *taking) listen() {
	watch := time.NewTimer(t.r.cfg.First)
	defer watch.Stop()
	var late <-chan time.Time // the tail is over even if no block says so
	kept, ends, stop := t.g.Kept, t.g.End, t.ctx.Done()
	for {
		select {
		case f, ok := <-t.h.got:
			if !ok {
				t.fail(DeviceLost, t.h.gone().Error())
				return
			}
			b, err := t.block(f)
			if err != nil {
				t.fail(DeviceLost, err.Error())
				return
			}
			watch.Reset(t.r.cfg.Stall)
			t.add(b)
			if t.over(b) {
				return
			}
		case <-watch.C:
			t.fail(NoCallbacks, fmt.Sprintf("no block for %v", t.r.cfg.Stall))
			return
		case <-kept:
			kept = nil
			t.keep()
		case e := <-ends:
			ends = nil
			t.take.End, t.take.Release = e.Why, e.At
			if !e.Why.Whole() || t.take.First.IsZero() && e.Why == Tapped {
				t.drop()
				return
			}
			t.keep()
			wait := time.NewTimer(time.Until(e.At.Add(t.r.cfg.Tail)) + 300*time.Millisecond)
			defer wait.Stop()
			late = wait.C
		case <-late:
			return
		case <-stop:
			t.take.End, t.take.Release = Stopped, time.Now()
			t.drop()
			return
		}
	}
}

// fail ends a take by the device. What was recorded before stays, as evidence.
func (t *taking) fail(e End, why string) {
	t.keep()
	t.sick = true
	t.take.End, t.take.Problem = e, why
}

func (t *taking) block(f frames.Frame) (block, error) {
	if f.Kind != kindBlock {
		return block{}, fmt.Errorf("frame %q within a take", f.Kind)
	}
	b, err := parseBlock(f.Data)
	if err == nil && (b.take != t.r.take || int(b.seq) <= t.take.Blocks) {
		err = errors.New("a block of another take")
	}
	return b, err
}

// add takes a block in: into the ring as long as nobody knows whether the gesture is meant.
func (t *taking) add(b block) {
	at := t.when(b.at)
	ready := t.take.First.IsZero()
	if ready {
		t.take.First, t.take.Zeros = at, true
	}
	t.take.Last = at
	t.take.Dropped += int(b.seq) - t.take.Blocks - 1
	t.take.Blocks = int(b.seq)
	if b.overflow {
		t.take.Overflows++
	}
	for _, v := range b.samples {
		if v != 0 {
			t.take.Zeros = false
			break
		}
	}
	if t.kept {
		t.take.Samples = append(t.take.Samples, b.samples...)
	} else {
		t.ring = append(t.ring, b.samples...)
		if most := t.samples(t.r.cfg.Ring); len(t.ring) > most {
			t.ring = append(t.ring[:0], t.ring[len(t.ring)-most:]...)
		}
	}
	if t.told != nil {
		t.told(Progress{Ready: ready, Level: Level(b.samples), Elapsed: time.Duration(len(t.take.Samples)+len(t.ring)) * time.Second / time.Duration(t.take.Rate)})
	}
}

func (t *taking) samples(d time.Duration) int {
	return int(int64(d) * int64(t.take.Rate) / int64(time.Second))
}

// keep makes the ring a part of the take. From here on there is no ring.
func (t *taking) keep() {
	if !t.kept {
		t.kept = true
		t.take.Samples, t.ring = append(t.take.Samples, t.ring...), nil
	}
}

// drop forgets what is only in the ring.
func (t *taking) drop() { t.ring = nil }

// over says whether the take is complete with this block: the tail after the release has come, or there is more than
// any gesture may last.
func (t *taking) over(b block) bool {
	if most := t.samples(t.r.cfg.Max); len(t.take.Samples) >= most {
		t.take.Samples = t.take.Samples[:most]
		if t.take.End == 0 {
			t.take.End, t.take.Release = MaxDuration, t.when(b.at)
		}
		return true
	}
	return t.take.End.Whole() && !t.when(b.at).Before(t.take.Release.Add(t.r.cfg.Tail))
}

// close closes the device and waits for the word that it is closed.
func (t *taking) close() {
	if t.sick {
		return
	}
	if err := t.h.w.WriteJSON(kindClose, closeDoc{t.r.take}); err != nil {
		t.sick = true
		return
	}
	wait, cancel := context.WithTimeout(context.Background(), t.r.cfg.Settle)
	defer cancel()
	for {
		f, err := t.h.next(wait, t.r.cfg.Settle)
		if err != nil {
			t.sick = true
			return
		}
		switch f.Kind {
		case kindBlock: // of after the take
		case kindEnded:
			var d endedDoc
			if err := f.JSON(&d); err != nil || d.Take != t.r.take {
				t.sick = true
				return
			}
			t.take.Dropped = max(t.take.Dropped, d.Dropped)
			if d.Problem != "" {
				t.take.Problem, t.sick = d.Problem, true
			}
			return
		default:
			t.sick = true
			return
		}
	}
}
