package evidence

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/gofrs/flock"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/strictjson"
)

var errNotRegular = errors.New("not a regular file")

// openRegular opens a file for reading and follows no link and waits for no pipe.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, openFlags, 0)
	if err != nil {
		if errors.Is(err, syscall.ELOOP) {
			err = errNotRegular
		}
		return nil, nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, fi, nil
}

// readSmall reads a document; one that is too long for a document is an error before it is read.
func readSmall(path string) ([]byte, error) {
	f, fi, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fi.Size() > strictjson.MaxSize {
		return nil, fmt.Errorf("%d bytes are too many for a document", fi.Size())
	}
	return io.ReadAll(io.LimitReader(f, strictjson.MaxSize+1))
}

// sum is the digest and size of a file, read through buf.
func sum(path string, buf []byte) (digest.Digest, int64, error) {
	f, _, err := openRegular(path)
	if err != nil {
		return digest.Digest{}, 0, err
	}
	defer f.Close()
	return digest.Reader(&buffered{f, buf})
}

// buffered makes io.Copy use one buffer for all files.
type buffered struct {
	r   io.Reader
	buf []byte
}

func (b *buffered) Read(p []byte) (int, error) { return b.r.Read(p) }

func (b *buffered) WriteTo(w io.Writer) (n int64, err error) {
	for {
		k, err := b.r.Read(b.buf)
		if k > 0 {
			m, err := w.Write(b.buf[:k])
			n += int64(m)
			if err != nil {
				return n, err
			}
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// eachEntry calls f for every entry of a folder, in no order, holding only a few in memory.
func eachEntry(dir string, f func(fs.DirEntry) error) error {
	d, err := os.OpenFile(dir, openFlags, 0)
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		es, err := d.ReadDir(256)
		for _, e := range es {
			if err := f(e); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// running says whether a live process holds the session. path is its session.json, a regular file.
func running(path string) bool {
	l := flock.New(path, flock.SetFlag(os.O_RDONLY))
	ok, err := l.TryRLock()
	l.Close()
	return err == nil && !ok
}
