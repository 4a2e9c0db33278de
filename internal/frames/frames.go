// Package frames is the protocol that this program speaks with processes of its own over their standard input and
// output: one byte of kind, four bytes of length, and that many bytes.
package frames

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"blockworld-voice/internal/strictjson"
)

// Max is the longest payload. It holds a spoken reply and bounds what a broken peer can make us allocate.
const Max = 32 << 20

const headerSize = 5

// Frame is one message.
type Frame struct {
	Kind byte
	Data []byte
}

// JSON reads the payload as a strict document.
func (f Frame) JSON(v any) error {
	if err := strictjson.Unmarshal(f.Data, v); err != nil {
		return fmt.Errorf("frame %q: %w", f.Kind, err)
	}
	return nil
}

// Writer writes frames. It may be used from several goroutines: each frame is whole.
type Writer struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte
}

// NewWriter returns a writer on w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes one frame with one call of the writer below.
func (w *Writer) Write(kind byte, data []byte) error {
	if len(data) > Max {
		return fmt.Errorf("frame %q: %d bytes are too many", kind, len(data))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = append(w.buf[:0], kind)
	w.buf = binary.LittleEndian.AppendUint32(w.buf, uint32(len(data)))
	w.buf = append(w.buf, data...)
	_, err := w.w.Write(w.buf)
	return err
}

// WriteJSON writes v as a document. A nil v is an empty payload.
func (w *Writer) WriteJSON(kind byte, v any) error {
	if v == nil {
		return w.Write(kind, nil)
	}
	data, err := strictjson.Line(v)
	if err != nil {
		return fmt.Errorf("frame %q: %w", kind, err)
	}
	return w.Write(kind, data)
}

// Reader reads frames. One goroutine uses it.
type Reader struct {
	r      io.Reader
	header [headerSize]byte
}

// NewReader returns a reader on r.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Next returns the next frame. io.EOF stands only between frames; within one it is io.ErrUnexpectedEOF.
func (r *Reader) Next() (Frame, error) {
	if _, err := io.ReadFull(r.r, r.header[:]); err != nil {
		return Frame{}, err
	}
	size := binary.LittleEndian.Uint32(r.header[1:])
	if size > Max {
		return Frame{}, fmt.Errorf("frame %q: it claims %d bytes", r.header[0], size)
	}
	f := Frame{Kind: r.header[0], Data: make([]byte, size)}
	if _, err := io.ReadFull(r.r, f.Data); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return Frame{}, err
	}
	return f, nil
}
