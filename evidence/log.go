package evidence

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"path"
	"path/filepath"
	"sync"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/strictjson"
)

const maxLog = 16 << 20 // bytes of one log

// Log is a file of one JSON object a line that grows while its stage or its task is under way. Methods may be called from any
// goroutine.
type Log struct {
	session *Session
	path    string

	mu     sync.Mutex
	f      logFile
	file   File
	sum    hash.Hash
	closed bool
	broken error // a cut line that could not be taken back
}

type logHeader struct {
	Schema int    `json:"schema"`
	Log    string `json:"log"`
}

// OpenLog makes the log of the stage under way; its first line carries the schema number. PutReceipt closes it.
func (u *Utterance) OpenLog(s Stage, name string) (*Log, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.admit(s, name); err != nil {
		return nil, err
	}
	if path.Ext(name) != ".jsonl" {
		return nil, invariant("%q: a log's name ends in .jsonl", name)
	}
	p := filepath.Join(u.dir, s.Folder(), name)
	l, err := newLog(u.session, p, path.Join(s.Folder(), name))
	if err != nil {
		return nil, err
	}
	// From here the file exists, so it belongs to the stage even when its first line can't be written.
	u.logs = append(u.logs, l)
	if err := u.session.syncDir(filepath.Dir(p)); err != nil {
		return l, err
	}
	return l, l.Append(logHeader{Schema, name})
}

func newLog(s *Session, path, name string) (*Log, error) {
	f, err := s.store.disk.CreateLog(path)
	if err != nil {
		return nil, s.fail("create", path, err)
	}
	return &Log{session: s, path: path, f: f, file: File{Name: name}, sum: sha256.New()}, nil
}

// Append adds v as one line; nil means that the line is on the disk for good. A line that could not be written
// whole is taken back.
func (l *Log) Append(v any) error {
	line, err := strictjson.Line(v)
	if err != nil {
		return fmt.Errorf("evidence: %s: %w", l.file.Name, err)
	}
	line = append(line, '\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return invariant("%s has ended; a late line was refused", l.file.Name)
	case l.broken != nil:
		return l.broken
	case len(line) > strictjson.MaxSize:
		return invariant("a line of %s has %d bytes, at most %d are allowed", l.file.Name, len(line), strictjson.MaxSize)
	case l.file.Size+int64(len(line)) > maxLog:
		return invariant("%s is full", l.file.Name)
	}
	_, err = l.f.Write(line)
	if err == nil {
		err = l.f.Sync()
	}
	if err != nil {
		if e := errors.Join(l.f.Truncate(l.file.Size), l.f.Sync()); e != nil {
			l.broken = l.session.fail("append", l.path, errors.Join(err, e))
			return l.broken
		}
		return l.session.fail("append", l.path, err)
	}
	l.sum.Write(line)
	l.file.Size += int64(len(line))
	return nil
}

// close ends the log and says what it holds. It may be called again after an error.
func (l *Log) close() (File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		if err := l.f.Close(); err != nil {
			return File{}, l.session.fail("append", l.path, err)
		}
	}
	if l.broken != nil {
		return File{}, l.broken
	}
	l.file.SHA256 = digest.Digest(l.sum.Sum(nil))
	return l.file, nil
}
