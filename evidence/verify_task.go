package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"blockworld-voice/internal/digest"
)

// tasks checks the tasks of a session and their chain. last is the last folder that was found.
func (v *verifier) tasks(rel string, sid SessionID, head *headDoc, last TaskID, live bool) {
	report := v.report(rel)
	c := chain{known: true, name: func(n uint32) string { return TaskID(n).String() }}
	if head != nil {
		last = max(last, TaskID(head.TasksBegun))
		c.head = &headDoc{Begun: head.TasksBegun, Sealed: head.TasksSealed, Manifest: head.TaskManifest, Closed: head.Closed}
	}
	for id := TaskID(1); id <= last; id++ {
		name := id.String()
		fi, err := os.Lstat(v.path(path.Join(rel, name)))
		if err != nil || !fi.IsDir() {
			report(Missing, name, "")
			c.known = false
			continue
		}
		checkPrivate(fi, name, report)
		m := v.task(path.Join(rel, name), sid, id, live && id == last)
		if !m.sealed && (id != last || head != nil && head.TasksSealed >= uint32(id)) {
			report(Missing, path.Join(name, manifestName), "the task was sealed")
		}
		c.add(uint32(id), m, report)
	}
	c.end(live, report)
}

// oneTask checks a task alone, with what holds its manifest.
func (v *verifier) oneTask(session string, sid SessionID, id TaskID) {
	report := v.report("")
	live := running(filepath.Join(session, sessionName))
	m := v.task("", sid, id, live)
	var head headDoc
	if err := loadDoc(session, headName, &head); err != nil {
		report(BrokenChain, ".", "the head.json of the session can't be read: "+bare(err).Error())
		return
	}
	if !m.sealed {
		if head.TasksSealed >= uint32(id) {
			report(Missing, manifestName, "the task was sealed")
		}
		return
	}
	previous, err := taskManifestOf(session, id-1)
	if id > 1 && (err != nil || previous.digest != m.previous) || id == 1 && !m.previous.IsZero() {
		report(BrokenChain, manifestName, "it follows another manifest than that of the task before")
	}
	switch next, err := taskManifestOf(session, id+1); {
	case err == nil && next.previous != m.digest:
		report(BrokenChain, manifestName, fmt.Sprintf("%s follows another manifest", id+1))
	case err == nil:
	case head.TasksSealed == uint32(id) && head.TaskManifest != m.digest:
		report(BrokenChain, manifestName, "head.json names another digest")
	case head.TasksSealed+1 == uint32(id) && !live:
		report(Unanchored, ".", "the program ended before head.json named it")
	case head.TasksSealed != uint32(id) && !live:
		report(BrokenChain, manifestName, "nothing in the session names its digest")
	}
}

func taskManifestOf(session string, id TaskID) (manifestFacts, error) {
	var d taskManifest
	data, err := readSmall(filepath.Join(session, id.String(), manifestName))
	if err == nil {
		err = readDoc(data, &d)
	}
	return manifestFacts{sealed: true, readable: err == nil, digest: digest.Of(data), previous: d.Previous}, err
}

// task checks one folder against its manifest. Without one, every document must at least be whole.
func (v *verifier) task(rel string, sid SessionID, id TaskID, live bool) manifestFacts {
	report := v.report(rel)
	dir := v.path(rel)
	v.rep.Tasks++
	t, err := scanTask(dir, report)
	if err != nil {
		report(Unreadable, ".", bare(err).Error())
		return manifestFacts{}
	}
	if !t.manifest {
		report(Unfinished, ".", taskState(t, live))
		if !live {
			v.unsealedTask(dir, t, report)
		}
		return manifestFacts{}
	}
	var m taskManifest
	facts := v.manifest(dir, &m, report)
	if !facts.readable {
		return facts
	}
	facts.previous = m.Previous
	if m.Session != sid || m.Task != id {
		report(Renamed, ".", fmt.Sprintf("its manifest is that of %s/%s", m.Session, m.Task))
	}
	if inOrder(m.Files, func(name string) bool { return checkName(name) == nil }, report) {
		v.compare(dir, t, m.Files, report)
	}
	return facts
}

func (v *verifier) unsealedTask(dir string, t *tree, report func(k Kind, name, detail string)) {
	for name := range t.extra {
		if isTemporary(name) {
			report(Leftover, name, "")
		} else {
			report(Added, name, "")
		}
	}
	for name, size := range t.files {
		v.rep.Files++
		v.rep.Bytes += size
		if strings.HasSuffix(name, ".jsonl") {
			checkLog(filepath.Join(dir, name), name, report)
		} else if data, err := readSmall(filepath.Join(dir, name)); err != nil || checkSchema(data) != nil {
			report(BadDocument, name, "not a document of this program")
		}
	}
}

// scanTask lists the folder of a task.
func scanTask(dir string, report func(k Kind, path, detail string)) (*tree, error) {
	t := &tree{files: map[string]int64{}, extra: map[string]int64{}}
	entries := 0
	err := eachEntry(dir, func(e fs.DirEntry) error {
		if entries++; entries > maxEntries {
			return nil
		}
		fi, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			report(Unreadable, e.Name(), bare(err).Error())
			return nil
		}
		switch mode := fi.Mode(); {
		case mode&fs.ModeSymlink != 0:
			report(Symlink, e.Name(), "")
		case !mode.IsRegular():
			report(Foreign, e.Name(), "a task has files only")
		default:
			checkPrivate(fi, e.Name(), report)
			switch {
			case e.Name() == manifestName:
				t.manifest = true
			case checkName(e.Name()) == nil:
				t.files[e.Name()] = fi.Size()
			default:
				t.extra[e.Name()] = fi.Size()
			}
		}
		return nil
	})
	if entries > maxEntries {
		report(Foreign, "", "far more files than a task has")
	}
	return t, err
}

// openTaskAttempts are the attempts of a task that have no outcome.
func openTaskAttempts(t *tree) []string {
	var out []string
	for name := range t.files {
		if rest, ok := strings.CutPrefix(name, "attempt"); ok {
			if _, ok := t.files["outcome"+rest]; !ok {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

func taskState(t *tree, live bool) string {
	s := "the task did not end"
	if live {
		s = "the task has not ended yet"
	}
	if len(openTaskAttempts(t)) > 0 {
		s += ", an instruction was sent or about to be sent: its effect is unknown"
	}
	return s
}
