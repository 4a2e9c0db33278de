// Package soxr changes the sample rate of mono audio with libsoxr, the SoX resampler.
//
// Every call of Resample and every Stream has its own state, made fresh and freed at the end: two
// equal inputs give equal bits, however the input was cut into blocks. The filter is linear phase
// with its delay taken out, so sample 0 stays at time 0. Anything over the new Nyquist frequency is
// attenuated by more than 80 dB.
//
// It is the only package that binds libsoxr.
package soxr

/*
#cgo pkg-config: soxr
#include <soxr.h>

// One entry for both directions of the API: a NULL input means the end of the stream.
static const char *bw_process(soxr_t s, const float *in, size_t ilen, size_t *idone, float *out, size_t olen, size_t *odone) {
	return soxr_process(s, in, ilen, idone, out, olen, odone);
}

static soxr_t bw_create(double from, double to, const char **err) {
	soxr_error_t e = 0;
	soxr_io_spec_t io = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
	soxr_quality_spec_t q = soxr_quality_spec(SOXR_HQ, 0);
	soxr_runtime_spec_t r = soxr_runtime_spec(1);
	soxr_t s = soxr_create(from, to, 1, &e, &io, &q, &r);
	*err = e;
	return s;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// The rates that are taken. They bound the filter's length and the growth of a signal.
const (
	MinRate = 1000
	MaxRate = 768000
)

// blockSize bounds, in samples on either side, what is handed over at once. The output does not
// depend on it.
const blockSize = 8192

var errClosed = errors.New("the resampler is closed")

// RateError refuses a rate outside MinRate…MaxRate.
type RateError struct{ From, To int }

func (e *RateError) Error() string {
	return fmt.Sprintf("can't resample from %d to %d Hz: rates from %d to %d Hz are possible", e.From, e.To, MinRate, MaxRate)
}

// Len is the exact number of samples that n samples become: n·to/from rounded to nearest, half up.
func Len(n, from, to int) int {
	f := int64(from)
	return int((2*int64(n)*int64(to) + f) / (2 * f))
}

// Resample converts in from one rate to another. The result has exactly Len(len(in), from, to)
// samples and is a new slice, also when the rates are equal.
func Resample(in []float32, from, to int) ([]float32, error) {
	s, err := NewStream(from, to)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	out, err := s.Write(make([]float32, 0, Len(len(in), from, to)), in)
	if err != nil {
		return nil, err
	}
	return s.Flush(out)
}

// Stream resamples a signal that arrives in blocks. One goroutine at a time. It holds native memory
// until Close.
type Stream struct {
	from, to int
	soxr     C.soxr_t // nil when the rates are equal, or after Close
	taken    int      // input samples so far
	given    int      // output samples so far
	flushed  bool
	closed   bool
}

// NewStream starts a fresh signal.
func NewStream(from, to int) (*Stream, error) {
	if from < MinRate || from > MaxRate || to < MinRate || to > MaxRate {
		return nil, &RateError{from, to}
	}
	s := &Stream{from: from, to: to}
	if from == to {
		return s, nil
	}
	var cerr *C.char
	s.soxr = C.bw_create(C.double(from), C.double(to), &cerr)
	if s.soxr == nil || cerr != nil {
		s.Close()
		return nil, fmt.Errorf("libsoxr can't resample from %d to %d Hz: %s", from, to, C.GoString(cerr))
	}
	return s, nil
}

// Write takes in and appends to dst what has become ready, which trails the input by the filter's
// length. It writes into dst's spare capacity first.
func (s *Stream) Write(dst, in []float32) ([]float32, error) {
	if s.closed || s.flushed {
		return dst, errClosed
	}
	s.taken += len(in)
	if s.from == s.to {
		s.given += len(in)
		return append(dst, in...), nil
	}
	for len(in) > 0 {
		block := in[:min(len(in), s.block())]
		room := Len(len(block), s.from, s.to) + 1
		if spare := cap(dst) - len(dst); spare > 0 {
			room = min(room, spare)
		}
		var used int
		var err error
		dst, used, err = s.process(dst, block, room)
		if err != nil {
			return dst, err
		}
		in = in[used:]
	}
	return dst, nil
}

// Flush ends the signal and appends the rest of it, so that all of Write's and Flush's output
// together has exactly Len(input samples, from, to) samples.
func (s *Stream) Flush(dst []float32) ([]float32, error) {
	if s.closed || s.flushed {
		return dst, errClosed
	}
	s.flushed = true
	want := Len(s.taken, s.from, s.to)
	for s.soxr != nil && s.given < want {
		before := s.given
		var err error
		dst, _, err = s.process(dst, nil, min(want-s.given, blockSize))
		if err != nil {
			return dst, err
		}
		if s.given == before {
			break
		}
	}
	// The library may round its own end one sample the other way, or (while output was ahead of
	// its own estimate) have given one too many.
	for ; s.given < want; s.given++ {
		dst = append(dst, 0)
	}
	if extra := s.given - want; extra > 0 && extra <= len(dst) {
		dst = dst[:len(dst)-extra]
		s.given = want
	}
	return dst, nil
}

// Close frees the native state. It may be called again, and after an error.
func (s *Stream) Close() {
	s.closed = true
	if s.soxr != nil {
		C.soxr_delete(s.soxr)
		s.soxr = nil
	}
}

// block is how much input goes in at once, so that neither side of the library holds much.
func (s *Stream) block() int {
	return min(blockSize, max(1, blockSize*s.from/s.to))
}

// process gives the library one block (nil: the end) and room for at most room samples.
func (s *Stream) process(dst, in []float32, room int) (out []float32, used int, err error) {
	n := len(dst)
	dst = grow(dst, room)
	var idone, odone C.size_t
	var inp *C.float
	if len(in) > 0 {
		inp = (*C.float)(unsafe.Pointer(unsafe.SliceData(in)))
	}
	outp := (*C.float)(unsafe.Pointer(unsafe.SliceData(dst[n : n+room])))
	cerr := C.bw_process(s.soxr, inp, C.size_t(len(in)), &idone, outp, C.size_t(room), &odone)
	if cerr != nil {
		return dst[:n], int(idone), fmt.Errorf("libsoxr failed while resampling: %s", C.GoString(cerr))
	}
	if len(in) > 0 && idone == 0 && odone == 0 {
		return dst[:n], 0, errors.New("libsoxr takes no more input")
	}
	s.given += int(odone)
	return dst[:n+int(odone)], int(idone), nil
}

// grow makes room for n more samples and keeps the length for the samples that are there; it
// returns a slice of length len(s)+n.
func grow(s []float32, n int) []float32 {
	if cap(s)-len(s) >= n {
		return s[:len(s)+n]
	}
	bigger := make([]float32, len(s)+n, max(len(s)+n, 2*cap(s)))
	copy(bigger, s)
	return bigger
}

// Version names the library that is linked.
func Version() string { return C.GoString(C.soxr_version()) }
