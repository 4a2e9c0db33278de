package convert

import (
	"fmt"
	"math"
	"slices"
)

// Params are the dimensions of a Whisper model, in the order of the file's header.
type Params struct {
	Vocab, AudioCtx, AudioState, AudioHead, AudioLayer int
	TextCtx, TextState, TextHead, TextLayer, Mels      int
}

// limits are far above every published model; they keep products within 64 bits.
var limits = []struct {
	name string
	max  int
	get  func(*Params) *int
}{
	{"n_vocab", 1 << 20, func(p *Params) *int { return &p.Vocab }},
	{"n_audio_ctx", 1 << 14, func(p *Params) *int { return &p.AudioCtx }},
	{"n_audio_state", 1 << 14, func(p *Params) *int { return &p.AudioState }},
	{"n_audio_head", 1 << 10, func(p *Params) *int { return &p.AudioHead }},
	{"n_audio_layer", 1 << 8, func(p *Params) *int { return &p.AudioLayer }},
	{"n_text_ctx", 1 << 14, func(p *Params) *int { return &p.TextCtx }},
	{"n_text_state", 1 << 14, func(p *Params) *int { return &p.TextState }},
	{"n_text_head", 1 << 10, func(p *Params) *int { return &p.TextHead }},
	{"n_text_layer", 1 << 8, func(p *Params) *int { return &p.TextLayer }},
	{"n_mels", 1 << 9, func(p *Params) *int { return &p.Mels }},
}

func (p Params) check(file string) error {
	for _, l := range limits {
		if v := *l.get(&p); v < 1 || v > l.max {
			return bad(file, "", "%s is %d, it must be 1…%d", l.name, v, l.max)
		}
	}
	switch {
	case p.AudioState != p.TextState:
		return bad(file, "", "the encoder's width %d is not the decoder's %d", p.AudioState, p.TextState)
	case p.AudioState%p.AudioHead != 0 || p.TextState%p.TextHead != 0:
		return bad(file, "", "the width %d can't be shared by %d and %d heads", p.AudioState, p.AudioHead, p.TextHead)
	}
	return nil
}

// slot is one tensor of a ggml file. Its dims are outermost first.
type slot struct {
	name string
	dims []int
	half bool // stored as f16, else f32
}

// shape is dims as other formats have it: they keep a bias in one dimension.
func (s slot) shape() []int {
	if n := len(s.dims); n == 2 && s.dims[1] == 1 {
		return s.dims[:1]
	}
	return s.dims
}

func (s slot) elements() int64 {
	n := int64(1)
	for _, d := range s.dims {
		n *= int64(d)
	}
	return n
}

func (s slot) bytes() int64 {
	if s.half {
		return 2 * s.elements()
	}
	return 4 * s.elements()
}

// slots lists every tensor in the order of the official files.
func (p Params) slots() []slot {
	var out []slot
	full := func(name string, dims ...int) { out = append(out, slot{name, dims, false}) }
	half := func(name string, dims ...int) { out = append(out, slot{name, dims, true}) }
	norm := func(name string, n int) { full(name+".weight", n); full(name+".bias", n) }
	linear := func(name string, rows, cols int) { half(name+".weight", rows, cols); full(name+".bias", rows) }
	attention := func(name string, n int) {
		norm(name+"_ln", n)
		linear(name+".query", n, n)
		half(name+".key.weight", n, n)
		linear(name+".value", n, n)
		linear(name+".out", n, n)
	}
	block := func(name string, n int) {
		norm(name+"mlp_ln", n)
		linear(name+"mlp.0", 4*n, n)
		linear(name+"mlp.2", n, 4*n)
		attention(name+"attn", n)
	}

	full("decoder.positional_embedding", p.TextCtx, p.TextState)
	full("encoder.positional_embedding", p.AudioCtx, p.AudioState)
	half("decoder.token_embedding.weight", p.Vocab, p.TextState)
	for i := range p.TextLayer {
		name := fmt.Sprintf("decoder.blocks.%d.", i)
		block(name, p.TextState)
		attention(name+"cross_attn", p.TextState)
	}
	norm("decoder.ln", p.TextState)
	half("encoder.conv1.weight", p.AudioState, p.Mels, 3)
	full("encoder.conv1.bias", p.AudioState, 1)
	half("encoder.conv2.weight", p.AudioState, p.AudioState, 3)
	full("encoder.conv2.bias", p.AudioState, 1)
	for i := range p.AudioLayer {
		block(fmt.Sprintf("encoder.blocks.%d.", i), p.AudioState)
	}
	norm("encoder.ln_post", p.AudioState)
	return out
}

// tensor is one array of an input file, checked to lie within it.
type tensor struct {
	name  string
	file  string // base name
	shape []int
	kind  kind
	data  section
}

// ref names the part of an input tensor that fills a slot: the part-th of parts equal bands of rows.
type ref struct {
	name        string
	part, parts int
}

// piece is a ref that was found and has the right shape.
type piece struct {
	t     *tensor
	first int64 // element
}

// assemble finds the tensor of every slot. Tensors that no slot uses and that ignored does
// not accept are refused: the input would be a model of another kind.
func assemble(p Params, file string, refs map[string]ref, have map[string]*tensor, ignored func(string) bool) ([]piece, error) {
	slots := p.slots()
	pieces := make([]piece, 0, len(slots))
	used := map[string]bool{}
	for _, s := range slots {
		r := refs[s.name]
		t := have[r.name]
		if t == nil {
			return nil, bad(file, r.name, "the tensor is missing")
		}
		if t.kind == kindOther {
			return nil, bad(t.file, t.name, "its numbers are quantised or of an unknown type; 16- or 32-bit floating point is needed")
		}
		want := slices.Clone(s.shape())
		want[0] *= r.parts
		if !slices.Equal(t.shape, want) {
			return nil, bad(t.file, t.name, "its shape is %v, the model's dimensions ask for %v", t.shape, want)
		}
		used[r.name] = true
		pieces = append(pieces, piece{t, int64(r.part) * s.elements()})
	}
	for name, t := range have {
		if !used[name] && !ignored(name) {
			return nil, bad(t.file, name, "Whisper has no such tensor")
		}
	}
	return pieces, nil
}

// product multiplies dims; false when it does not fit.
func product(dims []int) (int64, bool) {
	n := int64(1)
	for _, d := range dims {
		if d < 0 || d > 0 && n > math.MaxInt64/int64(d) {
			return 0, false
		}
		n *= int64(d)
	}
	return n, true
}
