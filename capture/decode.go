package capture

import (
	"errors"
	"io"
	"math"

	"github.com/go-audio/audio"
	"github.com/go-audio/wav"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/pcm"
	"blockworld-voice/internal/soxr"
)

// blockSamples is how many samples of the source are in hand at once.
const blockSamples = 8192

// Decode reads a WAV file from memory. The Clip keeps data, which the caller must not change.
// Every error is an *Error with that name.
func Decode(name string, data []byte) (*Clip, error) {
	clip, err := decode(data)
	if err != nil {
		err.Name = name
		return nil, err
	}
	clip.Name = name
	return clip, nil
}

func decode(data []byte) (*Clip, *Error) {
	if len(data) > MaxFile {
		return nil, tooBig(int64(len(data)))
	}
	l, err := walk(data)
	if err != nil {
		return nil, err
	}
	clip := &Clip{
		Source:  data,
		SHA256:  digest.Of(data),
		Format:  l.format,
		Frames:  l.frames,
		Seconds: float64(l.frames) / float64(l.format.Rate),
		Marks:   l.marks,
	}
	if clip.Samples, clip.Clipped, err = samples(l); err != nil {
		return nil, err
	}
	if clip.Clipped > 0 {
		clip.Marks = append(clip.Marks, MarkClipped)
	}
	return clip, nil
}

// samples decodes, mixes and resamples block by block straight into the one slice that it returns.
func samples(l *layout) (out []float32, clipped int, fail *Error) {
	rate, channels := l.format.Rate, l.format.Channels
	out = make([]float32, 0, soxr.Len(l.frames, rate, Rate))
	if l.frames == 0 {
		return out, 0, nil
	}
	stream, err := soxr.NewStream(rate, Rate)
	if err != nil {
		return nil, 0, internal(err)
	}
	defer stream.Close()
	block := make([]float32, min(blockSamples/channels, l.frames)*channels)
	src := newSource(l, len(block))
	for left := l.frames * channels; left > 0; {
		b := block[:min(left, len(block))]
		if fail := src.fill(b); fail != nil {
			return nil, 0, fail
		}
		left -= len(b)
		clipped += pcm.Clamp(b)
		n := pcm.Mix(b, b, channels)
		if out, err = stream.Write(out, b[:n]); err != nil {
			return nil, 0, internal(err)
		}
	}
	if out, err = stream.Flush(out); err != nil {
		return nil, 0, internal(err)
	}
	pcm.Clamp(out) // a resampler may overshoot a full-scale edge
	return out, clipped, nil
}

func internal(err error) *Error {
	f := fault(Internal, NoOffset, "Please report this with the file.", "decoding failed: %v", err)
	f.Err = err
	return f
}

// source gives a layout's samples in order, channels interleaved.
type source interface {
	// fill fills all of dst, which is never more than is left.
	fill(dst []float32) *Error
}

func newSource(l *layout, block int) source {
	switch l.enc {
	case pcm.S16, pcm.S24, pcm.S32:
		return newIntSource(l, block)
	case pcm.U8, pcm.F32, pcm.F64:
	}
	return &byteSource{enc: l.enc, rest: l.data, offset: l.offset}
}

// byteSource converts by internal/pcm and refuses floats that are no numbers.
type byteSource struct {
	enc    pcm.Encoding
	rest   []byte
	offset int // of rest in the file
}

func (s *byteSource) fill(dst []float32) *Error {
	n := pcm.Decode(dst, s.rest, s.enc)
	if n != len(dst) {
		return internal(io.ErrUnexpectedEOF)
	}
	size := s.enc.Size()
	for i, v := range dst {
		if v-v != 0 && !finite(s.rest[i*size:(i+1)*size], s.enc) { // NaN or infinite
			return fault(NotANumber, s.offset+i*size, "Save it again from the program that made it; its audio is damaged.", "a sample is not a finite number")
		}
	}
	s.rest = s.rest[n*size:]
	s.offset += n * size
	return nil
}

// finite tells an f64 beyond float32, which is only loud, from one that is no number.
func finite(b []byte, e pcm.Encoding) bool {
	if e != pcm.F64 {
		return false
	}
	var bits uint64
	for i := range b {
		bits |= uint64(b[i]) << (8 * i)
	}
	v := math.Float64frombits(bits)
	return !math.IsNaN(v) && !math.IsInf(v, 0)
}

// intSource lets go-audio/wav take the integers out of their bytes.
type intSource struct {
	enc pcm.Encoding
	dec *wav.Decoder
	buf audio.IntBuffer
}

func newIntSource(l *layout, block int) *intSource {
	h := pcm.Header(l.format.Rate, l.format.Channels, l.format.Bits, len(l.data))
	return &intSource{
		enc: l.enc,
		dec: wav.NewDecoder(&headed{head: h, body: l.data}),
		buf: audio.IntBuffer{Data: make([]int, block)},
	}
}

func (s *intSource) fill(dst []float32) *Error {
	s.buf.Data = s.buf.Data[:len(dst)]
	n, err := s.dec.PCMBuffer(&s.buf)
	if err != nil {
		return internal(err)
	}
	if n != len(dst) || pcm.FromInts(dst, s.buf.Data[:n], s.enc) != n {
		return internal(io.ErrUnexpectedEOF)
	}
	return nil
}

// headed reads as a header with a body after it, without joining them in memory.
type headed struct {
	head [pcm.WAVHeaderSize]byte
	body []byte
	pos  int64
}

func (h *headed) Read(p []byte) (int, error) {
	n := 0
	if h.pos < int64(len(h.head)) {
		n = copy(p, h.head[h.pos:])
		h.pos += int64(n)
	}
	if at := h.pos - int64(len(h.head)); at >= 0 && at < int64(len(h.body)) {
		m := copy(p[n:], h.body[at:])
		h.pos += int64(m)
		n += m
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (h *headed) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += h.pos
	case io.SeekEnd:
		offset += int64(len(h.head) + len(h.body))
	default:
		return 0, errors.New("unknown whence")
	}
	if offset < 0 {
		return 0, errors.New("a position before the beginning")
	}
	h.pos = offset
	return offset, nil
}
