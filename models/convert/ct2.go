package convert

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const ct2File = "model.bin"

// ct2Flags are the scalars of a release that change what the weights mean, with the only
// values that Whisper has.
var ct2Flags = map[string]int{
	"decoder/activation":                3, // GELU
	"decoder/alibi":                     0,
	"decoder/pre_norm":                  1,
	"decoder/scale_embeddings":          0,
	"decoder/start_from_zero_embedding": 0,
}

// openCT2 opens a CTranslate2 release: model.bin, config.json, tokenizer.json.
func openCT2(dir string) (_ *weights, err error) {
	f, size, err := openRegular(dir, ct2File)
	if err != nil {
		return nil, err
	}
	w := &weights{files: []*os.File{f}}
	defer func() {
		if err != nil {
			w.Close()
		}
	}()
	have, scalars, err := readCT2(f, size)
	if err != nil {
		return nil, err
	}
	for name, v := range ct2Flags {
		if got, ok := scalars[name]; ok && got != v {
			return nil, bad(ct2File, name, "its value is %d, Whisper has %d", got, v)
		}
	}
	if w.params, err = ct2Params(have, scalars); err != nil {
		return nil, err
	}
	if err := checkCT2Config(dir, w.params); err != nil {
		return nil, err
	}
	vocab, err := readTokenizer(dir)
	if err != nil {
		return nil, err
	}
	if w.tokens, err = textTokens("tokenizer.json", vocab, w.params.Vocab); err != nil {
		return nil, err
	}
	refs := ct2Refs(w.params)
	if w.pieces, err = assemble(w.params, ct2File, refs, have, func(string) bool { return false }); err != nil {
		return nil, err
	}
	if err := checkKeyBias(w.params, have); err != nil {
		return nil, err
	}
	w.mels = melFilters(w.params.Mels)
	return w, nil
}

// ct2Params reads the dimensions off the tensors' shapes; assemble then holds every tensor to them.
func ct2Params(have map[string]*tensor, scalars map[string]int) (Params, error) {
	var err error
	dim := func(name string, rank, i int) int {
		t := have[name]
		switch {
		case err != nil:
			return 0
		case t == nil:
			err = bad(ct2File, name, "the tensor is missing")
			return 0
		case len(t.shape) != rank:
			err = bad(ct2File, name, "its shape is %v, it must have %d dimensions", t.shape, rank)
			return 0
		}
		return t.shape[i]
	}
	scalar := func(name string) int {
		v, ok := scalars[name]
		if !ok && err == nil {
			err = bad(ct2File, name, "the value is missing")
		}
		return v
	}
	layers := func(side string) (n int) {
		for have[fmt.Sprintf("%s/layer_%d/ffn/linear_0/weight", side, n)] != nil {
			n++
		}
		return n
	}
	p := Params{
		Vocab:      dim("decoder/embeddings/weight", 2, 0),
		AudioCtx:   dim("encoder/position_encodings/encodings", 2, 0),
		AudioState: dim("encoder/position_encodings/encodings", 2, 1),
		AudioHead:  scalar("encoder/num_heads"),
		AudioLayer: layers("encoder"),
		TextCtx:    dim("decoder/position_encodings/encodings", 2, 0),
		TextState:  dim("decoder/embeddings/weight", 2, 1),
		TextHead:   scalar("decoder/num_heads"),
		TextLayer:  layers("decoder"),
		Mels:       dim("encoder/conv1/weight", 3, 1),
	}
	if err != nil {
		return Params{}, err
	}
	return p, p.check(ct2File)
}

// checkCT2Config holds config.json, which lists token numbers and attention heads, and
// vocabulary.txt against the tensors.
func checkCT2Config(dir string, p Params) error {
	var c struct {
		AlignmentHeads [][2]int `json:"alignment_heads"`
		LangIDs        []int    `json:"lang_ids"`
		SuppressIDs    []int    `json:"suppress_ids"`
		SuppressBegin  []int    `json:"suppress_ids_begin"`
	}
	if err := readJSON(dir, "config.json", &c); err != nil {
		return err
	}
	for _, id := range slices.Concat(c.LangIDs, c.SuppressIDs, c.SuppressBegin) {
		if id < 0 || id >= p.Vocab {
			return bad(ct2File, "decoder/embeddings/weight", "it has %d rows, config.json names token %d", p.Vocab, id)
		}
	}
	for _, h := range c.AlignmentHeads {
		if h[0] < 0 || h[0] >= p.TextLayer || h[1] < 0 || h[1] >= p.TextHead {
			return bad(ct2File, "decoder/num_heads", "there are %d layers of %d heads, config.json names head %d of layer %d", p.TextLayer, p.TextHead, h[1], h[0])
		}
	}
	list, err := os.Open(filepath.Join(dir, "vocabulary.txt"))
	if errors.Is(err, os.ErrNotExist) {
		return nil // newer releases have a JSON list; tokenizer.json is what counts
	}
	if err != nil {
		return err
	}
	defer list.Close()
	lines, buf := 0, make([]byte, 64<<10)
	for err == nil {
		var n int
		n, err = list.Read(buf)
		lines += bytes.Count(buf[:n], []byte("\n"))
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	if lines != p.Vocab {
		return bad(ct2File, "decoder/embeddings/weight", "it has %d rows, vocabulary.txt has %d lines", p.Vocab, lines)
	}
	return nil
}

// ct2Refs names the tensor of every slot. Queries, keys and values are stacked by rows.
func ct2Refs(p Params) map[string]ref {
	refs := map[string]ref{}
	put := func(to, from string, part, parts int) {
		for _, end := range []string{".weight", ".bias"} {
			refs[to+end] = ref{from + strings.Replace(end, ".", "/", 1), part, parts}
		}
	}
	norm := func(to, from string) {
		refs[to+".weight"] = ref{from + "/gamma", 0, 1}
		refs[to+".bias"] = ref{from + "/beta", 0, 1}
	}
	block := func(side string, i int) {
		to, from := fmt.Sprintf("%s.blocks.%d.", side, i), fmt.Sprintf("%s/layer_%d/", side, i)
		norm(to+"mlp_ln", from+"ffn/layer_norm")
		put(to+"mlp.0", from+"ffn/linear_0", 0, 1)
		put(to+"mlp.2", from+"ffn/linear_1", 0, 1)
		norm(to+"attn_ln", from+"self_attention/layer_norm")
		put(to+"attn.query", from+"self_attention/linear_0", 0, 3)
		put(to+"attn.key", from+"self_attention/linear_0", 1, 3)
		put(to+"attn.value", from+"self_attention/linear_0", 2, 3)
		put(to+"attn.out", from+"self_attention/linear_1", 0, 1)
	}
	for i := range p.AudioLayer {
		block("encoder", i)
	}
	for i := range p.TextLayer {
		block("decoder", i)
		to, from := fmt.Sprintf("decoder.blocks.%d.", i), fmt.Sprintf("decoder/layer_%d/attention/", i)
		norm(to+"cross_attn_ln", from+"layer_norm")
		put(to+"cross_attn.query", from+"linear_0", 0, 1)
		put(to+"cross_attn.key", from+"linear_1", 0, 2)
		put(to+"cross_attn.value", from+"linear_1", 1, 2)
		put(to+"cross_attn.out", from+"linear_2", 0, 1)
	}
	put("encoder.conv1", "encoder/conv1", 0, 1)
	put("encoder.conv2", "encoder/conv2", 0, 1)
	norm("encoder.ln_post", "encoder/layer_norm")
	norm("decoder.ln", "decoder/layer_norm")
	refs["decoder.token_embedding.weight"] = ref{"decoder/embeddings/weight", 0, 1}
	refs["decoder.positional_embedding"] = ref{"decoder/position_encodings/encodings", 0, 1}
	refs["encoder.positional_embedding"] = ref{"encoder/position_encodings/encodings", 0, 1}
	return refs
}

// checkKeyBias proves that the part which a ggml file can't hold, a bias of the keys, is zero.
func checkKeyBias(p Params, have map[string]*tensor) error {
	refs := ct2Refs(p)
	for name, r := range refs {
		if !strings.HasSuffix(name, "attn.key.bias") {
			continue
		}
		t := have[r.name]
		size := int64(p.TextState) * t.kind.size()
		b := make([]byte, size)
		if _, err := t.data.r.ReadAt(b, t.data.off+int64(r.part)*size); err != nil {
			return fmt.Errorf("read %s: %w", t.file, err)
		}
		if b, _ = toFull(nil, b, t.kind); len(bytes.Trim(b, "\x00\x80")) != 0 {
			return bad(t.file, t.name, "its keys have a bias; Whisper's have none")
		}
	}
	return nil
}

// readCT2 lists the tensors and the scalars of model.bin. Nothing is allocated by a number
// of the file before the file was found to be that long.
func readCT2(f io.ReaderAt, size int64) (map[string]*tensor, map[string]int, error) {
	c := &cursor{r: bufio.NewReaderSize(io.NewSectionReader(f, 0, size), 4096), f: f, size: size}
	if v := c.u32(); c.err == nil && v != 6 {
		return nil, nil, bad(ct2File, "", "its version is %d, only version 6 is read; this may be no CTranslate2 file", v)
	}
	if spec := c.str(); c.err == nil && spec != "WhisperSpec" {
		return nil, nil, bad(ct2File, "", "it holds %q, not WhisperSpec", spec)
	}
	c.u32() // revision
	have, scalars := map[string]*tensor{}, map[string]int{}
	count := c.u32()
	for i := uint32(0); i < count && c.err == nil; i++ {
		name := c.str()
		c.at = name
		t := &tensor{name: name, file: ct2File}
		rank := c.u8()
		if rank > 4 {
			return nil, nil, bad(ct2File, name, "it has %d dimensions, at most 4 make sense", rank)
		}
		for range rank {
			t.shape = append(t.shape, int(c.u32()))
		}
		width := int64(0)
		switch k := c.u8(); k {
		case 0:
			t.kind, width = kindF32, 4
		case 1:
			width = 1
		case 2:
			width = 2
		case 3:
			width = 4
		case 4:
			t.kind, width = kindF16, 2
		default:
			if c.err == nil {
				return nil, nil, bad(ct2File, name, "its type %d is unknown", k)
			}
		}
		bytes := int64(c.u32())
		if c.err != nil {
			break
		}
		n, ok := product(t.shape)
		if !ok || n > bytes/width || n*width != bytes {
			return nil, nil, bad(ct2File, name, "its shape %v does not make %d bytes", t.shape, bytes)
		}
		if have[name] != nil {
			return nil, nil, bad(ct2File, name, "the tensor occurs twice")
		}
		if rank == 0 && t.kind == kindOther {
			scalars[name] = c.scalar(bytes)
			continue
		}
		t.data = section{f, c.pos, bytes}
		have[name] = t
		c.skip(bytes)
	}
	c.at = ""
	aliases := c.u32()
	for i := uint32(0); i < aliases && c.err == nil; i++ {
		alias, name := c.str(), c.str()
		if c.err == nil && (alias != "decoder/projection/weight" || name != "decoder/embeddings/weight") {
			return nil, nil, bad(ct2File, alias, "Whisper has no such alias (of %s)", name)
		}
	}
	if c.err != nil {
		return nil, nil, c.err
	}
	if c.pos != size {
		return nil, nil, bad(ct2File, "", "%d bytes follow after the end", size-c.pos)
	}
	return have, scalars, nil
}
