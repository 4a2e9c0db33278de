package recorder

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"blockworld-voice/capture/mic"
	"blockworld-voice/internal/frames"
)

// backlog is how many blocks may wait for the other side: some seconds of audio.
const backlog = 512

// server is the process with the microphone. One goroutine uses it.
type server struct {
	out     *frames.Writer
	host    mic.Host
	backlog int
	zeros   map[zeroKey]bool
	live    *live
}

// zeroKey is a device that delivered nothing but exact zeros at a rate.
type zeroKey struct {
	device string
	rate   int
}

// live is an open stream.
type live struct {
	doc    openedDoc
	stream mic.Stream
	blocks chan block
	sent   chan error // what the sender ended with

	mu      sync.Mutex // held by the callback for moments, and once at the end
	seq     uint32
	dropped int
	lost    bool
	sound   bool // a sample that is not zero came
}

// Serve is the process with the microphone. It ends when in ends; open says how the sound system is reached. The
// device is closed when it returns.
func Serve(in io.Reader, out io.Writer, library string, open func() (mic.Host, error)) error {
	w := frames.NewWriter(out)
	host, err := open()
	if err != nil {
		return errors.Join(err, w.WriteJSON(kindError, errorDoc{Problem: err.Error()}))
	}
	s := &server{out: w, host: host, backlog: backlog, zeros: map[zeroKey]bool{}}
	return errors.Join(s.serve(in, library), s.close(0, false), host.Close())
}

func (s *server) serve(in io.Reader, library string) error {
	// The list is made before anybody waits for it: a sound system takes its time for the first one.
	if _, err := s.host.Inputs(); err != nil {
		return errors.Join(err, s.out.WriteJSON(kindError, errorDoc{Problem: err.Error()}))
	}
	if err := s.out.WriteJSON(kindHello, helloDoc{1, library}); err != nil {
		return err
	}
	for r := frames.NewReader(in); ; {
		f, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch f.Kind {
		case kindOpen:
			var d openDoc
			if err = f.JSON(&d); err == nil {
				err = s.open(d)
			}
		case kindClose:
			var d closeDoc
			if err = f.JSON(&d); err == nil {
				err = s.close(d.Take, true)
			}
		case kindList:
			err = s.list()
		default:
			err = fmt.Errorf("frame %q is not known", f.Kind)
		}
		if err != nil {
			return err
		}
	}
}

func (s *server) list() error {
	all, err := s.host.Inputs()
	if err != nil {
		return s.out.WriteJSON(kindError, errorDoc{Problem: err.Error()})
	}
	return s.out.WriteJSON(kindInput, listDoc{all})
}

// open opens a device at the first rate that works. Its own rate comes first: others are resampled by somebody else.
func (s *server) open(d openDoc) error {
	if s.live != nil {
		return errors.New("a stream is open already")
	}
	fail := func(err error) error {
		doc := errorDoc{Take: d.Take, Problem: err.Error()}
		var missing *mic.NotFoundError
		if errors.As(err, &missing) {
			doc.Missing, doc.Hint = true, missing.Hint()
		}
		return s.out.WriteJSON(kindError, doc)
	}
	all, err := s.host.Inputs()
	if err != nil {
		return fail(err)
	}
	device, err := mic.Find(all, d.Device)
	if err != nil {
		return fail(err)
	}
	l := &live{doc: openedDoc{Take: d.Take, Device: device}, blocks: make(chan block, s.backlog), sent: make(chan error, 1)}
	rates := s.rates(device, &l.doc.Passed)
	for _, rate := range rates {
		l.doc.Rate = rate
		if l.stream, err = s.host.Open(device, rate, l.take); !errors.Is(err, mic.ErrRate) {
			break
		}
		l.doc.Passed = append(l.doc.Passed, Passed{rate, "refused by the device"})
	}
	if err != nil {
		return fail(err)
	}
	l.doc.LatencyNS, l.doc.StartedNS = int64(l.stream.Latency()), monotonic()
	if err := s.out.WriteJSON(kindReady, l.doc); err != nil {
		return errors.Join(err, l.stream.Close())
	}
	s.live = l
	go l.send(s.out)
	return nil
}

// rates are those to be tried, best first. A rate at which the device delivered nothing but zeros is passed over as
// long as there is another.
func (s *server) rates(d mic.Device, passed *[]Passed) []int {
	var good, silent []int
	for _, r := range []int{d.Rate, 48000, 44100, 32000, 16000} {
		switch {
		case r < 8000 || r > 192000 || slices.Contains(good, r) || slices.Contains(silent, r):
		case s.zeros[zeroKey{d.Name, r}]:
			silent = append(silent, r)
		default:
			good = append(good, r)
		}
	}
	if len(good) == 0 {
		return silent
	}
	for _, r := range silent {
		*passed = append(*passed, Passed{r, "only zeros came"})
	}
	return good
}

// take is the callback: it copies, and never waits.
func (l *live) take(b mic.Block) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.sound {
		l.sound = slices.ContainsFunc(b.Samples, func(v int16) bool { return v != 0 })
	}
	l.seq++
	out := block{take: l.doc.Take, seq: l.seq, at: monotonic(), overflow: b.Overflow || l.lost, samples: slices.Clone(b.Samples)}
	select {
	case l.blocks <- out:
		l.lost = false
	default:
		l.dropped++
		l.lost = true
	}
}

// send passes the blocks on until there are no more.
func (l *live) send(w *frames.Writer) {
	var buf []byte
	var err error
	for b := range l.blocks {
		if err == nil {
			buf = b.append(buf[:0])
			err = w.Write(kindBlock, buf)
		}
	}
	l.sent <- err
}

// close closes the device, sends what is left, and says so.
func (s *server) close(take uint32, tell bool) error {
	l := s.live
	if l == nil || tell && l.doc.Take != take {
		if tell {
			return fmt.Errorf("take %d is not open", take)
		}
		return nil
	}
	s.live = nil
	doc := endedDoc{Take: l.doc.Take}
	if err := l.stream.Close(); err != nil {
		doc.Problem = err.Error()
	}
	close(l.blocks)
	err := <-l.sent
	l.mu.Lock()
	defer l.mu.Unlock()
	doc.Blocks, doc.Dropped = int(l.seq), l.dropped
	if key := (zeroKey{l.doc.Device.Name, l.doc.Rate}); l.sound {
		delete(s.zeros, key)
	} else if l.seq > 20 {
		s.zeros[key] = true
	}
	if err != nil || !tell {
		return err
	}
	return s.out.WriteJSON(kindEnded, doc)
}
