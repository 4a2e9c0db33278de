package evidence

import (
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// SessionInfo is one line of a list of sessions.
type SessionInfo struct {
	ID      SessionID `json:"session"`
	Path    string    `json:"path"`
	Started time.Time `json:"started,omitzero"`
	Begun   int       `json:"begun"`
	Sealed  int       `json:"sealed"`
	Running bool      `json:"running"`
	Closed  bool      `json:"closed"`
	Problem string    `json:"problem,omitzero"` // why the rest can't be told
}

// Sessions yields the sessions of a store, oldest first. Folders that are no sessions are left out: Verify names them.
// Only the names are held in memory. An error ends the sequence.
func Sessions(root string) iter.Seq2[SessionInfo, error] {
	return func(yield func(SessionInfo, error) bool) {
		var ids []SessionID
		err := eachEntry(root, func(e fs.DirEntry) error {
			if id, err := ParseSessionID(e.Name()); err == nil && e.IsDir() {
				ids = append(ids, id)
			}
			return nil
		})
		if err != nil {
			yield(SessionInfo{}, fmt.Errorf("list the evidence: %w", err))
			return
		}
		slices.SortFunc(ids, func(a, b SessionID) int {
			if a.s < b.s {
				return -1
			}
			return 1
		})
		for _, id := range ids {
			if !yield(sessionInfo(filepath.Join(root, id.s), id), nil) {
				return
			}
		}
	}
}

func sessionInfo(dir string, id SessionID) SessionInfo {
	s := SessionInfo{ID: id, Path: dir}
	var doc sessionDoc
	if err := loadDoc(dir, sessionName, &doc); err != nil {
		s.Problem = fmt.Sprintf("%s: %v", sessionName, bare(err))
		return s
	}
	s.Started, s.Running = doc.Started, running(filepath.Join(dir, sessionName))
	var head headDoc
	if err := loadDoc(dir, headName, &head); err != nil {
		s.Problem = fmt.Sprintf("%s: %v", headName, bare(err))
		return s
	}
	s.Begun, s.Sealed, s.Closed = int(head.Begun), int(head.Sealed), head.Closed
	return s
}

// String is the line that people read.
func (s SessionInfo) String() string {
	state := "interrupted"
	switch {
	case s.Problem != "":
		return fmt.Sprintf("%s  damaged: %s", s.ID, plain(s.Problem))
	case s.Running:
		state = "running"
	case s.Closed:
		state = "closed"
	}
	line := fmt.Sprintf("%s  %s  %d utterances", s.ID, state, s.Begun)
	if n := s.Begun - s.Sealed; n > 0 {
		line += fmt.Sprintf(", %d unfinished", n)
	}
	return line
}

// Info is one line of a list of utterances, as far as its files tell.
type Info struct {
	Session  SessionID   `json:"session"`
	ID       UtteranceID `json:"utterance"`
	Path     string      `json:"path"`
	State    State       `json:"state"`
	Text     string      `json:"text,omitzero"`     // of the transcript
	Decision string      `json:"decision,omitzero"` // the canonical command, or "refusal: reason"
	Outcome  string      `json:"outcome,omitzero"`  // its kind; "unknown" for an attempt without an outcome
	Problem  string      `json:"problem,omitzero"`
}

// Utterances yields the utterances of one session in order, one at a time. A number that is missing is left out.
func Utterances(session string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		session, err := filepath.Abs(session)
		if err != nil {
			yield(Info{}, err)
			return
		}
		sid, err := ParseSessionID(filepath.Base(session))
		if err != nil {
			yield(Info{}, err)
			return
		}
		var last UtteranceID
		err = eachEntry(session, func(e fs.DirEntry) error {
			if id, err := ParseUtteranceID(e.Name()); err == nil && e.IsDir() {
				last = max(last, id)
			}
			return nil
		})
		if err != nil {
			yield(Info{}, fmt.Errorf("list the session: %w", err))
			return
		}
		live := running(filepath.Join(session, sessionName))
		for id := UtteranceID(1); id <= last; id++ {
			dir := filepath.Join(session, id.String())
			if fi, err := os.Lstat(dir); err != nil || !fi.IsDir() {
				continue
			}
			if !yield(utteranceInfo(dir, sid, id, live && id == last), nil) {
				return
			}
		}
	}
}

func utteranceInfo(dir string, sid SessionID, id UtteranceID, live bool) Info {
	u := Info{Session: sid, ID: id, Path: dir}
	problem := func(k Kind, name, detail string) {
		if u.Problem == "" {
			u.Problem = Problem{k, name, detail}.String()
		}
	}
	t, err := scan(dir, problem)
	if err != nil {
		problem(Unreadable, ".", bare(err).Error())
		return u
	}
	u.State = readState(dir, t, problem)
	u.State.Running = live && !u.State.Sealed
	u.Text = glance(dir, t, Transcribe, TranscriptFile).Text
	switch d := glance(dir, t, Grammar, DecisionFile); {
	case d.Command != "":
		u.Decision = d.Command
	case d.Reason != "":
		u.Decision = d.Kind + ": " + d.Reason
	default:
		u.Decision = d.Kind
	}
	u.Outcome = glance(dir, t, Game, OutcomeFile).Kind
	if len(u.State.OpenAttempts) > 0 {
		u.Outcome = "unknown"
	}
	return u
}

// String is the line that people read.
func (u Info) String() string {
	line := u.ID.String()
	if u.Text != "" {
		line += fmt.Sprintf("  “%s”", plain(u.Text))
	}
	if u.Decision != "" {
		line += "  → " + plain(u.Decision)
	}
	if u.Outcome != "" {
		line += "  → " + plain(u.Outcome)
	}
	if !u.State.Sealed {
		line += "  [" + u.State.Describe() + "]"
	}
	if u.Problem != "" {
		line += "  [" + u.Problem + "]"
	}
	return line
}

// outline are the few members of other packages' documents that a list shows.
type outline struct {
	Text    string `json:"text"`
	Kind    string `json:"kind"`
	Command string `json:"command"`
	Reason  string `json:"reason"`
}

// glance reads an artefact as far as it can: a list shows what is there and judges nothing.
func glance(dir string, t *tree, s Stage, name string) (o outline) {
	full := path.Join(s.Folder(), name)
	if _, ok := t.files[full]; !ok {
		return outline{}
	}
	data, err := readSmall(filepath.Join(dir, filepath.FromSlash(full)))
	if err != nil || json.Unmarshal(data, &o, jsontext.AllowDuplicateNames(false)) != nil {
		return outline{}
	}
	return o
}
