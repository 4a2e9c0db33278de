package models

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"

	"crypto/sha256"

	"blockworld-voice/internal/digest"
	"blockworld-voice/models/convert"
)

// State is what Verify found.
type State uint8

const (
	Sound   State = iota // the bytes are those of the digest and the engine can read them
	Damaged              // the file is there and is not the one that was stored
	Missing              // the file is gone
)

var stateNames = [...]string{Sound: "sound", Damaged: "damaged", Missing: "missing"}

func (s State) String() string { return stateNames[s] }

// Checked is the result for one model.
type Checked struct {
	Model  Model
	State  State
	Detail string // what is wrong; "" when sound
}

// Verify reads every byte of the named models, of all when none is named.
func (s *Store) Verify(ctx context.Context, progress Progress, names ...string) ([]Checked, error) {
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	if len(names) > 0 {
		byName := map[string]Model{}
		for _, m := range all {
			byName[m.Name] = m
		}
		all = all[:0]
		for _, name := range names {
			m, ok := byName[name]
			if !ok {
				return nil, misuse("see: blockworld-voice models list", ErrNotInstalled, "no model of the store is called %q", name)
			}
			all = append(all, m)
		}
	}
	out := make([]Checked, 0, len(all))
	for _, m := range all {
		state, detail, err := verify(ctx, m, progress)
		if err != nil {
			return nil, err
		}
		out = append(out, Checked{m, state, detail})
	}
	return out, nil
}

func verify(ctx context.Context, m Model, progress Progress) (State, string, error) {
	f, err := os.Open(m.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return Missing, "the file is gone", nil
	}
	if err != nil {
		return Damaged, err.Error(), nil
	}
	defer f.Close()
	d, n, err := digest.Reader(&watched{ctx: ctx, r: f, total: m.Size, progress: progress})
	switch {
	case ctx.Err() != nil:
		return Damaged, "", ctx.Err()
	case err != nil:
		return Damaged, err.Error(), nil
	case n != m.Size:
		return Damaged, fmt.Sprintf("it has %d bytes instead of %d", n, m.Size), nil
	case d != m.SHA256:
		return Damaged, "its digest is " + d.String(), nil
	}
	if _, err := convert.Check(m.Name, f, n); err != nil {
		return Damaged, err.Error(), nil
	}
	return Sound, "", nil
}

// watched is a reader that ends with ctx and tells its progress.
type watched struct {
	ctx      context.Context
	r        io.Reader
	done     int64
	total    int64
	progress Progress
}

func (w *watched) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.r.Read(p)
	w.done += int64(n)
	if w.progress != nil && n > 0 {
		w.progress(w.done, w.total)
	}
	return n, err
}

// hashing is a writer that knows the digest and the length of what was written.
type hashing struct {
	w io.Writer
	h hash.Hash
	n int64
}

func newHashing(w io.Writer) *hashing { return &hashing{w: w, h: sha256.New()} }

func (h *hashing) Write(p []byte) (int, error) {
	n, err := h.w.Write(p)
	h.h.Write(p[:n])
	h.n += int64(n)
	return n, err
}

func (h *hashing) sum() digest.Digest { return digest.Digest(h.h.Sum(nil)) }
