package models

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"blockworld-voice/internal/atomicfile"
	"blockworld-voice/internal/digest"
	"blockworld-voice/models/convert"
)

// restsAge is how long an unfinished download may wait to be continued.
const restsAge = 14 * 24 * time.Hour

// Store is a folder of weights.
type Store struct {
	dir       string
	retryWait time.Duration // before a download is begun anew, doubled each time
}

// DefaultDir is the folder of the user's own store.
func DefaultDir() (string, error) {
	data := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) { // the XDG rules: what is not absolute is ignored
		home, err := os.UserHomeDir()
		if err != nil {
			return "", failf("set HOME or XDG_DATA_HOME", err, "there is no folder for models")
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "blockworld-voice", "models"), nil
}

// Open opens the store in dir and makes the folder when there is none.
func Open(dir string) (*Store, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(abs, 0o700)
	}
	if err != nil {
		return nil, failf("check the folder, or name another with XDG_DATA_HOME", err, "the model store can't be opened")
	}
	return &Store{dir: abs, retryWait: 500 * time.Millisecond}, nil
}

// Dir is the folder of the store.
func (s *Store) Dir() string { return s.dir }

func (s *Store) path(d digest.Digest) string { return filepath.Join(s.dir, filePrefix+d.String()) }

func (s *Store) model(r record) Model {
	return Model{Name: r.Name, Path: s.path(r.SHA256), Size: r.Size, SHA256: r.SHA256, Origin: r.Origin, Trust: r.Trust, Stored: true}
}

// List returns the named models in the order of their names. It does not look at the files.
func (s *Store) List() ([]Model, error) {
	t, err := s.readTable()
	if err != nil {
		return nil, err
	}
	out := make([]Model, 0, len(t.Models))
	for _, r := range t.Models {
		out = append(out, s.model(r))
	}
	return out, nil
}

// Resolve finds the model that a user named: a name of the store, a digest (hexadecimal, with
// or without "sha256-") of the store, or a file elsewhere (anything with a slash, or an existing
// file that is no name of the store). A stored file is held to its size, and by Verify to its
// digest; a file elsewhere is checked and hashed here.
func (s *Store) Resolve(nameOrFile string) (Model, error) {
	t, err := s.readTable()
	if err != nil {
		return Model{}, err
	}
	if r, ok := t.find(nameOrFile); ok {
		return s.present(s.model(r))
	}
	if d, err := digest.Parse(strings.TrimPrefix(nameOrFile, filePrefix)); err == nil {
		for _, r := range t.Models {
			if r.SHA256 == d {
				return s.present(s.model(r))
			}
		}
	}
	_, statErr := os.Stat(nameOrFile)
	if strings.ContainsRune(nameOrFile, filepath.Separator) || statErr == nil {
		return fileModel(nameOrFile)
	}
	if e, ok := Lookup(nameOrFile); ok {
		return Model{}, failf(howToGet(e), ErrNotInstalled, "the model %s is not there", nameOrFile)
	}
	return Model{}, misuse("see: blockworld-voice models list", ErrNotInstalled, "no model and no file is called %q", nameOrFile)
}

func howToGet(e Entry) string {
	switch e.Form {
	case FormGGML:
		return "get it with: blockworld-voice models pull " + e.Name
	case FormSafetensors:
		return "download the folder " + e.Origin + " and run: blockworld-voice models import --name " + e.Name + " FOLDER"
	}
	return ""
}

func (s *Store) present(m Model) (Model, error) {
	st, err := os.Stat(m.Path)
	if err == nil && st.Size() != m.Size {
		err = fmt.Errorf("%w: it has %d bytes instead of %d", ErrDigest, st.Size(), m.Size)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: the file %s is gone", ErrNotInstalled, m.Path)
	}
	if err != nil {
		return Model{}, failf("remove it with: blockworld-voice models rm "+m.Name+" — and get it again", err, "the model %s can't be used", m.Name)
	}
	return m, nil
}

func fileModel(path string) (Model, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Model{}, err
	}
	size, err := checkFile(abs)
	if err != nil {
		return Model{}, err
	}
	d, _, err := digest.File(abs)
	if err != nil {
		return Model{}, failf("", err, "the model file can't be read")
	}
	trust := TrustLocal
	if _, ok := known(d); ok {
		trust = TrustCatalogue
	}
	return Model{Name: filepath.Base(abs), Path: abs, Size: size, SHA256: d, Origin: abs, Trust: trust}, nil
}

// checkFile says whether the engine can read the file at path, and how long it is.
func checkFile(path string) (int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not make us wait
	if err != nil {
		return 0, failf("", err, "the model file can't be opened")
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !st.Mode().IsRegular() {
		return 0, misuse("name a ggml file of Whisper weights", nil, "%s is not a plain file", path)
	}
	if _, err := convert.Check(filepath.Base(path), f, st.Size()); err != nil {
		return 0, failf("name a complete ggml file of Whisper weights; folders are converted with: blockworld-voice models import", err, "the model file can't be used")
	}
	return st.Size(), nil
}

// temp makes a private file in the store that keep or discard ends.
func (s *Store) temp() (*os.File, error) {
	_ = s.Sweep(restsAge) // what can't be removed now will be another time
	f, err := os.CreateTemp(s.dir, tempPrefix+"*.new")
	if err != nil {
		return nil, failf("check the folder and the space on the disk", err, "the model store can't be written")
	}
	return f, nil
}

func discard(f *os.File) {
	f.Close()
	os.Remove(f.Name())
}

// keep closes f, a complete file with the digest and size of r, and gives it its place and
// its name. The file at r's digest, where there is one, is replaced: it may be damaged.
func (s *Store) keep(f *os.File, r record) (Model, error) {
	defer discard(f)
	if e, ok := known(r.SHA256); ok && e.Size == r.Size {
		r.Trust = TrustCatalogue
	}
	if err := f.Sync(); err != nil {
		return Model{}, failf("check the space on the disk", err, "the model can't be stored")
	}
	err := s.change(func(t *table) error {
		if err := s.free(t, r); err != nil {
			return err
		}
		if err := os.Rename(f.Name(), s.path(r.SHA256)); err != nil {
			return err
		}
		if err := atomicfile.SyncDir(s.dir); err != nil {
			return err
		}
		t.put(r)
		return nil
	})
	if err != nil {
		return Model{}, err
	}
	return s.model(r), nil
}

// free refuses a name that stands for other bytes.
func (s *Store) free(t *table, r record) error {
	if old, ok := t.find(r.Name); ok && old.SHA256 != r.SHA256 {
		return misuse("choose another name, or first run: blockworld-voice models rm "+r.Name, nil,
			"the name %s is taken by the model %s", r.Name, old.SHA256.Short())
	}
	return claim(r.Name, r.SHA256)
}

// claim refuses a catalogue name for bytes that are not the catalogue's.
func claim(name string, d digest.Digest) error {
	if e, ok := Lookup(name); ok && !e.SHA256.IsZero() && e.SHA256 != d {
		return failf("choose another name; if these should be the catalogue's bytes, they are damaged", ErrDigest,
			"the model %s has the digest %s, these weights have %s", name, e.SHA256, d)
	}
	return nil
}

func (t *table) put(r record) {
	for i := range t.Models {
		if t.Models[i].Name == r.Name {
			t.Models[i] = r
			return
		}
	}
	t.Models = append(t.Models, r)
}

// Add copies a ggml file into the store. An empty name asks for the catalogue's name of
// these bytes, else one made of the file's name.
func (s *Store) Add(ctx context.Context, path, name string, want digest.Digest, progress Progress) (Model, error) {
	size, err := checkFile(path)
	if err != nil {
		return Model{}, err
	}
	in, err := os.Open(path)
	if err != nil {
		return Model{}, failf("", err, "the model file can't be opened")
	}
	defer in.Close()
	f, err := s.temp()
	if err != nil {
		return Model{}, err
	}
	defer discard(f)
	src := &watched{ctx: ctx, r: in, total: size, progress: progress}
	d, n, err := digest.Reader(io.TeeReader(src, f))
	if err != nil {
		return Model{}, failf("check the file and the space on the disk", err, "the model can't be copied")
	}
	if n != size {
		return Model{}, failf("run it again when nothing changes the file", nil, "the model file changed while it was copied")
	}
	if name == "" {
		name = nameOf(d, strings.TrimPrefix(strings.TrimSuffix(filepath.Base(path), ".bin"), "ggml-"))
	}
	return s.settle(f, record{Name: name, SHA256: d, Size: n, Origin: "file " + filepath.Base(path), Trust: TrustLocal}, want)
}

// nameOf is the catalogue's name of these bytes, else fallback.
func nameOf(d digest.Digest, fallback string) string {
	if e, ok := known(d); ok {
		return e.Name
	}
	return strings.ToLower(fallback)
}

// settle checks name and digest and keeps the file.
func (s *Store) settle(f *os.File, r record, want digest.Digest) (Model, error) {
	if err := CheckName(r.Name); err != nil {
		return Model{}, err
	}
	if !want.IsZero() {
		if r.SHA256 != want {
			return Model{}, failf("get the weights again; the bytes are damaged or not the ones you expect", ErrDigest,
				"%s has the digest %s, not %s", r.Name, r.SHA256, want)
		}
		r.Trust = TrustGiven
	}
	return s.keep(f, r)
}

// Import converts a CTranslate2 or Hugging Face folder. An empty name asks for the
// catalogue's name of the result, else one made of the folder's name.
func (s *Store) Import(ctx context.Context, dir, name string, want digest.Digest, progress Progress) (Model, error) {
	f, err := s.temp()
	if err != nil {
		return Model{}, err
	}
	defer discard(f)
	h := newHashing(f)
	if err := convert.Import(ctx, dir, h, convert.Progress(progress)); err != nil {
		return Model{}, failf("get a complete release of Whisper weights and run it again", err, "%s can't be imported", dir)
	}
	if name == "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return Model{}, err
		}
		name = nameOf(h.sum(), filepath.Base(abs))
	}
	return s.settle(f, record{Name: name, SHA256: h.sum(), Size: h.n, Origin: "converted from " + filepath.Base(dir), Trust: TrustLocal}, want)
}

// Remove takes the name away, and the file when no other name has it.
func (s *Store) Remove(name string) error {
	return s.change(func(t *table) error {
		r, ok := t.find(name)
		if !ok {
			return misuse("see: blockworld-voice models list", ErrNotInstalled, "no model of the store is called %q", name)
		}
		shared := false
		kept := t.Models[:0]
		for _, m := range t.Models {
			if m.Name != name {
				kept = append(kept, m)
				shared = shared || m.SHA256 == r.SHA256
			}
		}
		t.Models = kept
		if shared {
			return nil
		}
		if err := os.Remove(s.path(r.SHA256)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failf("check the rights on the folder", err, "the model %s can't be removed", name)
		}
		return nil
	})
}

// Sweep removes temporary files that nobody has touched for age: the rests of processes that
// were killed, and downloads that nobody went on with.
func (s *Store) Sweep(age time.Duration) error {
	all, err := filepath.Glob(filepath.Join(s.dir, tempPrefix+"*"))
	if err != nil {
		return err
	}
	var errs []error
	for _, path := range all {
		if st, err := os.Stat(path); err == nil && time.Since(st.ModTime()) > age {
			errs = append(errs, os.Remove(path))
		}
	}
	return errors.Join(errs...)
}
