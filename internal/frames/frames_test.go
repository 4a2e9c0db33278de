package frames

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

func TestFrames(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b)
	doc := struct {
		Rate int `json:"rate"`
	}{48000}
	if err := errors.Join(w.Write('a', nil), w.Write('b', []byte{1, 2, 3}), w.WriteJSON('c', doc), w.WriteJSON('d', nil)); err != nil {
		t.Fatal(err)
	}
	r := NewReader(iotest.OneByteReader(&b))
	for _, want := range []struct {
		kind byte
		size int
	}{{'a', 0}, {'b', 3}, {'c', 14}, {'d', 0}} {
		f, err := r.Next()
		if err != nil || f.Kind != want.kind || len(f.Data) != want.size {
			t.Fatalf("%q %d bytes, %v; want %q %d", f.Kind, len(f.Data), err, want.kind, want.size)
		}
		if f.Kind == 'c' {
			doc.Rate = 0
			if err := f.JSON(&doc); err != nil || doc.Rate != 48000 {
				t.Errorf("%+v, %v", doc, err)
			}
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("the end: %v", err)
	}
}

func TestBadFrames(t *testing.T) {
	for _, c := range []struct {
		name, in string
		is       error
	}{
		{"a header cut in half", "a\x01", io.ErrUnexpectedEOF},
		{"a frame cut in half", "a\x04\x00\x00\x00ab", io.ErrUnexpectedEOF},
		{"a frame without its data", "a\x04\x00\x00\x00", io.ErrUnexpectedEOF},
		{"a huge claim", "a\xff\xff\xff\xff", nil},
	} {
		_, err := NewReader(bytes.NewReader([]byte(c.in))).Next()
		if err == nil || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := NewWriter(io.Discard).Write('a', make([]byte, Max+1)); err == nil {
		t.Error("a frame that is too long was written")
	}
	if err := (Frame{Kind: 'a', Data: []byte(`{"x":1,"x":2}`)}).JSON(&map[string]int{}); err == nil {
		t.Error("a document with the same name twice was read")
	}
}
