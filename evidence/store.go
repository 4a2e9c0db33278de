package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/strictjson"
)

// Store is a private folder of sessions. Several programs may write sessions into it at once.
type Store struct {
	root string
	disk disk
}

// Open returns the store at root and creates the folder (0700) where it is missing. A symlink, a folder that others
// may enter, or somebody else's folder is refused with a *RootError and left as it is.
func Open(root string) (*Store, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, &StorageError{"open", root, err}
	}
	if _, err := os.Lstat(root); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(root, 0o700); err != nil {
			return nil, &StorageError{"create", root, err}
		}
	}
	if err := checkRoot(root); err != nil {
		return nil, err
	}
	return &Store{root: root, disk: osDisk{}}, nil
}

func checkRoot(root string) error {
	fi, err := os.Lstat(root)
	switch {
	case err != nil:
		return &StorageError{"open", root, err}
	case fi.Mode()&fs.ModeSymlink != 0:
		return &RootError{root, "is a symbolic link; evidence is kept only in a real folder", "name the folder that it points to"}
	case !fi.IsDir():
		return &RootError{root, "is not a folder", "name another place with --evidence"}
	case fi.Mode().Perm()&0o077 != 0:
		return &RootError{root, fmt.Sprintf("can be read by others (mode %04o)", fi.Mode().Perm()), "chmod 700 it, or name another place with --evidence"}
	case !ownedByUs(fi):
		return &RootError{root, "belongs to another user", "name a folder of your own with --evidence"}
	}
	return nil
}

// Root returns the store's folder as an absolute path.
func (s *Store) Root() string { return s.root }

// NewSession makes the folder of a fresh session. The session's epoch is now: every *_ns in its receipts counts from
// there. The folder is locked until Close or the end of the process, which is how readers tell a running session
// from an interrupted one. It gets its name when its documents are in it, so a session without them was emptied.
func (s *Store) NewSession(now time.Time) (*Session, error) {
	for try := 1; ; try++ {
		id := newSessionID(now)
		dir := filepath.Join(s.root, id.String())
		temp := filepath.Join(s.root, "."+id.String())
		_, taken := os.Lstat(dir)
		err := s.disk.Mkdir(temp)
		if (errors.Is(err, fs.ErrExist) || taken == nil) && try < 16 {
			continue // another program drew the same name in the same microsecond
		}
		if err != nil {
			return nil, s.storage("create", dir, err)
		}
		return s.open(id, temp, dir, now)
	}
}

func (s *Store) open(id SessionID, temp, dir string, now time.Time) (*Session, error) {
	data, err := strictjson.Marshal(sessionDoc{Schema, id, wall(now)})
	if err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	path := filepath.Join(temp, sessionName)
	if err := s.disk.Write(path, data); err != nil {
		return nil, s.storage("write", path, err)
	}
	e := &Session{store: s, id: id, dir: temp, epoch: now}
	e.head = headDoc{Schema: Schema, Session: id, SessionSHA256: digest.Of(data)}
	e.lock = flock.New(path, flock.SetFlag(os.O_RDONLY))
	if _, err := e.lock.TryLock(); err != nil {
		return nil, s.storage("lock", path, errors.Join(err, e.lock.Close()))
	}
	err = e.writeHead(e.head)
	if err == nil {
		if err = s.disk.Rename(temp, dir); err == nil {
			err = s.disk.SyncDir(s.root)
		}
		if err != nil {
			err = s.storage("create", dir, err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, e.lock.Close())
	}
	e.dir = dir
	return e, nil
}

func (s *Store) storage(op, path string, err error) error {
	if rel, e := filepath.Rel(s.root, path); e == nil {
		path = rel
	}
	return &StorageError{op, path, err}
}

func wall(t time.Time) time.Time { return t.Round(0).UTC() }
