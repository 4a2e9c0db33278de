package weightstest

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Var is a variable of a CTranslate2 file. Its data are exactly what the file holds.
type Var struct {
	Name  string
	Shape []int
	Type  byte // 0 f32, 1 i8, 2 i16, 3 i32, 4 f16
	Data  []byte
}

// CT2 is the content of model.bin, open to damage.
type CT2 struct {
	Version uint32
	Spec    string
	Vars    []Var
	Alias   [][2]string
}

// Bytes encodes the file.
func (c *CT2) Bytes() []byte {
	var b []byte
	str := func(s string) {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(s)+1))
		b = append(append(b, s...), 0)
	}
	u32 := func(v uint32) { b = binary.LittleEndian.AppendUint32(b, v) }
	u32(c.Version)
	str(c.Spec)
	u32(3)
	u32(uint32(len(c.Vars)))
	for _, v := range c.Vars {
		str(v.Name)
		b = append(b, byte(len(v.Shape)))
		for _, d := range v.Shape {
			u32(uint32(d))
		}
		b = append(b, v.Type)
		u32(uint32(len(v.Data)))
		b = append(b, v.Data...)
	}
	u32(uint32(len(c.Alias)))
	for _, a := range c.Alias {
		str(a[0])
		str(a[1])
	}
	return b
}

// Var returns the variable of a name.
func (c *CT2) Var(name string) *Var {
	for i := range c.Vars {
		if c.Vars[i].Name == name {
			return &c.Vars[i]
		}
	}
	return nil
}

// CT2 gives the model as a CTranslate2 release in f16 or f32.
func (s *Set) CT2(typ Type) *CT2 {
	c := &CT2{Version: 6, Spec: "WhisperSpec", Alias: [][2]string{{"decoder/projection/weight", "decoder/embeddings/weight"}}}
	code := map[Type]byte{F32: 0, F16: 4}[typ]
	scalar := func(name string, typ byte, b ...byte) { c.Vars = append(c.Vars, Var{name, nil, typ, b}) }
	// stack puts tensors one upon the other; an empty name is a block of zeros like the first.
	stack := func(to string, from ...string) {
		var data []byte
		first := s.Tensors[from[0]]
		for _, name := range from {
			if name == "" {
				data = append(data, encode(make([]float32, first.Shape[0]), typ)...)
			} else {
				data = append(data, s.Tensors[name].encode(typ)...)
			}
		}
		shape := append([]int(nil), first.Shape...)
		shape[0] *= len(from)
		c.Vars = append(c.Vars, Var{to, shape, code, data})
	}
	linear := func(to, from string) {
		stack(to+"/weight", from+".weight")
		stack(to+"/bias", from+".bias")
	}
	norm := func(to, from string) {
		stack(to+"/gamma", from+".weight")
		stack(to+"/beta", from+".bias")
	}
	for _, side := range []string{"encoder", "decoder"} {
		for i := range s.Layers {
			to, from := fmt.Sprintf("%s/layer_%d/", side, i), fmt.Sprintf("model.%s.layers.%d.", side, i)
			norm(to+"self_attention/layer_norm", from+"self_attn_layer_norm")
			q, k, v := from+"self_attn.q_proj", from+"self_attn.k_proj", from+"self_attn.v_proj"
			stack(to+"self_attention/linear_0/weight", q+".weight", k+".weight", v+".weight")
			stack(to+"self_attention/linear_0/bias", q+".bias", "", v+".bias")
			linear(to+"self_attention/linear_1", from+"self_attn.out_proj")
			if side == "decoder" {
				norm(to+"attention/layer_norm", from+"encoder_attn_layer_norm")
				linear(to+"attention/linear_0", from+"encoder_attn.q_proj")
				k, v := from+"encoder_attn.k_proj", from+"encoder_attn.v_proj"
				stack(to+"attention/linear_1/weight", k+".weight", v+".weight")
				bias := s.Tensors[v+".bias"].Load()
				c.Vars = append(c.Vars, Var{to + "attention/linear_1/bias", []int{2 * len(bias)}, code, encode(append(make([]float32, len(bias)), bias...), typ)})
				linear(to+"attention/linear_2", from+"encoder_attn.out_proj")
			}
			norm(to+"ffn/layer_norm", from+"final_layer_norm")
			linear(to+"ffn/linear_0", from+"fc1")
			linear(to+"ffn/linear_1", from+"fc2")
		}
		norm(side+"/layer_norm", "model."+side+".layer_norm")
		stack(side+"/position_encodings/encodings", "model."+side+".embed_positions.weight")
		scalar(side+"/num_heads", 2, byte(s.Heads), 0)
	}
	linear("encoder/conv1", "model.encoder.conv1")
	linear("encoder/conv2", "model.encoder.conv2")
	stack("decoder/embeddings/weight", "model.decoder.embed_tokens.weight")
	scalar("decoder/activation", 1, 3)
	scalar("decoder/alibi", 1, 0)
	scalar("decoder/alignment_layer", 2, 0xff, 0xff)
	scalar("decoder/pre_norm", 1, 1)
	scalar("decoder/scale_embeddings", 1, 0)
	return c
}

// WriteCT2 writes a CTranslate2 folder.
func (s *Set) WriteCT2(t testing.TB, dir string, c *CT2) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "model.bin"), c.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	writeJSON(t, dir, "config.json", map[string]any{
		"lang_ids": []int{len(s.Tokens) + 1, s.Vocab - 1}, "suppress_ids": []int{1}, "suppress_ids_begin": []int{2}, "alignment_heads": [][2]int{{1, 1}},
	})
	var added []map[string]any
	for name, id := range s.added() {
		added = append(added, map[string]any{"id": id, "content": name, "special": true})
	}
	writeJSON(t, dir, "tokenizer.json", map[string]any{"version": "1.0", "added_tokens": added, "model": map[string]any{"type": "BPE", "vocab": s.vocab(), "merges": []string{}}})
	if err := os.WriteFile(filepath.Join(dir, "vocabulary.txt"), []byte(strings.Repeat("x\n", s.Vocab)), 0o600); err != nil {
		t.Fatal(err)
	}
}
