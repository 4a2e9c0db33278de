package convert

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sort"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	singleName = "model.safetensors"
	indexName  = "model.safetensors.index.json"
	// maxHeader is the largest list of tensors; the format itself allows no more.
	maxHeader = 100_000_000
	maxShards = 1000
)

// hfConfig is the part of config.json that decides what the weights mean.
type hfConfig struct {
	ModelType  string `json:"model_type"`
	Vocab      int    `json:"vocab_size"`
	AudioCtx   int    `json:"max_source_positions"`
	State      int    `json:"d_model"`
	AudioHead  int    `json:"encoder_attention_heads"`
	AudioLayer int    `json:"encoder_layers"`
	AudioFFN   int    `json:"encoder_ffn_dim"`
	TextCtx    int    `json:"max_target_positions"`
	TextHead   int    `json:"decoder_attention_heads"`
	TextLayer  int    `json:"decoder_layers"`
	TextFFN    int    `json:"decoder_ffn_dim"`
	Mels       int    `json:"num_mel_bins"`
	Activation string `json:"activation_function"`
	Scale      bool   `json:"scale_embedding"`
}

// openHF opens a Hugging Face release: config.json, the safetensors, and vocab.json with
// added_tokens.json (or tokenizer.json).
func openHF(dir string) (_ *weights, err error) {
	var c hfConfig
	if err := readJSON(dir, "config.json", &c); err != nil {
		return nil, err
	}
	p := Params{c.Vocab, c.AudioCtx, c.State, c.AudioHead, c.AudioLayer, c.TextCtx, c.State, c.TextHead, c.TextLayer, c.Mels}
	switch {
	case c.ModelType != "whisper":
		return nil, bad("config.json", "", "the model is a %q, not a \"whisper\"", c.ModelType)
	case c.Activation != "gelu" || c.Scale:
		return nil, bad("config.json", "", "the activation is %q and embeddings are scaled: %v; Whisper has \"gelu\" and does not scale", c.Activation, c.Scale)
	case c.AudioFFN != 4*c.State || c.TextFFN != 4*c.State:
		return nil, bad("config.json", "", "the inner widths are %d and %d, Whisper has 4 × %d", c.AudioFFN, c.TextFFN, c.State)
	}
	if err := p.check("config.json"); err != nil {
		return nil, err
	}
	w := &weights{params: p, mels: melFilters(p.Mels)}
	defer func() {
		if err != nil {
			w.Close()
		}
	}()
	if w.tokens, err = hfTokens(dir, p.Vocab); err != nil {
		return nil, err
	}
	have, err := w.openShards(dir)
	if err != nil {
		return nil, err
	}
	w.pieces, err = assemble(p, singleName, hfRefs(p), have, func(name string) bool { return name == "proj_out.weight" })
	if err != nil {
		return nil, err
	}
	if err := checkTied(have); err != nil {
		return nil, err
	}
	return w, nil
}

func hfTokens(dir string, size int) ([][]byte, error) {
	if !exists(dir, "vocab.json") {
		vocab, err := readTokenizer(dir)
		if err != nil {
			return nil, err
		}
		return textTokens("tokenizer.json", vocab, size)
	}
	vocab, added := map[string]int{}, map[string]int{}
	if err := readJSON(dir, "vocab.json", &vocab); err != nil {
		return nil, err
	}
	if exists(dir, "added_tokens.json") {
		if err := readJSON(dir, "added_tokens.json", &added); err != nil {
			return nil, err
		}
	}
	for s, id := range added {
		if old, ok := vocab[s]; ok && old != id {
			return nil, bad("added_tokens.json", "", "the token %q has two numbers, %d and %d", s, old, id)
		}
		vocab[s] = id
	}
	return textTokens("vocab.json", vocab, size)
}

// openShards opens every safetensors file of the folder and lists all tensors.
func (w *weights) openShards(dir string) (map[string]*tensor, error) {
	have := map[string]*tensor{}
	if !exists(dir, indexName) {
		return have, w.openShard(dir, singleName, have)
	}
	var index struct {
		Map map[string]string `json:"weight_map"`
	}
	if err := readJSON(dir, indexName, &index); err != nil {
		return nil, err
	}
	var shards []string
	for name, file := range index.Map {
		if file != filepath.Base(file) || file == "." || file == ".." {
			return nil, bad(indexName, name, "the file %q is not a name within the folder", file)
		}
		if !slices.Contains(shards, file) {
			shards = append(shards, file)
		}
		if len(shards) > maxShards {
			return nil, bad(indexName, "", "more than %d files are named", maxShards)
		}
	}
	sort.Strings(shards)
	for _, file := range shards {
		if err := w.openShard(dir, file, have); err != nil {
			return nil, err
		}
	}
	for name, file := range index.Map {
		if t := have[name]; t == nil || t.file != file {
			return nil, bad(indexName, name, "the tensor is not in %s", file)
		}
	}
	for name, t := range have {
		if _, ok := index.Map[name]; !ok {
			return nil, bad(t.file, name, "the index does not name the tensor")
		}
	}
	return have, nil
}

func (w *weights) openShard(dir, name string, have map[string]*tensor) error {
	f, size, err := openRegular(dir, name)
	if err != nil {
		return err
	}
	w.files = append(w.files, f)
	var head [8]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return bad(name, "", "the file has %d bytes, it is no safetensors file", size)
	}
	n := little.Uint64(head[:])
	if n > maxHeader || int64(n) > size-8 {
		return bad(name, "", "the list of tensors should have %d bytes; the file is cut or no safetensors file", n)
	}
	list := make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(f, 8, int64(n)), list); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	var raw map[string]jsontext.Value
	if err := json.Unmarshal(list, &raw); err != nil {
		return bad(name, "", "the list of tensors can't be read: %v", err)
	}
	delete(raw, "__metadata__")
	var all []*tensor
	for key, v := range raw {
		t, err := parseEntry(name, key, v, f, 8+int64(n), size)
		if err != nil {
			return err
		}
		if have[key] != nil {
			return bad(name, key, "the tensor occurs twice, also in %s", have[key].file)
		}
		have[key] = t
		all = append(all, t)
	}
	// The format wants the data to be without holes and overlaps.
	sort.Slice(all, func(i, j int) bool { return all[i].data.off < all[j].data.off })
	at := 8 + int64(n)
	for _, t := range all {
		if t.data.off != at {
			return bad(name, t.name, "its data begin at byte %d, the one before ends at %d", t.data.off, at)
		}
		at += t.data.size
	}
	if at != size {
		return bad(name, "", "the tensors end at byte %d, the file at %d", at, size)
	}
	return nil
}

func parseEntry(file, name string, v jsontext.Value, f io.ReaderAt, base, size int64) (*tensor, error) {
	var e struct {
		DType   string   `json:"dtype"`
		Shape   []int    `json:"shape"`
		Offsets [2]int64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(v, &e, json.RejectUnknownMembers(true)); err != nil {
		return nil, bad(file, name, "its description can't be read: %v", err)
	}
	t := &tensor{name: name, file: file, shape: e.Shape}
	switch e.DType {
	case "F32":
		t.kind = kindF32
	case "F16":
		t.kind = kindF16
	case "BF16":
		t.kind = kindBF16
	default:
		return nil, bad(file, name, "its type is %q; F32, F16 or BF16 is needed", e.DType)
	}
	from, to := e.Offsets[0], e.Offsets[1]
	if from < 0 || to < from || to > size-base {
		return nil, bad(file, name, "its data should be the bytes %d to %d, the file has %d: it is cut or damaged", from, to, size-base)
	}
	n, ok := product(e.Shape)
	if !ok || n > (to-from)/t.kind.size() || n*t.kind.size() != to-from {
		return nil, bad(file, name, "its shape %v does not make %d bytes", e.Shape, to-from)
	}
	t.data = section{f, base + from, to - from}
	return t, nil
}

// checkTied proves that an output projection, where a release stores one, is the embedding
// itself: the engine has no room for another.
func checkTied(have map[string]*tensor) error {
	out, in := have["proj_out.weight"], have["model.decoder.embed_tokens.weight"]
	if out == nil {
		return nil
	}
	if out.kind != in.kind || !slices.Equal(out.shape, in.shape) {
		return bad(out.file, out.name, "it must equal %s and has another shape or type", in.name)
	}
	a, b := make([]byte, chunkSize), make([]byte, chunkSize)
	for off := int64(0); off < in.data.size; off += chunkSize {
		n := min(chunkSize, in.data.size-off)
		if _, err := in.data.r.ReadAt(a[:n], in.data.off+off); err != nil {
			return fmt.Errorf("read %s: %w", in.file, err)
		}
		if _, err := out.data.r.ReadAt(b[:n], out.data.off+off); err != nil {
			return fmt.Errorf("read %s: %w", out.file, err)
		}
		if string(a[:n]) != string(b[:n]) {
			return bad(out.file, out.name, "it must equal %s and does not", in.name)
		}
	}
	return nil
}

// hfRefs names the tensor of every slot.
func hfRefs(p Params) map[string]ref {
	refs := map[string]ref{}
	put := func(to, from string) {
		for _, end := range []string{".weight", ".bias"} {
			refs[to+end] = ref{"model." + from + end, 0, 1}
		}
	}
	attention := func(to, from string) {
		put(to+"_ln", from+"_layer_norm")
		put(to+".query", from+".q_proj")
		put(to+".key", from+".k_proj")
		put(to+".value", from+".v_proj")
		put(to+".out", from+".out_proj")
	}
	block := func(side string, i int) {
		to, from := fmt.Sprintf("%s.blocks.%d.", side, i), fmt.Sprintf("%s.layers.%d.", side, i)
		put(to+"mlp_ln", from+"final_layer_norm")
		put(to+"mlp.0", from+"fc1")
		put(to+"mlp.2", from+"fc2")
		attention(to+"attn", from+"self_attn")
		if side == "decoder" {
			attention(to+"cross_attn", from+"encoder_attn")
		}
	}
	for i := range p.AudioLayer {
		block("encoder", i)
	}
	for i := range p.TextLayer {
		block("decoder", i)
	}
	put("encoder.conv1", "encoder.conv1")
	put("encoder.conv2", "encoder.conv2")
	put("encoder.ln_post", "encoder.layer_norm")
	put("decoder.ln", "decoder.layer_norm")
	refs["decoder.token_embedding.weight"] = ref{"model.decoder.embed_tokens.weight", 0, 1}
	refs["decoder.positional_embedding"] = ref{"model.decoder.embed_positions.weight", 0, 1}
	refs["encoder.positional_embedding"] = ref{"model.encoder.embed_positions.weight", 0, 1}
	return refs
}
