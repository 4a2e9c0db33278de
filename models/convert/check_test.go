package convert_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"blockworld-voice/models/convert"
	"blockworld-voice/models/internal/weightstest"
)

func tinyFile(t testing.TB) []byte {
	dir := t.TempDir()
	weightstest.Tiny(6).WriteHF(t, dir, weightstest.F32, 1)
	b, err := importFolder(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func check(b []byte) error {
	_, err := convert.Check("x.bin", bytes.NewReader(b), int64(len(b)))
	return err
}

func TestEveryCutOfAGGMLFileIsRefused(t *testing.T) {
	whole := tinyFile(t)
	if err := check(whole); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(whole); n += 1 + n/500 {
		if err := check(whole[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes passed", n, len(whole))
		}
	}
	if err := check(append(bytes.Clone(whole), 0)); err == nil {
		t.Error("a byte too many passed")
	}
}

func TestSpoiledHeaders(t *testing.T) {
	whole := tinyFile(t)
	put := func(at int, v uint32) []byte {
		b := bytes.Clone(whole)
		binary.LittleEndian.PutUint32(b[at:], v)
		return b
	}
	const tensors = 56 + 4*80*201
	for name, b := range map[string][]byte{
		"magic":           put(0, 0x46554747),
		"vocabulary":      put(4, 1<<31),
		"width":           put(12, 16),
		"layers":          put(20, 1),
		"mels":            put(48, 1<<30),
		"tokens":          put(tensors, 1<<31-1),
		"length of token": put(tensors+4, 1<<31),
	} {
		var e *convert.Error
		if err := check(b); !errors.As(err, &e) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}

// No bytes make Check panic or accept something that is shorter than it says.
func FuzzCheck(f *testing.F) {
	whole := tinyFile(f)
	f.Add(whole[56+4*80*201:], uint16(0), byte(0))
	f.Add([]byte{}, uint16(4), byte(0xff))
	head := whole[:56+4*80*201]
	f.Fuzz(func(t *testing.T, tail []byte, at uint16, v byte) {
		b := append(bytes.Clone(head), tail...)
		b[int(at)%56] ^= v
		g, err := convert.Check("x.bin", bytes.NewReader(b), int64(len(b)))
		if (g == nil) == (err == nil) {
			t.Fatalf("result %v and error %v", g, err)
		}
	})
}
