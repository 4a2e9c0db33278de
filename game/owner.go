package game

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"blockworld-voice/internal/atomicfile"
	"blockworld-voice/internal/procgroup"
	"blockworld-voice/internal/strictjson"
)

// ErrOwned says that another living session owns the client.
var ErrOwned = errors.New("another session owns this client")

// StateDir is the folder of this user's ownership records.
func StateDir() (string, error) {
	base := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the folder for state: %w", err)
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "blockworld-voice"), nil
}

// op is what one line of an ownership record says.
type op string

const (
	opOpen      op = "open"      // a session began
	opFence     op = "fence"     // a run may be sent from now on
	opSettle    op = "settle"    // the outcome of a run
	opClose     op = "close"     // the session ended in order
	opRecovered op = "recovered" // a fenced run without outcome was reported as unknown
	opReconcile op = "reconcile" // the operator took responsibility
)

type ownerLine struct {
	Schema     int         `json:"schema"`
	Op         op          `json:"op"`
	Session    string      `json:"session,omitempty"`
	Controller string      `json:"controller,omitempty"`
	Workspace  string      `json:"workspace,omitempty"`
	Run        RunID       `json:"run,omitempty"`
	Kind       OutcomeKind `json:"kind,omitzero"`
	At         time.Time   `json:"at"`
}

// ownership is the locked record of one client generation: an append-only list of lines
// in a file that is named by the client's process identity and this boot. The lock is the
// kernel's, so that it ends with us however we end; the lines say in what state we left it.
type ownership struct {
	f    *os.File
	path string
	past history
	now  func() time.Time
}

// history is what the lines add up to.
type history struct {
	open    bool // a session began and did not end in order
	unknown bool // an outcome was unknown and nobody reconciled it
	damaged bool
	session string // the last one
	space   string
	fenced  []RunID // without outcome and not yet reported, in order
	runs    map[RunID]fate
	good    int64 // length of the whole lines
}

type fate struct {
	settled bool
	kind    OutcomeKind
}

func (h history) clean() bool { return !h.open && !h.unknown && !h.damaged && len(h.fenced) == 0 }

func ownersDir(state string) string { return filepath.Join(state, "owners") }

func ownerFile(state string, client procgroup.ID) (string, error) {
	boot, err := procgroup.BootID()
	if err != nil {
		return "", err
	}
	return filepath.Join(ownersDir(state), fmt.Sprintf("%s.%d.%d.jsonl", boot, client.PID, client.StartTicks)), nil
}

// clientOf is the reverse of ownerFile. ended is true for a client of an earlier boot.
func clientOf(path string) (client procgroup.ID, ended bool, err error) {
	boot, err := procgroup.BootID()
	if err != nil {
		return procgroup.ID{}, false, err
	}
	part := strings.Split(filepath.Base(path), ".")
	if len(part) != 4 {
		return procgroup.ID{}, false, fmt.Errorf("%s is no ownership record", path)
	}
	if _, err := fmt.Sscanf(part[1]+" "+part[2], "%d %d", &client.PID, &client.StartTicks); err != nil {
		return procgroup.ID{}, false, fmt.Errorf("%s is no ownership record", path)
	}
	if part[0] != boot {
		return client, true, nil
	}
	ended, err = client.Ended()
	return client, ended, err
}

// How long a session waits for a record that somebody else's Recover may just be looking at.
const (
	lockPatience = 400 * time.Millisecond
	lockPause    = 5 * time.Millisecond
)

// claimOwner is lockOwner with the patience that tells a look from an owner.
func claimOwner(path string, now func() time.Time) (*ownership, error) {
	for end := time.Now().Add(lockPatience); ; time.Sleep(lockPause) {
		o, err := lockOwner(path, now)
		if !errors.Is(err, ErrOwned) || time.Now().After(end) {
			return o, err
		}
	}
}

// lockOwner opens and locks the record at path. It doesn't wait: ErrOwned says that
// another session has it.
func lockOwner(path string, now func() time.Time) (*ownership, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("ownership record: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("ownership record: %w", err)
	}
	o := &ownership{f: f, path: path, now: now}
	if err := o.lock(); err != nil {
		_ = f.Close() // where we got the lock, this gives it back
		return nil, err
	}
	return o, nil
}

func (o *ownership) lock() error {
	err := unix.Flock(int(o.f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrOwned
	}
	if err != nil {
		return fmt.Errorf("lock the ownership record: %w", err)
	}
	data, err := os.ReadFile(o.path)
	if err != nil {
		return fmt.Errorf("ownership record: %w", err)
	}
	o.past = readHistory(data)
	// A torn last line was never durable, so nothing that it announces has happened.
	if o.past.good < int64(len(data)) && !o.past.damaged {
		if err := o.f.Truncate(o.past.good); err != nil {
			return fmt.Errorf("ownership record: %w", err)
		}
	}
	if _, err := o.f.Seek(0, 2); err != nil {
		return fmt.Errorf("ownership record: %w", err)
	}
	if len(data) > 0 {
		return nil
	}
	return atomicfile.SyncDir(filepath.Dir(o.path)) // its name is new
}

func readHistory(data []byte) history {
	h := history{runs: map[RunID]fate{}}
	for len(data) > 0 {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			return h
		}
		var l ownerLine
		if err := json.Unmarshal(data[:end], &l, json.RejectUnknownMembers(true)); err != nil || l.Schema != schema || !h.take(l) {
			h.damaged = true
			return h
		}
		data = data[end+1:]
		h.good += int64(end) + 1
	}
	return h
}

func (h *history) take(l ownerLine) bool {
	switch l.Op {
	case opOpen:
		h.open, h.session, h.space = true, l.Session, l.Workspace
	case opFence:
		if _, twice := h.runs[l.Run]; twice {
			return false
		}
		h.runs[l.Run] = fate{}
		h.fenced = append(h.fenced, l.Run)
	case opSettle:
		if f, ok := h.runs[l.Run]; !ok || f.settled {
			return false
		}
		h.runs[l.Run] = fate{settled: true, kind: l.Kind}
		h.drop(l.Run)
		h.unknown = h.unknown || l.Kind == KindUnknown
	case opRecovered:
		if _, ok := h.runs[l.Run]; !ok {
			return false
		}
		h.runs[l.Run] = fate{settled: true, kind: KindUnknown}
		h.drop(l.Run)
		h.unknown = true
	case opClose:
		h.open = false
	case opReconcile:
		h.open, h.unknown = false, false
	default:
		return false
	}
	return true
}

func (h *history) drop(r RunID) {
	for i, f := range h.fenced {
		if f == r {
			h.fenced = append(h.fenced[:i:i], h.fenced[i+1:]...)
			return
		}
	}
}

// add appends a line; with sync it is durable when add returns nil.
func (o *ownership) add(l ownerLine, sync bool) error {
	l.Schema, l.At = schema, o.now().UTC()
	if !o.past.take(l) {
		return fmt.Errorf("ownership record: %q does not fit what stands there", l.Op)
	}
	b, err := strictjson.Line(l)
	if err != nil {
		return fmt.Errorf("ownership record: %w", err)
	}
	at, err := o.f.Seek(0, 1)
	if err != nil {
		return fmt.Errorf("ownership record: %w", err)
	}
	if _, err := o.f.Write(append(b, '\n')); err != nil {
		// Half a line of a full disk must not spoil the next one.
		_ = o.f.Truncate(at)
		_, _ = o.f.Seek(at, 0)
		return fmt.Errorf("ownership record: %w", err)
	}
	if !sync {
		return nil
	}
	if err := unix.Fdatasync(int(o.f.Fd())); err != nil {
		return fmt.Errorf("ownership record: %w", err)
	}
	return nil
}

// begin takes the client for a session. A record whose runs all have a known outcome
// starts anew, after those outcomes went to the archive; one that names an unknown run
// stays as it is, so that the run stays retired.
func (o *ownership) begin(session, workspace string, self procgroup.ID) error {
	if !o.past.clean() {
		return errors.New("the client was not left clean")
	}
	if o.past.settled() {
		if err := o.archive(); err != nil {
			return fmt.Errorf("ownership record: %w", err)
		}
		if err := o.f.Truncate(0); err != nil {
			return fmt.Errorf("ownership record: %w", err)
		}
		if _, err := o.f.Seek(0, 0); err != nil {
			return fmt.Errorf("ownership record: %w", err)
		}
		o.past = history{runs: map[RunID]fate{}}
	}
	return o.add(ownerLine{Op: opOpen, Session: session, Workspace: workspace, Controller: self.String()}, true)
}

// archiveFile holds the outcomes that no record needs any more, of all clients: a line
// "RUN KIND" each.
const archiveFile = "archive.runs"

// settled says whether every run has a known outcome.
func (h history) settled() bool {
	for _, f := range h.runs {
		if !f.settled || f.kind == KindUnknown {
			return false
		}
	}
	return true
}

// archive is durable before the record is emptied; a crash in between only doubles lines.
func (o *ownership) archive() error {
	if len(o.past.runs) == 0 {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(filepath.Dir(o.path), archiveFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	var b strings.Builder
	for r, was := range o.past.runs {
		fmt.Fprintf(&b, "%s %s\n", r, was.kind)
	}
	if _, err := f.WriteString(b.String()); err != nil {
		return err
	}
	return f.Sync()
}

// fence makes it durable that a run may be sent. Its identity is retired with that: a
// second fence for it fails.
func (o *ownership) fence(r RunID) error { return o.add(ownerLine{Op: opFence, Run: r}, true) }

// settle writes an outcome. Only an unknown one must be durable: what a crash of the
// machine could take away otherwise makes us more careful, not less.
func (o *ownership) settle(r RunID, k OutcomeKind) error {
	return o.add(ownerLine{Op: opSettle, Run: r, Kind: k}, k == KindUnknown)
}

// end writes that the session ended in order (unless it left something unknown, which
// stays) and gives the lock back. As with settle, losing this line only makes us careful.
func (o *ownership) end() error {
	err := o.add(ownerLine{Op: opClose}, false)
	return errors.Join(err, o.release())
}

// release unlocks before it closes: a child that is just being forked holds a copy of the
// descriptor until it becomes its program, and the lock with it.
func (o *ownership) release() error {
	return errors.Join(unix.Flock(int(o.f.Fd()), unix.LOCK_UN), o.f.Close())
}
