// Package convert turns published Whisper weights into the one file format that the engine
// reads (ggml, 16-bit), and checks files of that format.
//
// The same weights always give the same bytes, so the result is known by its digest. Input is
// not trusted: every count and length is checked against the file before it is used, tensors
// are streamed, and an error names the tensor that is at fault.
package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Error says what is wrong with an input.
type Error struct {
	File    string // base name of the file at fault, "" when it is the folder as a whole
	Tensor  string // as the input names it, "" when no tensor is at fault
	Problem string
}

func (e *Error) Error() string {
	s := e.Problem
	if e.Tensor != "" {
		s = "tensor " + e.Tensor + ": " + s
	}
	if e.File != "" {
		s = e.File + ": " + s
	}
	return s
}

func bad(file, tensor, format string, args ...any) error {
	return &Error{File: file, Tensor: tensor, Problem: fmt.Sprintf(format, args...)}
}

// Progress is told how many bytes of how many are written; it is called on the goroutine of the caller.
type Progress func(done, total int64)

// weights is an input that was opened and found complete: nothing is left to go wrong but
// reading and values that the output can't hold.
type weights struct {
	params Params
	tokens [][]byte
	mels   []float32
	pieces []piece // in the order of params.slots
	files  []*os.File
}

func (w *weights) Close() error {
	var errs []error
	for _, f := range w.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// Import writes the weights of the folder dir to w as one ggml file. A folder holds either a
// CTranslate2 release (model.bin) or a Hugging Face one (model.safetensors, or an index of shards).
// What was written before an error is worth nothing.
func Import(ctx context.Context, dir string, w io.Writer, progress Progress) (err error) {
	src, err := open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	return src.write(ctx, w, progress)
}

func open(dir string) (*weights, error) {
	switch {
	case exists(dir, "model.bin"):
		return openCT2(dir)
	case exists(dir, "model.safetensors"), exists(dir, indexName):
		return openHF(dir)
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	return nil, bad("", "", "the folder holds neither model.bin (CTranslate2) nor model.safetensors or %s (Hugging Face)", indexName)
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// openRegular opens a file of the folder and returns its size.
func openRegular(dir, name string) (*os.File, int64, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, bad(name, "", "the file is missing")
	}
	if err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = bad(name, "", "this is not a plain file")
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, st.Size(), nil
}
