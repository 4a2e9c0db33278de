package evidence

import (
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"blockworld-voice/internal/strictjson"
)

// TaskInfo is one line of a list of tasks, as far as its files tell.
type TaskInfo struct {
	Session SessionID   `json:"session"`
	ID      TaskID      `json:"task"`
	Path    string      `json:"path"`
	Kind    string      `json:"kind,omitzero"`
	By      UtteranceID `json:"utterance,omitzero"` // that began it
	Sealed  bool        `json:"sealed"`
	Running bool        `json:"running"`
	Why     string      `json:"why,omitzero"`
	Outcome string      `json:"outcome,omitzero"` // its kind; "unknown" for an attempt without an outcome
	Runs    int         `json:"runs,omitzero"`
	Problem string      `json:"problem,omitzero"`
}

// Tasks yields the tasks of one session in order. A number that is missing is left out.
func Tasks(session string) iter.Seq2[TaskInfo, error] {
	return func(yield func(TaskInfo, error) bool) {
		session, err := filepath.Abs(session)
		if err != nil {
			yield(TaskInfo{}, err)
			return
		}
		sid, err := ParseSessionID(filepath.Base(session))
		if err != nil {
			yield(TaskInfo{}, err)
			return
		}
		var last TaskID
		err = eachEntry(session, func(e fs.DirEntry) error {
			if id, err := ParseTaskID(e.Name()); err == nil && e.IsDir() {
				last = max(last, id)
			}
			return nil
		})
		if err != nil {
			yield(TaskInfo{}, fmt.Errorf("list the session: %w", err))
			return
		}
		live := running(filepath.Join(session, sessionName))
		for id := TaskID(1); id <= last; id++ {
			dir := filepath.Join(session, id.String())
			if fi, err := os.Lstat(dir); err != nil || !fi.IsDir() {
				continue
			}
			if !yield(taskInfo(dir, sid, id, live), nil) {
				return
			}
		}
	}
}

// taskOutline are the few members of other packages' documents that a list shows.
type taskOutline struct {
	Kind      string      `json:"kind"`
	Utterance UtteranceID `json:"utterance"`
	Why       string      `json:"why"`
	Runs      int         `json:"runs"`
	Outcome   struct {
		Kind   string `json:"kind"`
		Detail string `json:"detail"`
	} `json:"outcome"`
}

func taskInfo(dir string, sid SessionID, id TaskID, live bool) TaskInfo {
	i := TaskInfo{Session: sid, ID: id, Path: dir}
	t, err := scanTask(dir, func(k Kind, name, detail string) {
		if i.Problem == "" {
			i.Problem = Problem{k, name, detail}.String()
		}
	})
	if err != nil {
		i.Problem = Problem{Unreadable, ".", bare(err).Error()}.String()
		return i
	}
	look := func(name string) (o taskOutline) {
		if data, err := readSmall(filepath.Join(dir, name)); err == nil {
			_ = json.Unmarshal(data, &o, jsontext.AllowDuplicateNames(false)) // a list shows what is there
		}
		return o
	}
	start, end := look(TaskFile), look(ResultFile)
	i.Kind, i.By, i.Sealed, i.Running = start.Kind, start.Utterance, t.manifest, live && !t.manifest
	i.Why, i.Runs, i.Outcome = end.Why, end.Runs, end.Outcome.Kind
	if len(openTaskAttempts(t)) > 0 {
		i.Outcome = "unknown"
	}
	return i
}

// String is the line that people read.
func (i TaskInfo) String() string {
	line := i.ID.String()
	if i.Kind != "" {
		line += "  " + plain(i.Kind)
	}
	if i.By != 0 {
		line += " (begun by " + i.By.String() + ")"
	}
	switch {
	case i.Outcome != "" && i.Why != "":
		line += fmt.Sprintf("  → %s (%s), %d runs", plain(i.Outcome), plain(i.Why), i.Runs)
	case i.Outcome != "":
		line += "  → " + plain(i.Outcome)
	}
	switch {
	case i.Running:
		line += "  [has not ended yet]"
	case !i.Sealed:
		line += "  [did not end]"
	}
	if i.Problem != "" {
		line += "  [" + i.Problem + "]"
	}
	return line
}

// TaskView is everything that a task's folder tells.
type TaskView struct {
	Schema int      `json:"schema"`
	Info   TaskInfo `json:"summary"`
	Contents
}

// ShowTask reads one task's folder, sealed or not, and verifies it. It changes nothing.
func ShowTask(dir string) (*TaskView, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	sid, err := ParseSessionID(filepath.Base(filepath.Dir(dir)))
	if err != nil {
		return nil, fmt.Errorf("not in a session: %w", err)
	}
	id, err := ParseTaskID(filepath.Base(dir))
	if err != nil {
		return nil, err
	}
	rep, err := Verify(dir)
	if err != nil {
		return nil, err
	}
	v := &TaskView{Schema: Schema, Info: taskInfo(dir, sid, id, running(filepath.Join(filepath.Dir(dir), sessionName)))}
	t, err := scanTask(dir, func(Kind, string, string) {})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", dir, err)
	}
	v.Contents = contents(dir, t, rep.Problems)
	return v, nil
}

// JSON returns the view as an indented document.
func (v *TaskView) JSON() ([]byte, error) { return strictjson.Marshal(v) }

// WriteTo prints the view for people.
func (v *TaskView) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s  %s\n%s\n", v.Info.Session, v.Info.ID, v.Info.Path, v.Info)
	v.Contents.print(&b)
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}
