package game

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Recovered is a run that was fenced and has no outcome: its program ended in between.
// It is unknown, it is reported once, and nothing ever sends it again.
type Recovered struct {
	Run       RunID
	Session   string
	Workspace string
}

// Outcome is what is to be recorded for the run.
func (r Recovered) Outcome() Outcome {
	return Unknown{Detail: "the program ended after the command could be sent and before its outcome was recorded"}
}

// Recover looks through this user's ownership records for runs that were fenced and have
// no outcome, and retires them. Records of living sessions are left alone.
func Recover(state string) ([]Recovered, error) {
	var out []Recovered
	err := eachOwner(state, lockOwner, func(o *ownership) error {
		for _, r := range append([]RunID(nil), o.past.fenced...) {
			if err := o.add(ownerLine{Op: opRecovered, Run: r}, true); err != nil {
				return err
			}
			out = append(out, Recovered{Run: r, Session: o.past.session, Workspace: o.past.space})
		}
		// A client that is gone and was left clean needs no record.
		if _, ended, err := clientOf(o.path); err == nil && ended && o.past.clean() && o.past.settled() {
			if err := o.archive(); err != nil {
				return err
			}
			return os.Remove(o.path)
		}
		return nil
	})
	return out, err
}

// eachOwner calls f with every record that no living session holds.
func eachOwner(state string, lock func(string, func() time.Time) (*ownership, error), f func(*ownership) error) error {
	list, err := os.ReadDir(ownersDir(state))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ownership records: %w", err)
	}
	var all error
	for _, e := range list {
		if !strings.HasSuffix(e.Name(), ".jsonl") {
			continue
		}
		o, err := lock(filepath.Join(ownersDir(state), e.Name()), time.Now)
		if errors.Is(err, ErrOwned) {
			continue
		}
		if err != nil {
			all = errors.Join(all, err)
			continue
		}
		all = errors.Join(all, f(o), o.release())
	}
	return all
}

// Fate says what became of a run by its ownership record: never fenced (so nothing was
// sent), an outcome, or fenced and lost, which is unknown.
func Fate(state string, run RunID) (OutcomeKind, error) {
	kind := KindRefused
	list, err := os.ReadDir(ownersDir(state))
	if errors.Is(err, os.ErrNotExist) {
		return kind, nil
	}
	if err != nil {
		return 0, fmt.Errorf("ownership records: %w", err)
	}
	for _, e := range list {
		data, err := os.ReadFile(filepath.Join(ownersDir(state), e.Name()))
		if err != nil {
			return 0, fmt.Errorf("ownership records: %w", err)
		}
		if e.Name() == archiveFile {
			for line := range strings.Lines(string(data)) {
				var k OutcomeKind
				if r, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok && RunID(r) == run && k.UnmarshalText([]byte(name)) == nil {
					return k, nil
				}
			}
			continue
		}
		if f, ok := readHistory(data).runs[run]; ok {
			if kind = f.kind; !f.settled {
				kind = KindUnknown
			}
			return kind, nil
		}
	}
	return kind, nil
}

// Left is one ownership record that keeps new sessions away from a client.
type Left struct {
	Client  string // PID@TICKS
	Session string
	State   string // "interrupted", "unknown" or "damaged"
	Ended   bool   // the client's process is proved to be gone: nothing has to be done
}

// Reconcile is the operator's explicit end of every record that was left interrupted or
// unknown. It proves nothing about the world, sends nothing and resumes nothing: it only
// lets a new session take the client. It returns what it ended.
func Reconcile(state string) ([]Left, error) {
	var out []Left
	if _, err := Recover(state); err != nil {
		return nil, err
	}
	err := eachOwner(state, claimOwner, func(o *ownership) error {
		if o.past.clean() {
			return nil
		}
		client, ended, err := clientOf(o.path)
		if err != nil {
			return err
		}
		l := Left{Client: client.String(), Session: o.past.session, State: o.past.state(), Ended: ended}
		if o.past.damaged {
			if err := os.Rename(o.path, strings.TrimSuffix(o.path, ".jsonl")+".damaged"); err != nil {
				return err
			}
		} else if err := o.add(ownerLine{Op: opReconcile}, true); err != nil {
			return err
		}
		out = append(out, l)
		return nil
	})
	return out, err
}

func (h history) state() string {
	switch {
	case h.damaged:
		return "damaged"
	case h.unknown || len(h.fenced) > 0:
		return "unknown"
	case h.open:
		return "interrupted"
	}
	return "clean"
}
