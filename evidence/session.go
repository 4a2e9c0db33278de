package evidence

import (
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/strictjson"
)

// Session is the writer of one session's folder. Its methods may be called from any goroutine.
type Session struct {
	store *Store
	id    SessionID
	dir   string
	epoch time.Time
	lock  *flock.Flock

	mu      sync.Mutex
	head    headDoc
	current *Utterance // begun and not sealed
	task    *Task      // begun and not sealed
	failed  error      // the first storage failure: no utterance begins after it
	closed  bool
}

// ID returns the session's identity.
func (s *Session) ID() SessionID { return s.id }

// Dir returns the session's folder.
func (s *Session) Dir() string { return s.dir }

// Epoch returns the moment from which receipts count.
func (s *Session) Epoch() time.Time { return s.epoch }

// Elapsed returns the nanoseconds since the epoch, by the monotonic clock.
func (s *Session) Elapsed() int64 { return int64(time.Since(s.epoch)) }

// Err returns the first storage failure, after which Begin refuses.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// Head returns the digest of the last sealed manifest (zero before the first). Kept elsewhere, it anchors the chain.
func (s *Session) Head() digest.Digest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head.Manifest
}

// Begin makes the folder of the next utterance. Utterances are serial: the one before must be sealed. After a
// storage failure no utterance begins any more; the error says which failure it was.
func (s *Session) Begin() (*Utterance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, invariant("session %s is closed", s.id)
	case s.failed != nil:
		return nil, s.failed
	case s.current != nil:
		return nil, invariant("%s is not sealed yet", s.current.id)
	case s.head.Begun >= MaxUtterances:
		return nil, invariant("session %s has %d utterances; start a fresh one", s.id, MaxUtterances)
	}
	id := UtteranceID(s.head.Begun + 1)
	u := &Utterance{session: s, id: id, dir: filepath.Join(s.dir, id.String())}
	head := s.head
	head.Begun++
	if err := s.makeLocked(u.dir, head); err != nil {
		return nil, err
	}
	s.current = u
	return u, nil
}

// Close ends the session: head.json says so, unless a storage failure made it an interrupted one, and the lock is
// released. An utterance that is not sealed stays unfinished. A second Close does nothing.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var err error
	if s.failed == nil {
		head := s.head
		head.Closed = true
		err = s.writeHead(head)
		s.failed = err
	}
	if e := s.lock.Close(); e != nil {
		err = errors.Join(err, s.store.storage("lock", s.dir, e))
	}
	return err
}

// writeHead replaces head.json and, when that worked, the head in memory. It makes all names in the session's folder
// survive a crash of the machine.
func (s *Session) writeHead(h headDoc) error {
	data, err := strictjson.Marshal(h)
	if err != nil {
		return err
	}
	path := filepath.Join(s.dir, headName)
	if err := s.store.disk.Write(path, data); err != nil {
		return s.store.storage("write", path, err)
	}
	if err := s.store.disk.SyncDir(s.dir); err != nil {
		return s.store.storage("write", path, err)
	}
	s.head = h
	return nil
}

// sealed takes in the manifest of the current utterance.
func (s *Session) sealed(u *Utterance, manifest digest.Digest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = nil
	head := s.head
	head.Sealed, head.Manifest = uint32(u.id), manifest
	return s.advanceLocked(head)
}

// makeLocked makes the folder of what begins; then head.json counts it.
func (s *Session) makeLocked(dir string, head headDoc) error {
	if err := s.store.disk.Mkdir(dir); err != nil {
		return s.failLocked("create", dir, err)
	}
	return s.advanceLocked(head)
}

// advanceLocked replaces head.json; when that fails, the session has failed.
func (s *Session) advanceLocked(head headDoc) error {
	err := s.writeHead(head)
	if err != nil && s.failed == nil {
		s.failed = err
	}
	return err
}

// write and syncDir are those of the disk; when they fail, the session has failed.
func (s *Session) write(path string, data []byte) error {
	if err := s.store.disk.Write(path, data); err != nil {
		return s.fail("write", path, err)
	}
	return nil
}

func (s *Session) syncDir(dir string) error {
	if err := s.store.disk.SyncDir(dir); err != nil {
		return s.fail("write", dir, err)
	}
	return nil
}

func (s *Session) fail(op, path string, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failLocked(op, path, err)
}

func (s *Session) failLocked(op, path string, err error) error {
	err = s.store.storage(op, path, err)
	if s.failed == nil {
		s.failed = err
	}
	return err
}
