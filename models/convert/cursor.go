package convert

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// cursor reads model.bin from its start; it keeps the first error.
type cursor struct {
	r    *bufio.Reader
	f    io.ReaderAt
	pos  int64
	size int64
	at   string // the tensor that is being read
	err  error
}

// next returns n bytes, zeros after an error. n is small.
func (c *cursor) next(n int) []byte {
	b := make([]byte, n)
	if c.err != nil {
		return b
	}
	got, err := io.ReadFull(c.r, b)
	c.pos += int64(got)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = bad(ct2File, c.at, "the file is cut: it ends after %d bytes", c.size)
	}
	if err != nil {
		c.err = err
		clear(b)
	}
	return b
}

func (c *cursor) u8() uint8   { return c.next(1)[0] }
func (c *cursor) u16() uint16 { return little.Uint16(c.next(2)) }
func (c *cursor) u32() uint32 { return little.Uint32(c.next(4)) }

// str reads a string with its final NUL.
func (c *cursor) str() string {
	n := int(c.u16())
	s := string(c.next(n))
	if c.err == nil && (n == 0 || strings.IndexByte(s, 0) != n-1) {
		c.err = bad(ct2File, c.at, "a name before byte %d has no end; the file is damaged", c.pos)
	}
	return strings.TrimSuffix(s, "\x00")
}

// scalar reads a signed whole number of 1, 2 or 4 bytes.
func (c *cursor) scalar(size int64) int {
	b := c.next(int(size))
	v := int64(0)
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | int64(b[i])
	}
	shift := 64 - 8*uint(size)
	return int(v << shift >> shift)
}

func (c *cursor) skip(n int64) {
	if c.err != nil {
		return
	}
	if n > c.size-c.pos {
		c.err = bad(ct2File, c.at, "the file is cut: the tensor needs %d bytes, %d are left", n, c.size-c.pos)
		return
	}
	c.pos += n
	c.r.Reset(io.NewSectionReader(c.f, c.pos, c.size-c.pos))
}
