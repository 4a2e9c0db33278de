package evidence

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"blockworld-voice/internal/digest"
)

// TaskID numbers the tasks of a session from 1, as "t000001". The zero value is no task.
type TaskID uint32

// MaxTasks is the largest number of tasks in one session.
const MaxTasks = 999_999

// ParseTaskID accepts "t" and six digits, from t000001 on.
func ParseTaskID(s string) (TaskID, error) {
	if !strings.HasPrefix(s, "t") {
		return 0, fmt.Errorf("%q is not a task (as t000001)", s)
	}
	id, err := ParseUtteranceID("u" + s[1:])
	if err != nil {
		return 0, fmt.Errorf("%q is not a task (as t000001)", s)
	}
	return TaskID(id), nil
}

func (id TaskID) String() string { return fmt.Sprintf("t%06d", uint32(id)) }

// MarshalText writes the identity.
func (id TaskID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads an identity strictly.
func (id *TaskID) UnmarshalText(b []byte) (err error) {
	*id, err = ParseTaskID(string(b))
	return err
}

// Names of a task's files that more than one package must agree on. A run's attempt and outcome are attempt-NNN.json
// and outcome-NNN.json.
const (
	TaskFile   = "task.json"   // how it began
	TicksFile  = "ticks.jsonl" // a line a run
	ResultFile = "result.json" // how it ended
)

// Task is the writer of one task's folder: what a behaviour does after the utterance that began it. It is flat, and
// like an utterance it ends with a manifest that is chained to the one before it: tasks have a chain of their own,
// because a task goes on while utterances begin and end. Methods may be called from any goroutine. What a method
// wrote is on the disk for good when it returns nil.
type Task struct {
	session *Session
	id      TaskID
	dir     string

	mu     sync.Mutex
	files  []File
	logs   []*Log
	sealed bool
}

// ID returns the task's identity.
func (t *Task) ID() TaskID { return t.id }

// Dir returns the task's folder.
func (t *Task) Dir() string { return t.dir }

// Elapsed is the session's clock.
func (t *Task) Elapsed() int64 { return t.session.Elapsed() }

// BeginTask makes the folder of the next task. Tasks are serial: the one before must be sealed.
func (s *Session) BeginTask() (*Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, invariant("session %s is closed", s.id)
	case s.failed != nil:
		return nil, s.failed
	case s.task != nil:
		return nil, invariant("%s is not sealed yet", s.task.id)
	case s.head.TasksBegun >= MaxTasks:
		return nil, invariant("session %s has %d tasks; start a fresh one", s.id, MaxTasks)
	}
	id := TaskID(s.head.TasksBegun + 1)
	t := &Task{session: s, id: id, dir: filepath.Join(s.dir, id.String())}
	head := s.head
	head.TasksBegun++
	if err := s.makeLocked(t.dir, head); err != nil {
		return nil, err
	}
	s.task = t
	return t, nil
}

// PutJSON writes v as a document with a "schema" number. A name is used once.
func (t *Task) PutJSON(name string, v any) (File, error) {
	data, err := document(name, v)
	if err != nil {
		return File{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.admit(name); err != nil {
		return File{}, err
	}
	f := File{name, int64(len(data)), digest.Of(data)}
	if err := t.session.write(filepath.Join(t.dir, name), data); err != nil {
		return File{}, err
	}
	t.files = append(t.files, f)
	return f, t.session.syncDir(t.dir)
}

// OpenLog makes a log; its first line carries the schema number. Seal closes it.
func (t *Task) OpenLog(name string) (*Log, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.admit(name); err != nil {
		return nil, err
	}
	if filepath.Ext(name) != ".jsonl" {
		return nil, invariant("%q: a log's name ends in .jsonl", name)
	}
	l, err := newLog(t.session, filepath.Join(t.dir, name), name)
	if err != nil {
		return nil, err
	}
	t.logs = append(t.logs, l)
	if err := t.session.syncDir(t.dir); err != nil {
		return l, err
	}
	return l, l.Append(logHeader{Schema, name})
}

func (t *Task) admit(name string) error {
	if t.sealed {
		return invariant("%s is sealed", t.id)
	}
	if err := checkName(name); err != nil {
		return err
	}
	if slices.ContainsFunc(t.files, func(f File) bool { return f.Name == name }) || slices.ContainsFunc(t.logs, func(l *Log) bool { return l.file.Name == name }) {
		return invariant("%s was written already", name)
	}
	if len(t.files)+len(t.logs) >= maxFiles {
		return invariant("%s has %d files already", t.id, maxFiles)
	}
	return nil
}

// Seal writes the manifest and returns its digest. Nothing can be written into the task afterwards.
func (t *Task) Seal() (digest.Digest, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sealed {
		return digest.Digest{}, invariant("%s is sealed", t.id)
	}
	for len(t.logs) > 0 {
		f, err := t.logs[0].close()
		if err != nil {
			return digest.Digest{}, err
		}
		t.files, t.logs = append(t.files, f), t.logs[1:]
	}
	m := taskManifest{Schema, t.session.id, t.id, slices.Clone(t.files), t.session.taskHead()}
	slices.SortFunc(m.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	d, err := t.session.seal(t.dir, m)
	if err != nil {
		return digest.Digest{}, err
	}
	t.sealed = true
	return d, t.session.taskSealed(t, d)
}

type taskManifest struct {
	Schema   int           `json:"schema"`
	Session  SessionID     `json:"session"`
	Task     TaskID        `json:"task"`
	Files    []File        `json:"files"` // sorted by name
	Previous digest.Digest `json:"previous"`
}

func (s *Session) taskHead() digest.Digest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head.TaskManifest
}

func (s *Session) taskSealed(t *Task, manifest digest.Digest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.task = nil
	head := s.head
	head.TasksSealed, head.TaskManifest = uint32(t.id), manifest
	return s.advanceLocked(head)
}
