package weightstest

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"regexp"
	"testing"
)

// FromGGML reads a file in f16 whose structure is sound.
func FromGGML(t testing.TB, path string) *Set {
	t.Helper()
	all, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b := all
	num := func() int {
		v := int(int32(binary.LittleEndian.Uint32(b)))
		b = b[4:]
		return v
	}
	num() // magic
	s := &Set{Tensors: map[string]Tensor{}}
	s.Vocab, s.AudioCtx, s.State, s.Heads, s.Layers, s.TextCtx = num(), num(), num(), num(), num(), num()
	for range 3 {
		num() // the decoder's, equal to the encoder's in the models that tests use
	}
	s.Mels = num()
	num()
	b = b[4*num()*num():]
	for range num() {
		n := num()
		s.Tokens = append(s.Tokens, b[:n])
		b = b[n:]
	}
	for len(b) > 0 {
		rank, length, typ := num(), num(), num()
		shape, size := make([]int, rank), 1
		for i := rank - 1; i >= 0; i-- {
			shape[i] = num()
			size *= shape[i]
		}
		name := string(b[:length])
		b = b[length:]
		width := map[int]int{0: 4, 1: 2}[typ]
		data := b[:size*width]
		b = b[size*width:]
		if rank == 2 && shape[1] == 1 {
			shape = shape[:1]
		}
		s.add(hfName(name), shape, func() []float32 { return decode(data, width) })
		if width == 2 {
			s.Tensors[hfName(name)] = Tensor{Shape: shape, Load: s.Tensors[hfName(name)].Load, Half: data}
		}
	}
	return s
}

//go:norace
func decode(data []byte, width int) []float32 {
	out := make([]float32, len(data)/width)
	for i := range out {
		if width == 4 {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		} else {
			out[i] = halves[binary.LittleEndian.Uint16(data[2*i:])]
		}
	}
	return out
}

// halves are the values of all f16.
var halves = func() (t [1 << 16]float32) {
	for i := range t {
		exp, man := i>>10&31, float64(i&0x3ff)
		v := math.Ldexp(man+1024, exp-25)
		if exp == 0 {
			v = math.Ldexp(man, -24)
		}
		t[i] = float32(math.Copysign(v, float64(1-2*(i>>15))))
	}
	return t
}()

var renames = []struct{ from, to string }{
	{`^(encoder|decoder)\.positional_embedding$`, "$1.embed_positions.weight"},
	{`token_embedding`, "embed_tokens"},
	{`\.blocks\.`, ".layers."},
	{`\.ln(_post)?\.`, ".layer_norm."},
	{`\.mlp_ln\.`, ".final_layer_norm."},
	{`\.mlp\.0\.`, ".fc1."},
	{`\.mlp\.2\.`, ".fc2."},
	{`\.cross_attn`, ".encoder_attn"},
	{`\.attn`, ".self_attn"},
	{`attn_ln`, "attn_layer_norm"},
	{`\.query\.`, ".q_proj."},
	{`\.key\.`, ".k_proj."},
	{`\.value\.`, ".v_proj."},
	{`\.out\.`, ".out_proj."},
}

func hfName(name string) string {
	for _, r := range renames {
		name = regexp.MustCompile(r.from).ReplaceAllString(name, r.to)
	}
	return fmt.Sprintf("model.%s", name)
}
