package convert_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"blockworld-voice/models/convert"
	"blockworld-voice/models/internal/weightstest"
)

func importFolder(t testing.TB, dir string) ([]byte, error) {
	t.Helper()
	var out bytes.Buffer
	err := convert.Import(context.Background(), dir, &out, nil)
	return out.Bytes(), err
}

func TestAllFormsGiveTheSameFile(t *testing.T) {
	s := weightstest.Tiny(1)
	forms := map[string]func(dir string){
		"ct2 f16":          func(dir string) { s.WriteCT2(t, dir, s.CT2(weightstest.F16)) },
		"ct2 f32":          func(dir string) { s.WriteCT2(t, dir, s.CT2(weightstest.F32)) },
		"safetensors f32":  func(dir string) { s.WriteHF(t, dir, weightstest.F32, 1) },
		"safetensors f16":  func(dir string) { s.WriteHF(t, dir, weightstest.F16, 1) },
		"safetensors bf16": func(dir string) { s.WriteHF(t, dir, weightstest.BF16, 1) },
		"shards":           func(dir string) { s.WriteHF(t, dir, weightstest.F32, 4) },
	}
	var first []byte
	for name, write := range forms {
		dir := t.TempDir()
		write(dir)
		got, err := importFolder(t, dir)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if first == nil {
			first = got
		}
		if !bytes.Equal(got, first) {
			t.Errorf("%s: the bytes differ from another form's", name)
		}
	}

	path := filepath.Join(t.TempDir(), "tiny.bin")
	if err := os.WriteFile(path, first, 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := convert.Check("tiny.bin", bytes.NewReader(first), int64(len(first)))
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Tokens) != len(s.Tokens) {
		t.Fatalf("%d tokens, want %d", len(g.Tokens), len(s.Tokens))
	}
	back := weightstest.FromGGML(t, path)
	for i, tok := range s.Tokens {
		if !bytes.Equal(tok, back.Tokens[i]) {
			t.Errorf("token %d is %q, want %q", i, back.Tokens[i], tok)
		}
	}
	if len(back.Tensors) != len(s.Tensors) {
		t.Errorf("%d tensors, want %d", len(back.Tensors), len(s.Tensors))
	}
	for name, want := range s.Tensors {
		got, ok := back.Tensors[name]
		if !ok {
			t.Errorf("%s is missing", name)
			continue
		}
		a, b := want.Load(), got.Load()
		for i := range a {
			if a[i] != b[i] {
				t.Errorf("%s[%d] is %v, want %v", name, i, b[i], a[i])
				break
			}
		}
	}
}

func TestProgressEndsAtTheSize(t *testing.T) {
	s, dir := weightstest.Tiny(1), t.TempDir()
	s.WriteHF(t, dir, weightstest.F32, 1)
	var out bytes.Buffer
	var last, total int64
	err := convert.Import(context.Background(), dir, &out, func(d, n int64) {
		if d < last {
			t.Errorf("progress went back from %d to %d", last, d)
		}
		last, total = d, n
	})
	if err != nil || last != total || total != int64(out.Len()) {
		t.Errorf("err %v, progress %d of %d, %d bytes written", err, last, total, out.Len())
	}
}

func TestImportEndsWithItsContext(t *testing.T) {
	s, dir := weightstest.Tiny(1), t.TempDir()
	s.WriteHF(t, dir, weightstest.F32, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := convert.Import(ctx, dir, &bytes.Buffer{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// wantError holds an error to naming the tensor and saying so much.
func wantError(t *testing.T, err error, tensor, says string) {
	t.Helper()
	var e *convert.Error
	if !errors.As(err, &e) {
		t.Fatalf("err = %v (%T), want a *convert.Error", err, err)
	}
	if e.Tensor != tensor || !strings.Contains(err.Error(), says) {
		t.Errorf("error %q names the tensor %q; want %q and the words %q", err, e.Tensor, tensor, says)
	}
}

func TestBadCT2(t *testing.T) {
	const q = "decoder/layer_0/self_attention/linear_0/weight"
	cases := []struct {
		name, tensor, says string
		spoil              func(*weightstest.Set, *weightstest.CT2)
	}{
		{"missing", q, "missing", func(_ *weightstest.Set, c *weightstest.CT2) { c.Var(q).Name = "decoder/layer_0/other" }},
		{"stranger", "decoder/layer_0/adapter/weight", "no such tensor", func(_ *weightstest.Set, c *weightstest.CT2) {
			c.Vars = append(c.Vars, weightstest.Var{Name: "decoder/layer_0/adapter/weight", Shape: []int{1}, Data: make([]byte, 4)})
		}},
		{"twice", q, "twice", func(_ *weightstest.Set, c *weightstest.CT2) { c.Vars = append(c.Vars, *c.Var(q)) }},
		{"wrong shape", q, "its shape is [8 24]", func(_ *weightstest.Set, c *weightstest.CT2) { c.Var(q).Shape = []int{8, 24} }},
		{"bytes and shape", q, "does not make", func(_ *weightstest.Set, c *weightstest.CT2) { c.Var(q).Shape = []int{24, 9} }},
		{"absurd size", q, "does not make", func(_ *weightstest.Set, c *weightstest.CT2) {
			c.Var(q).Shape = []int{1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1}
		}},
		{"product wraps to the size", q, "does not make", func(_ *weightstest.Set, c *weightstest.CT2) {
			c.Var(q).Shape = []int{1 << 31, 1 << 31, 1 << 2, 192}
		}},
		{"rank", q, "200 dimensions", func(_ *weightstest.Set, c *weightstest.CT2) { c.Var(q).Shape = make([]int, 200) }},
		{"quantised", q, "quantised", func(_ *weightstest.Set, c *weightstest.CT2) {
			v := c.Var(q)
			v.Type, v.Data = 1, v.Data[:len(v.Data)/2]
		}},
		{"unknown type", q, "type 9", func(_ *weightstest.Set, c *weightstest.CT2) { c.Var(q).Type = 9 }},
		{"not finite", q, "not finite", func(_ *weightstest.Set, c *weightstest.CT2) {
			binary.LittleEndian.PutUint16(c.Var(q).Data[10:], 0x7c00)
		}},
		{"key bias", "decoder/layer_0/self_attention/linear_0/bias", "have none", func(_ *weightstest.Set, c *weightstest.CT2) {
			c.Var("decoder/layer_0/self_attention/linear_0/bias").Data[2*9] = 1
		}},
		{"version", "", "version", func(_ *weightstest.Set, c *weightstest.CT2) { c.Version = 5 }},
		{"other model", "", "TransformerSpec", func(_ *weightstest.Set, c *weightstest.CT2) { c.Spec = "TransformerSpec" }},
		{"other activation", "decoder/activation", "value is 0", func(_ *weightstest.Set, c *weightstest.CT2) { c.Var("decoder/activation").Data[0] = 0 }},
		{"alias", "decoder/projection/weight", "alias", func(_ *weightstest.Set, c *weightstest.CT2) { c.Alias[0][1] = "encoder/conv1/weight" }},
		{"config disagrees", "decoder/embeddings/weight", "names token 269", func(s *weightstest.Set, c *weightstest.CT2) {
			v := c.Var("decoder/embeddings/weight")
			v.Shape = []int{265, 8}
			v.Data = v.Data[:265*8*2]
		}},
		{"no heads", "encoder/num_heads", "missing", func(_ *weightstest.Set, c *weightstest.CT2) { c.Var("encoder/num_heads").Name = "encoder/heads" }},
		{"heads don't divide", "", "3 and 2 heads", func(_ *weightstest.Set, c *weightstest.CT2) { c.Var("encoder/num_heads").Data[0] = 3 }},
		{"negative heads", "", "n_audio_head is -2", func(_ *weightstest.Set, c *weightstest.CT2) {
			copy(c.Var("encoder/num_heads").Data, []byte{0xfe, 0xff})
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, dir := weightstest.Tiny(2), t.TempDir()
			f := s.CT2(weightstest.F16)
			c.spoil(s, f)
			s.WriteCT2(t, dir, f)
			_, err := importFolder(t, dir)
			wantError(t, err, c.tensor, c.says)
		})
	}
}

func TestEveryCutOfCT2IsRefused(t *testing.T) {
	s, dir := weightstest.Tiny(3), t.TempDir()
	c := s.CT2(weightstest.F16)
	s.WriteCT2(t, dir, c)
	whole := c.Bytes()
	path := filepath.Join(dir, "model.bin")
	step := 1
	for n := 0; n < len(whole); n += step {
		if n > 500 {
			step = 101
		}
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := importFolder(t, dir)
		var e *convert.Error
		if !errors.As(err, &e) || n > 200 && !strings.Contains(err.Error(), "cut") {
			t.Fatalf("cut at %d of %d: err = %v", n, len(whole), err)
		}
	}
	if err := os.WriteFile(path, append(whole, 0), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := importFolder(t, dir)
	wantError(t, err, "", "1 bytes follow")
}

func TestAbsurdNumbersTakeNoMemory(t *testing.T) {
	head := []byte{6, 0, 0, 0, 12, 0}
	head = append(head, "WhisperSpec\x00"...)
	head = append(head, 3, 0, 0, 0, 0xff, 0xff, 0xff, 0xff) // 2^32-1 variables
	head = append(head, 2, 0, 'x', 0, 4)
	for range 4 {
		head = append(head, 0xff, 0xff, 0xff, 0x7f)
	}
	head = append(head, 0, 0xff, 0xff, 0xff, 0xff)
	dir := t.TempDir()
	weightstest.Tiny(1).WriteCT2(t, dir, &weightstest.CT2{})
	if err := os.WriteFile(filepath.Join(dir, "model.bin"), head, 0o600); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := importFolder(t, dir)
	runtime.ReadMemStats(&after)
	wantError(t, err, "x", "does not make")
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("%d bytes were allocated for a file of %d", used, len(head))
	}
}

func TestBadHF(t *testing.T) {
	const q = "model.decoder.layers.0.self_attn.q_proj.weight"
	edit := func(from, to string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) { replace(t, filepath.Join(dir, "config.json"), from, to) }
	}
	cases := []struct {
		name, tensor, says string
		spoil              func(s *weightstest.Set)
		damage             func(t *testing.T, dir string)
	}{
		{name: "missing", tensor: q, says: "missing", spoil: func(s *weightstest.Set) { s.Drop(q) }},
		{name: "stranger", tensor: "model.decoder.x", says: "no such tensor", spoil: func(s *weightstest.Set) {
			s.Tensors["model.decoder.x"], s.Order = s.Tensors[q], append(s.Order, "model.decoder.x")
		}},
		{name: "wrong shape", tensor: q, says: "its shape is [4 16]", spoil: func(s *weightstest.Set) {
			s.Tensors[q] = weightstest.Tensor{Shape: []int{4, 16}, Load: s.Tensors[q].Load}
		}},
		{name: "another output", tensor: "proj_out.weight", says: "must equal", spoil: func(s *weightstest.Set) {
			in := s.Tensors["model.decoder.embed_tokens.weight"]
			s.Tensors["proj_out.weight"] = weightstest.Tensor{Shape: in.Shape, Load: func() []float32 {
				return append([]float32{9}, in.Load()[1:]...)
			}}
			s.Order = append(s.Order, "proj_out.weight")
		}},
		{name: "too large for f16", tensor: q, says: "too large", spoil: func(s *weightstest.Set) {
			old := s.Tensors[q]
			s.Tensors[q] = weightstest.Tensor{Shape: old.Shape, Load: func() []float32 { return append([]float32{1e6}, old.Load()[1:]...) }}
		}},
		{name: "config width", tensor: "model.decoder.embed_positions.weight", says: "[5 16]", damage: func(t *testing.T, dir string) {
			for _, p := range [][2]string{{`"d_model":8`, `"d_model":16`}, {`"encoder_ffn_dim":32`, `"encoder_ffn_dim":64`}, {`"decoder_ffn_dim":32`, `"decoder_ffn_dim":64`}} {
				replace(t, filepath.Join(dir, "config.json"), p[0], p[1])
			}
		}},
		{name: "config layers", tensor: "model.decoder.layers.2.final_layer_norm.weight", says: "missing", damage: edit(`"decoder_layers":2`, `"decoder_layers":3`)},
		{name: "config huge", says: "n_vocab is 2147483648", damage: edit(`"vocab_size":270`, `"vocab_size":2147483648`)},
		{name: "config negative", says: "n_text_layer is -2", damage: edit(`"decoder_layers":2`, `"decoder_layers":-2`)},
		{name: "config of another model", says: `"bert"`, damage: edit(`"whisper"`, `"bert"`)},
		{name: "config twice", says: "config.json", damage: edit(`"d_model":8`, `"d_model":8,"d_model":8`)},
		{name: "type", tensor: q, says: `"I64"`, damage: func(t *testing.T, dir string) {
			inEntry(t, dir, q, `"F32"`, `"I64"`)
		}},
		{name: "offsets outside", tensor: q, says: "cut or damaged", damage: func(t *testing.T, dir string) { inEntry(t, dir, q, `"data_offsets":[`, `"data_offsets":[9`) }},
		{name: "absurd shape", tensor: q, says: "does not make", damage: func(t *testing.T, dir string) {
			inEntry(t, dir, q, `"shape":[8,8]`, `"shape":[4294967296,4294967296]`)
		}},
		{name: "negative shape", tensor: q, says: "does not make", damage: func(t *testing.T, dir string) { inEntry(t, dir, q, `"shape":[8,8]`, `"shape":[-8,-8]`) }},
		{name: "vocabulary hole", says: "no token has the number", damage: func(t *testing.T, dir string) {
			replace(t, filepath.Join(dir, "vocab.json"), `"A":65,`, ``)
		}},
		{name: "vocabulary twice", says: "two tokens have the number 66", damage: func(t *testing.T, dir string) {
			replace(t, filepath.Join(dir, "vocab.json"), `"A":65,`, `"A":66,`)
		}},
		{name: "no vocabulary", says: "tokenizer.json: the file is missing", damage: func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "vocab.json")) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, dir := weightstest.Tiny(4), t.TempDir()
			if c.spoil != nil {
				c.spoil(s)
			}
			s.WriteHF(t, dir, weightstest.F32, 1)
			if c.damage != nil {
				c.damage(t, dir)
			}
			_, err := importFolder(t, dir)
			wantError(t, err, c.tensor, c.says)
		})
	}
}

func replace(t *testing.T, path, from, to string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(b, []byte(from)) {
		t.Fatalf("%s does not contain %s", path, from)
	}
	if err := os.WriteFile(path, bytes.Replace(b, []byte(from), []byte(to), 1), 0o600); err != nil {
		t.Fatal(err)
	}
}

// inEntry changes the description of one tensor and keeps the file's frame right.
func inEntry(t *testing.T, dir, tensor, from, to string) {
	t.Helper()
	path := filepath.Join(dir, "model.safetensors")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := binary.LittleEndian.Uint64(b)
	head, data := string(b[8:8+n]), b[8+n:]
	at := strings.Index(head, `"`+tensor+`"`)
	end := at + strings.Index(head[at:], "}")
	entry := head[at:end]
	if at < 0 || !strings.Contains(entry, from) {
		t.Fatalf("the entry %s has no %s", entry, from)
	}
	head = head[:at] + strings.Replace(entry, from, to, 1) + head[end:]
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	if err := os.WriteFile(path, append(append(out, head...), data...), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestBadShards(t *testing.T) {
	write := func(t *testing.T) (string, string) {
		s, dir := weightstest.Tiny(5), t.TempDir()
		s.WriteHF(t, dir, weightstest.F16, 3)
		return dir, filepath.Join(dir, "model.safetensors.index.json")
	}
	t.Run("outside the folder", func(t *testing.T) {
		dir, index := write(t)
		replace(t, index, `"model-00001-of-00003.safetensors"`, `"../model-00001-of-00003.safetensors"`)
		_, err := importFolder(t, dir)
		var e *convert.Error
		if !errors.As(err, &e) || e.Tensor == "" || !strings.Contains(err.Error(), "within the folder") {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("shard missing", func(t *testing.T) {
		dir, _ := write(t)
		os.Remove(filepath.Join(dir, "model-00002-of-00003.safetensors"))
		_, err := importFolder(t, dir)
		wantError(t, err, "", "model-00002-of-00003.safetensors: the file is missing")
	})
	t.Run("index names the wrong shard", func(t *testing.T) {
		dir, index := write(t)
		const n = "model.encoder.layers.0.self_attn.q_proj.weight"
		replace(t, index, n+`":"model-00001-of-00003`, n+`":"model-00002-of-00003`)
		_, err := importFolder(t, dir)
		wantError(t, err, n, "not in model-00002")
	})
	t.Run("a shard is cut", func(t *testing.T) {
		dir, _ := write(t)
		path := filepath.Join(dir, "model-00003-of-00003.safetensors")
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		for n := int64(0); n < st.Size(); n += 1 + n/7 {
			if err := os.Truncate(path, st.Size()-1-n); err != nil {
				t.Fatal(err)
			}
			_, err := importFolder(t, dir)
			var e *convert.Error
			if !errors.As(err, &e) || e.File != filepath.Base(path) {
				t.Fatalf("%d bytes less: err = %v", n+1, err)
			}
		}
	})
}

func TestFolderOfNothing(t *testing.T) {
	_, err := importFolder(t, t.TempDir())
	wantError(t, err, "", "neither model.bin")
	if _, err := importFolder(t, filepath.Join(t.TempDir(), "gone")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("err = %v", err)
	}
}
