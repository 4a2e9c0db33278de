package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"blockworld-voice/internal/digest"
)

// Verify checks a store, one session or one utterance, whichever path names, and changes nothing. Its memory doesn't
// grow with the number of sessions and utterances. The error says that path can't be looked at at all; everything
// that is wrong below it stands in the report.
func Verify(root string) (*Report, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	fi, err := os.Lstat(abs)
	if err != nil {
		return nil, fmt.Errorf("look at the evidence: %w", err)
	}
	if !fi.IsDir() {
		return nil, &RootError{abs, "is not a folder (links are not followed)", "name a store, a session or an utterance folder"}
	}
	v := &verifier{rep: &Report{Schema: Schema, Path: abs, Problems: []Problem{}}, root: abs, buf: make([]byte, 64<<10)}
	sid, sessionErr := ParseSessionID(filepath.Base(abs))
	parent, parentErr := ParseSessionID(filepath.Base(filepath.Dir(abs)))
	uid, utteranceErr := ParseUtteranceID(filepath.Base(abs))
	tid, taskErr := ParseTaskID(filepath.Base(abs))
	checkPrivate(fi, ".", v.report(""))
	switch {
	case utteranceErr == nil && parentErr == nil:
		v.rep.Scope = ScopeUtterance
		v.oneUtterance(filepath.Dir(abs), parent, uid)
	case taskErr == nil && parentErr == nil:
		v.rep.Scope = ScopeTask
		v.oneTask(filepath.Dir(abs), parent, tid)
	case sessionErr == nil:
		v.rep.Scope = ScopeSession
		v.rep.Head = v.session("", sid)
	default:
		v.rep.Scope = ScopeStore
		v.store()
	}
	v.rep.finish()
	return v.rep, nil
}

type verifier struct {
	rep  *Report
	root string
	buf  []byte
}

// report returns a function that files problems below the folder rel.
func (v *verifier) report(rel string) func(k Kind, name, detail string) {
	return func(k Kind, name, detail string) {
		name = path.Join(rel, name)
		if name == "" {
			name = "."
		}
		v.rep.add(k, name, detail)
	}
}

func (v *verifier) path(rel string) string { return filepath.Join(v.root, filepath.FromSlash(rel)) }

func (v *verifier) store() {
	report := v.report("")
	err := eachEntry(v.root, func(e fs.DirEntry) error {
		fi, err := e.Info()
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) { // else it was removed since the listing
				report(Unreadable, e.Name(), bare(err).Error())
			}
			return nil
		}
		id, err := ParseSessionID(e.Name())
		switch {
		case fi.Mode()&fs.ModeSymlink != 0:
			report(Symlink, e.Name(), "")
		case fi.IsDir() && unborn(e.Name()):
			report(Leftover, e.Name(), "the program ended before the session began")
		case err != nil || !fi.IsDir():
			report(Foreign, e.Name(), "not a session")
		default:
			checkPrivate(fi, e.Name(), report)
			v.session(e.Name(), id)
		}
		return nil
	})
	if err != nil {
		report(Unreadable, ".", bare(err).Error())
	}
}

// session checks one session's folder, which is rel below the root, and returns the digest of its last manifest.
func (v *verifier) session(rel string, id SessionID) digest.Digest {
	report := v.report(rel)
	v.rep.Sessions++
	docs := v.sessionDocs(rel, id)
	head, live := docs.head, docs.live
	if live {
		v.rep.Running++
	}
	last, lastTask := v.sessionEntries(rel, head, live)
	for _, name := range docs.missing {
		report(Missing, name, "")
	}
	if head != nil {
		last = max(last, UtteranceID(head.Begun))
	}
	gap := UtteranceID(0) // the first of a run of missing utterances
	endGap := func(next UtteranceID) {
		if gap != 0 && gap == next-1 {
			report(Missing, gap.String(), "")
		} else if gap != 0 {
			report(Missing, gap.String(), fmt.Sprintf("and all to %s", next-1))
		}
		gap = 0
	}
	c := chain{head: head, known: true, name: func(n uint32) string { return UtteranceID(n).String() }}
	for n := UtteranceID(1); n <= last; n++ {
		name := n.String()
		fi, err := os.Lstat(v.path(path.Join(rel, name)))
		if err != nil || !fi.IsDir() { // what stands there instead of a folder was reported with the entries
			if gap == 0 {
				gap = n
			}
			c.known = false
			continue
		}
		endGap(n)
		checkPrivate(fi, name, report)
		m := v.utterance(path.Join(rel, name), id, n, live && n == last)
		if !m.sealed && (n != last || head != nil && head.Sealed >= uint32(n)) {
			report(Missing, path.Join(name, manifestName), "the utterance was sealed")
		}
		c.add(uint32(n), m, report)
	}
	endGap(last + 1)
	c.end(live, report)
	v.tasks(rel, id, head, lastTask, live)
	return c.newest.digest
}

// chain follows the manifests of one session.
type chain struct {
	head   *headDoc      // nil when it can't be used
	known  bool          // whether prev is the digest of the manifest before
	prev   digest.Digest // zero before the first
	atHead digest.Digest // of the manifest that head.json must name
	sealed uint32        // the number of the newest manifest
	newest manifestFacts
	name   func(uint32) string
}

func (c *chain) add(n uint32, m manifestFacts, report func(k Kind, name, detail string)) {
	if !m.sealed {
		c.known = false
		return
	}
	if c.known && m.readable && m.previous != c.prev {
		report(BrokenChain, path.Join(c.name(n), manifestName), fmt.Sprintf("it follows the manifest %s, but the one before is %s", short(m.previous), short(c.prev)))
	}
	if c.head != nil && c.head.Sealed == n {
		c.atHead = m.digest
	}
	c.known, c.prev, c.sealed, c.newest = true, m.digest, n, m
}

// end compares the last manifest with what head.json says of it. A live session may have sealed one more meanwhile.
func (c *chain) end(live bool, report func(k Kind, name, detail string)) {
	switch h := c.head; {
	case h == nil: // said already
	case h.Manifest != c.atHead:
		report(BrokenChain, headName, fmt.Sprintf("it names the manifest %s of the last of %d sealed, found %s", short(h.Manifest), h.Sealed, short(c.atHead)))
	case c.sealed == h.Sealed || live:
	case c.sealed == h.Sealed+1 && c.newest.previous == h.Manifest && !h.Closed:
		report(Unanchored, c.name(c.sealed), "the program ended before head.json named it")
	default:
		report(BrokenChain, headName, fmt.Sprintf("it knows %d that are sealed, found %d", h.Sealed, c.sealed))
	}
}

type sessionDocs struct {
	head    *headDoc // nil when it can't be used
	live    bool     // a process holds the session
	missing []string
}

// sessionDocs checks session.json and head.json.
func (v *verifier) sessionDocs(rel string, id SessionID) (docs sessionDocs) {
	report := v.report(rel)
	load := func(name string, doc any) ([]byte, bool) {
		data, err := readSmall(v.path(path.Join(rel, name)))
		if err == nil {
			v.rep.Files++
			v.rep.Bytes += int64(len(data))
			err = readDoc(data, doc)
		}
		switch {
		case err == nil:
			return data, true
		case errors.Is(err, fs.ErrNotExist):
			docs.missing = append(docs.missing, name)
		case errors.Is(err, errNotRegular): // reported with the entries
		default:
			reportDoc(name, err, report)
			return data, false
		}
		return nil, false
	}
	var s sessionDoc
	sessionData, ok := load(sessionName, &s)
	if ok && s.Session != id {
		report(Renamed, ".", "session.json says that this is "+s.Session.String())
	}
	docs.live = sessionData != nil && running(v.path(path.Join(rel, sessionName)))
	var h headDoc
	if _, ok := load(headName, &h); !ok {
		return docs
	}
	if h.Session != id {
		report(BadDocument, headName, "it belongs to "+h.Session.String())
	}
	if sessionData != nil && digest.Of(sessionData) != h.SessionSHA256 {
		report(Changed, sessionName, "head.json names another digest")
	}
	if h.Sealed > h.Begun || h.Begun > MaxUtterances || (h.Sealed == 0) != h.Manifest.IsZero() ||
		h.TasksSealed > h.TasksBegun || h.TasksBegun > MaxTasks || (h.TasksSealed == 0) != h.TaskManifest.IsZero() {
		report(BadDocument, headName, "its numbers contradict each other")
		return docs
	}
	docs.head = &h
	return docs
}

// sessionEntries reports what doesn't belong into a session's folder and returns the last utterance and task that do.
func (v *verifier) sessionEntries(rel string, head *headDoc, live bool) (last UtteranceID, lastTask TaskID) {
	report := v.report(rel)
	err := eachEntry(v.path(rel), func(e fs.DirEntry) error {
		name := e.Name()
		fi, err := e.Info()
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) { // else a temporary name that is gone since the listing
				report(Unreadable, name, bare(err).Error())
			}
			return nil
		}
		id, err := ParseUtteranceID(name)
		tid, taskErr := ParseTaskID(name)
		switch {
		case fi.Mode()&fs.ModeSymlink != 0:
			report(Symlink, name, "")
		case taskErr == nil && fi.IsDir():
			switch {
			case head != nil && uint32(tid) > head.TasksBegun+1 && !live, head != nil && uint32(tid) > head.TasksBegun && head.Closed:
				report(Added, name, fmt.Sprintf("head.json counts %d tasks", head.TasksBegun))
			case head != nil && uint32(tid) > head.TasksBegun && live:
			default:
				lastTask = max(lastTask, tid)
			}
		case fi.Mode().IsRegular() && (name == sessionName || name == headName):
			checkPrivate(fi, name, report)
		case fi.Mode().IsRegular() && isTemporary(name):
			if !live {
				report(Leftover, name, "")
			}
		case err != nil || !fi.IsDir():
			report(Foreign, name, "not a part of a session")
		// The folder is made before head.json counts it, so one more than counted is an interruption's trace.
		case head != nil && uint32(id) > head.Begun+1 && !live, head != nil && uint32(id) > head.Begun && head.Closed:
			report(Added, name, fmt.Sprintf("head.json counts %d utterances", head.Begun))
		case head != nil && uint32(id) > head.Begun && live:
		default:
			last = max(last, id)
		}
		return nil
	})
	if err != nil {
		report(Unreadable, ".", bare(err).Error())
	}
	return last, lastTask
}

// unborn recognises the folder of a session that is just being made.
func unborn(name string) bool {
	rest, hidden := strings.CutPrefix(name, ".")
	_, err := ParseSessionID(rest)
	return hidden && err == nil
}

// isTemporary recognises the names under which documents are written before they are renamed.
func isTemporary(name string) bool { return len(name) > 1 && name[0] == '.' }

func short(d digest.Digest) string {
	if d.IsZero() {
		return "(none)"
	}
	return d.Short()
}
