package convert

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

const (
	magic     = 0x67676d6c
	typeF32   = 0
	typeF16   = 1
	chunkSize = 1 << 20 // bytes read at a time
)

// section is a part of a file.
type section struct {
	r    io.ReaderAt
	off  int64
	size int64
}

// ggmlSize returns the size of the whole output.
func (w *weights) ggmlSize() int64 {
	n := int64(4*12 + 4*2 + 4*len(w.mels) + 4)
	for _, t := range w.tokens {
		n += 4 + int64(len(t))
	}
	for _, s := range w.params.slots() {
		n += int64(4*3+4*len(s.dims)+len(s.name)) + s.bytes()
	}
	return n
}

func (w *weights) write(ctx context.Context, to io.Writer, progress Progress) error {
	out := &counter{w: bufio.NewWriterSize(to, chunkSize)}
	p := w.params
	out.ints(magic, p.Vocab, p.AudioCtx, p.AudioState, p.AudioHead, p.AudioLayer,
		p.TextCtx, p.TextState, p.TextHead, p.TextLayer, p.Mels, typeF16)
	out.ints(p.Mels, fftBins)
	out.floats(w.mels)
	out.ints(len(w.tokens))
	for _, t := range w.tokens {
		out.ints(len(t))
		out.bytes(t)
	}
	total := w.ggmlSize()
	src := make([]byte, chunkSize)
	var dst []byte
	for i, s := range p.slots() {
		out.ints(len(s.dims), len(s.name), map[bool]int{false: typeF32, true: typeF16}[s.half])
		for d := len(s.dims) - 1; d >= 0; d-- {
			out.ints(s.dims[d])
		}
		out.bytes([]byte(s.name))
		pc := w.pieces[i]
		off := pc.t.data.off + pc.first*pc.t.kind.size()
		for left := s.elements() * pc.t.kind.size(); left > 0; {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(left, chunkSize)
			if _, err := pc.t.data.r.ReadAt(src[:n], off); err != nil && !errors.Is(err, io.EOF) {
				return fmt.Errorf("read %s: %w", pc.t.file, err)
			} else if err != nil {
				return bad(pc.t.file, pc.t.name, "the file ends inside it; it was cut while it was read")
			}
			var ok bool
			if s.half {
				dst, ok = toHalf(dst[:0], src[:n], pc.t.kind)
			} else {
				dst, ok = toFull(dst[:0], src[:n], pc.t.kind)
			}
			if !ok {
				return bad(pc.t.file, pc.t.name, "it holds a number that is not finite or too large for 16 bits; the file is damaged or no set of Whisper weights")
			}
			out.bytes(dst)
			off += n
			left -= n
			if progress != nil {
				progress(out.n, total)
			}
			if out.err != nil {
				return out.err
			}
		}
	}
	out.flush()
	return out.err
}

// counter writes little-endian values and keeps the first error.
type counter struct {
	w   *bufio.Writer
	n   int64
	err error
}

func (c *counter) bytes(b []byte) {
	if c.err == nil {
		_, c.err = c.w.Write(b)
		c.n += int64(len(b))
	}
}

func (c *counter) ints(vs ...int) {
	for _, v := range vs {
		c.bytes(little.AppendUint32(nil, uint32(v)))
	}
}

func (c *counter) floats(vs []float32) {
	for _, v := range vs {
		c.bytes(appendFloat(nil, v))
	}
}

func (c *counter) flush() {
	if c.err == nil {
		c.err = c.w.Flush()
	}
}
