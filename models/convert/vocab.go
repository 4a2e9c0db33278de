package convert

import (
	"io"

	"github.com/go-json-experiment/json"
)

const (
	maxJSON   = 64 << 20
	endOfText = "<|endoftext|>"
)

// readJSON reads a document of the folder into v. Names that v does not know are left alone:
// publishers add their own.
func readJSON(dir, name string, v any) error {
	f, size, err := openRegular(dir, name)
	if err != nil {
		return err
	}
	defer f.Close()
	if size > maxJSON {
		return bad(name, "", "the file has %d bytes, at most %d are read", size, maxJSON)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxJSON))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return bad(name, "", "the JSON can't be used: %v", err)
	}
	return nil
}

// tokenizer is the part of tokenizer.json that is needed.
type tokenizer struct {
	Added []struct {
		ID      int    `json:"id"`
		Content string `json:"content"`
	} `json:"added_tokens"`
	Model struct {
		Vocab map[string]int `json:"vocab"`
	} `json:"model"`
}

// readTokenizer returns the vocabulary of tokenizer.json with its added tokens.
func readTokenizer(dir string) (map[string]int, error) {
	var t tokenizer
	if err := readJSON(dir, "tokenizer.json", &t); err != nil {
		return nil, err
	}
	if t.Model.Vocab == nil {
		t.Model.Vocab = map[string]int{}
	}
	for _, a := range t.Added {
		if id, ok := t.Model.Vocab[a.Content]; ok && id != a.ID {
			return nil, bad("tokenizer.json", "", "the token %q has two numbers, %d and %d", a.Content, id, a.ID)
		}
		t.Model.Vocab[a.Content] = a.ID
	}
	return t.Model.Vocab, nil
}

// textTokens returns the bytes of the tokens below the end token, in the order of their
// numbers: that is what a ggml file lists.
func textTokens(file string, vocab map[string]int, size int) ([][]byte, error) {
	end, ok := vocab[endOfText]
	if !ok {
		return nil, bad(file, "", "there is no token %s", endOfText)
	}
	if end < 1 || end >= size {
		return nil, bad(file, "", "the token %s has the number %d, the model has %d tokens", endOfText, end, size)
	}
	if end > len(vocab) {
		return nil, bad(file, "", "there are %d tokens, too few for the number %d of %s", len(vocab), end, endOfText)
	}
	out := make([][]byte, end)
	for s, id := range vocab {
		if id < 0 || id >= size {
			return nil, bad(file, "", "the token %q has the number %d, the model has %d tokens", s, id, size)
		}
		if id >= end {
			continue
		}
		if out[id] != nil {
			return nil, bad(file, "", "two tokens have the number %d", id)
		}
		b := make([]byte, 0, len(s))
		for _, r := range s {
			c, ok := byteOf[r]
			if !ok {
				return nil, bad(file, "", "the token %q is not in the byte-level alphabet", s)
			}
			b = append(b, c)
		}
		out[id] = b
	}
	for id, b := range out {
		if b == nil {
			return nil, bad(file, "", "no token has the number %d", id)
		}
	}
	return out, nil
}

// runeOf is the byte-level alphabet: printable bytes stand for themselves, the others for
// the runes from 256 on in order. byteOf is its inverse.
var runeOf, byteOf = func() (to [256]rune, from map[rune]byte) {
	from = make(map[rune]byte, 256)
	next := rune(256)
	for c := range 256 {
		r := rune(c)
		if !(c > ' ' && c <= '~' || c >= 0xa1 && c != 0xad) {
			r = next
			next++
		}
		to[c], from[r] = r, byte(c)
	}
	return to, from
}()
