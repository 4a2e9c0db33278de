package convert

import (
	"bufio"
	"errors"
	"io"
	"slices"
)

// ggmlTypes are the number types of a ggml tensor: a block of so many elements has so many bytes.
var ggmlTypes = map[int]struct{ elements, bytes int64 }{
	typeF32: {1, 4}, typeF16: {1, 2},
	2: {32, 18}, 3: {32, 20}, 6: {32, 22}, 7: {32, 24}, 8: {32, 34}, // q4_0 q4_1 q5_0 q5_1 q8_0
	10: {256, 84}, 11: {256, 110}, 12: {256, 144}, 13: {256, 176}, 14: {256, 210}, // q2_K … q6_K
}

// GGML is what Check found in a file.
type GGML struct {
	Params Params
	Tokens [][]byte

	tensors map[string]ggmlTensor
}

type ggmlTensor struct {
	dims []int // outermost first
	typ  int
	data section
}

// Check reads the structure of a ggml file of Whisper weights, all but the numbers themselves:
// every tensor that the dimensions ask for is there once, with its shape, and the file ends
// where the last one ends. name is for errors.
func Check(name string, r io.ReaderAt, size int64) (*GGML, error) {
	g := &ggmlReader{name: name, f: r, size: size}
	g.seek(0)
	out := g.header()
	if g.err != nil {
		return nil, g.err
	}
	want := map[string]slot{}
	for _, s := range out.Params.slots() {
		want[s.name] = s
	}
	for g.err == nil && g.pos < size {
		name, t := g.tensor()
		if g.err != nil {
			break
		}
		s, ok := want[name]
		switch {
		case !ok:
			return nil, bad(g.name, name, "Whisper has no such tensor, or it occurs twice")
		case !slices.Equal(s.shape(), slot{dims: t.dims}.shape()):
			return nil, bad(g.name, name, "its shape is %v, the header asks for %v", t.dims, s.dims)
		}
		delete(want, name)
		out.tensors[name] = t
	}
	if g.err != nil {
		return nil, g.err
	}
	for _, s := range out.Params.slots() {
		if _, missing := want[s.name]; missing {
			return nil, bad(g.name, s.name, "the tensor is missing; the file may be cut")
		}
	}
	return out, nil
}

type ggmlReader struct {
	name string
	f    io.ReaderAt
	r    *bufio.Reader
	pos  int64
	size int64
	at   string
	err  error
}

func (g *ggmlReader) seek(pos int64) {
	g.pos = pos
	g.r = bufio.NewReaderSize(io.NewSectionReader(g.f, pos, g.size-pos), 512)
}

func (g *ggmlReader) fail(format string, args ...any) {
	if g.err == nil {
		g.err = bad(g.name, g.at, format, args...)
	}
}

// bytes reads n bytes, which must be within the file.
func (g *ggmlReader) bytes(n int64) []byte {
	if g.err == nil && (n < 0 || n > g.size-g.pos) {
		g.fail("the file is cut or damaged: %d bytes are asked for, %d are left", n, g.size-g.pos)
	}
	if g.err != nil {
		return nil
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(g.r, b); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		g.fail("the file was cut while it was read")
	} else if err != nil {
		g.err = err
	}
	g.pos += n
	return b
}

func (g *ggmlReader) int() int {
	b := g.bytes(4)
	if g.err != nil {
		return 0
	}
	return int(int32(little.Uint32(b)))
}

func (g *ggmlReader) header() *GGML {
	out := &GGML{tensors: map[string]ggmlTensor{}}
	if g.size < 4 || g.int() != magic {
		g.fail("this is no ggml file of Whisper weights")
		return out
	}
	for _, l := range limits {
		*l.get(&out.Params) = g.int()
	}
	if g.int(); g.err != nil {
		return out
	}
	if err := out.Params.check(g.name); err != nil {
		g.err = err
		return out
	}
	mels, bins := g.int(), g.int()
	if g.err == nil && (mels != out.Params.Mels || bins != fftBins) {
		g.fail("the mel filters are %d × %d, %d × %d are needed", mels, bins, out.Params.Mels, fftBins)
	}
	g.bytes(4 * int64(mels) * fftBins)
	n := g.int()
	if g.err == nil && (n < 1 || n > out.Params.Vocab) {
		g.fail("it lists %d tokens, the model has %d", n, out.Params.Vocab)
	}
	for i := 0; i < n && g.err == nil; i++ {
		out.Tokens = append(out.Tokens, g.bytes(int64(g.int())))
	}
	return out
}

func (g *ggmlReader) tensor() (string, ggmlTensor) {
	g.at = ""
	rank, length, typ := g.int(), g.int(), g.int()
	if g.err == nil && (rank < 1 || rank > 4 || length < 1 || length > 128) {
		g.fail("at byte %d a tensor should begin; the file is damaged", g.pos-12)
	}
	if g.err != nil {
		return "", ggmlTensor{}
	}
	t := ggmlTensor{typ: typ}
	for range rank {
		t.dims = append(t.dims, g.int())
	}
	slices.Reverse(t.dims)
	g.at = string(g.bytes(int64(length)))
	n, ok := product(t.dims)
	k, known := ggmlTypes[typ]
	switch {
	case g.err != nil:
	case !known:
		g.fail("its type %d is unknown", typ)
	case !ok || int64(t.dims[rank-1])%k.elements != 0:
		g.fail("its shape %v is impossible", t.dims)
	case n/k.elements > (g.size-g.pos)/k.bytes:
		g.fail("the file is cut: the tensor of shape %v needs more than the %d bytes that are left", t.dims, g.size-g.pos)
	default:
		t.data = section{g.f, g.pos, n / k.elements * k.bytes}
		g.seek(g.pos + t.data.size)
	}
	return g.at, t
}
