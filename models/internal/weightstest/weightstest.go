// Package weightstest writes Whisper weights in the forms in which they are published, for
// tests: tiny ones that it makes up, and those of a ggml file. It knows the formats by itself,
// so that a test does not compare the importer with the importer.
package weightstest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// Tensor is an array; Load gives its numbers in row order.
type Tensor struct {
	Shape []int
	Load  func() []float32
	Half  []byte // the same in f16 where they are known so, else nil
}

func (t Tensor) encode(typ Type) []byte {
	if typ == F16 && t.Half != nil {
		return t.Half
	}
	return encode(t.Load(), typ)
}

// Set is a complete model under Hugging Face's names.
type Set struct {
	Vocab, State, AudioCtx, TextCtx, Heads, Layers, Mels int

	Tensors map[string]Tensor
	Order   []string
	Tokens  [][]byte // below the end token
}

// Tiny makes up a model of a few thousand numbers. All of them are exact in 16 bits (of either kind).
func Tiny(seed uint64) *Set {
	s := &Set{Vocab: 270, State: 8, AudioCtx: 6, TextCtx: 5, Heads: 2, Layers: 2, Mels: 80, Tensors: map[string]Tensor{}}
	for i := range 259 {
		switch {
		case i < 256:
			s.Tokens = append(s.Tokens, []byte{byte(i)})
		default:
			s.Tokens = append(s.Tokens, []byte(fmt.Sprintf(" %d\n", i)))
		}
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	add := func(name string, shape ...int) {
		n := 1
		for _, d := range shape {
			n *= d
		}
		data := make([]float32, n)
		for i := range data {
			data[i] = float32(rng.IntN(255)-127) / 64
		}
		s.add(name, shape, func() []float32 { return data })
	}
	norm := func(name string) { add(name+".weight", s.State); add(name+".bias", s.State) }
	linear := func(name string, out, in int) { add(name+".weight", out, in); add(name+".bias", out) }
	attention := func(name string) {
		linear(name+".q_proj", s.State, s.State)
		add(name+".k_proj.weight", s.State, s.State)
		linear(name+".v_proj", s.State, s.State)
		linear(name+".out_proj", s.State, s.State)
		norm(name + "_layer_norm")
	}
	for _, side := range []string{"model.encoder", "model.decoder"} {
		for i := range s.Layers {
			layer := fmt.Sprintf("%s.layers.%d.", side, i)
			attention(layer + "self_attn")
			if side == "model.decoder" {
				attention(layer + "encoder_attn")
			}
			linear(layer+"fc1", 4*s.State, s.State)
			linear(layer+"fc2", s.State, 4*s.State)
			norm(layer + "final_layer_norm")
		}
		norm(side + ".layer_norm")
	}
	add("model.encoder.conv1.weight", s.State, s.Mels, 3)
	add("model.encoder.conv1.bias", s.State)
	add("model.encoder.conv2.weight", s.State, s.State, 3)
	add("model.encoder.conv2.bias", s.State)
	add("model.encoder.embed_positions.weight", s.AudioCtx, s.State)
	add("model.decoder.embed_positions.weight", s.TextCtx, s.State)
	add("model.decoder.embed_tokens.weight", s.Vocab, s.State)
	return s
}

func (s *Set) add(name string, shape []int, load func() []float32) {
	s.Tensors[name] = Tensor{Shape: shape, Load: load}
	s.Order = append(s.Order, name)
}

// Drop removes a tensor.
func (s *Set) Drop(name string) {
	delete(s.Tensors, name)
	for i, n := range s.Order {
		if n == name {
			s.Order = append(s.Order[:i:i], s.Order[i+1:]...)
		}
	}
}

// Type is a type of numbers.
type Type string

const (
	F32  Type = "F32"
	F16  Type = "F16"
	BF16 Type = "BF16"
)

// encode writes numbers that are exact in typ. Loops over all numbers of a model are kept
// out of the race detector: one goroutine runs them, and they would take minutes.
//
//go:norace
func encode(data []float32, typ Type) []byte {
	size := map[Type]int{F32: 4, F16: 2, BF16: 2}[typ]
	b := make([]byte, size*len(data))
	switch out := b; typ {
	case F32:
		for i, v := range data {
			binary.LittleEndian.PutUint32(out[4*i:], math.Float32bits(v))
		}
	case F16:
		for i, v := range data {
			binary.LittleEndian.PutUint16(out[2*i:], exactHalf(v))
		}
	case BF16:
		for i, v := range data {
			binary.LittleEndian.PutUint16(out[2*i:], uint16(math.Float32bits(v)>>16))
		}
	}
	return b
}

// exactHalf gives the f16 of a number that is one.
func exactHalf(v float32) uint16 {
	sign := uint16(math.Float32bits(v) >> 16 & 0x8000)
	frac, exp := math.Frexp(math.Abs(float64(v))) // v = frac · 2^exp, ½ ≤ frac < 1
	switch {
	case v == 0:
		return sign
	case exp < -13:
		return sign | uint16(math.Ldexp(frac, exp+24))
	}
	return sign | uint16(exp+14)<<10 | uint16(math.Ldexp(frac, 11))&0x3ff
}

func writeJSON(t testing.TB, dir, name string, v any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// vocab is the vocabulary in the byte-level alphabet, with the end token.
func (s *Set) vocab() map[string]int {
	out := map[string]int{"<|endoftext|>": len(s.Tokens)}
	for id, tok := range s.Tokens {
		name := ""
		for _, c := range tok {
			switch { // the runes that stand for bytes which can't be printed, in their order
			case c <= ' ':
				name += string(rune(256 + int(c)))
			case c >= 0x7f && c <= 0xa0:
				name += string(rune(256 + 33 + int(c) - 0x7f))
			case c == 0xad:
				name += string(rune(256 + 67))
			default:
				name += string(rune(c))
			}
		}
		out[name] = id
	}
	return out
}

func (s *Set) added() map[string]int {
	out := map[string]int{}
	for id := len(s.Tokens) + 1; id < s.Vocab; id++ {
		out[fmt.Sprintf("<|%d|>", id)] = id
	}
	return out
}

// WriteHF writes a Hugging Face folder with so many shards (1: one file and no index).
func (s *Set) WriteHF(t testing.TB, dir string, typ Type, shards int) {
	t.Helper()
	writeJSON(t, dir, "config.json", map[string]any{
		"model_type": "whisper", "vocab_size": s.Vocab, "d_model": s.State, "max_source_positions": s.AudioCtx,
		"max_target_positions": s.TextCtx, "encoder_attention_heads": s.Heads, "decoder_attention_heads": s.Heads,
		"encoder_layers": s.Layers, "decoder_layers": s.Layers, "encoder_ffn_dim": 4 * s.State, "decoder_ffn_dim": 4 * s.State,
		"num_mel_bins": s.Mels, "activation_function": "gelu", "scale_embedding": false, "torch_dtype": "float32",
	})
	writeJSON(t, dir, "vocab.json", s.vocab())
	writeJSON(t, dir, "added_tokens.json", s.added())
	if shards == 1 {
		s.writeShard(t, filepath.Join(dir, "model.safetensors"), s.Order, typ)
		return
	}
	index := map[string]string{}
	for i := range shards {
		name := fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, shards)
		names := s.Order[i*len(s.Order)/shards : (i+1)*len(s.Order)/shards]
		for _, n := range names {
			index[n] = name
		}
		s.writeShard(t, filepath.Join(dir, name), names, typ)
	}
	writeJSON(t, dir, "model.safetensors.index.json", map[string]any{"metadata": map[string]int{"total_size": 1}, "weight_map": index})
}

func (s *Set) writeShard(t testing.TB, path string, names []string, typ Type) {
	t.Helper()
	size := map[Type]int{F32: 4, F16: 2, BF16: 2}[typ]
	head := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	at := 0
	for _, n := range names {
		bytes := size
		for _, d := range s.Tensors[n].Shape {
			bytes *= d
		}
		head[n] = map[string]any{"dtype": typ, "shape": s.Tensors[n].Shape, "data_offsets": []int{at, at + bytes}}
		at += bytes
	}
	list, err := json.Marshal(head)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	write := func(b []byte) {
		if _, err := f.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	write(binary.LittleEndian.AppendUint64(nil, uint64(len(list))))
	write(list)
	for _, n := range names {
		write(s.Tensors[n].encode(typ))
	}
}
