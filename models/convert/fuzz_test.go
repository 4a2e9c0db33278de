package convert

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"blockworld-voice/models/internal/weightstest"
)

// Every tensor that is listed lies within the file and has the bytes of its shape.
func FuzzCT2(f *testing.F) {
	whole := weightstest.Tiny(7).CT2(weightstest.F16).Bytes()
	f.Add(whole)
	f.Add(whole[:400])
	f.Fuzz(func(t *testing.T, b []byte) {
		have, _, err := readCT2(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		holds(t, have, int64(len(b)))
	})
}

func FuzzSafetensors(f *testing.F) {
	dir := f.TempDir()
	weightstest.Tiny(7).WriteHF(f, dir, weightstest.BF16, 1)
	whole, err := os.ReadFile(filepath.Join(dir, singleName))
	if err != nil {
		f.Fatal(err)
	}
	n := binary.LittleEndian.Uint64(whole)
	f.Add(whole[8:8+n], uint32(len(whole)-8-int(n)))
	f.Add([]byte(`{"a":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]}}`), uint32(12))
	path := filepath.Join(f.TempDir(), singleName)
	f.Fuzz(func(t *testing.T, list []byte, data uint32) {
		b := binary.LittleEndian.AppendUint64(nil, uint64(len(list)))
		b = append(append(b, list...), make([]byte, data%(1<<16))...)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		w, have := &weights{}, map[string]*tensor{}
		err := w.openShard(filepath.Dir(path), singleName, have)
		if err == nil {
			holds(t, have, int64(len(b)))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func holds(t *testing.T, have map[string]*tensor, size int64) {
	t.Helper()
	for name, x := range have {
		n, ok := product(x.shape)
		if !ok || x.data.off < 0 || x.data.off > size-x.data.size {
			t.Fatalf("%s: shape %v, bytes %d+%d of %d", name, x.shape, x.data.off, x.data.size, size)
		}
		if x.kind != kindOther && n*x.kind.size() != x.data.size {
			t.Fatalf("%s: shape %v in %d bytes", name, x.shape, x.data.size)
		}
	}
}
