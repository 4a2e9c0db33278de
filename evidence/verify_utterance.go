package evidence

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/strictjson"

	"github.com/go-json-experiment/json/jsontext"
)

// manifestFacts are what the chain needs of one manifest.
type manifestFacts struct {
	sealed   bool // manifest.json is there
	readable bool
	digest   digest.Digest
	previous digest.Digest
}

// oneUtterance checks an utterance alone, with its two neighbours in the chain.
func (v *verifier) oneUtterance(session string, sid SessionID, id UtteranceID) {
	report := v.report("")
	live := running(filepath.Join(session, sessionName))
	m := v.utterance("", sid, id, live)
	var head headDoc
	headErr := loadDoc(session, headName, &head)
	if headErr != nil {
		report(BrokenChain, ".", "the head.json of the session can't be read: "+bare(headErr).Error())
	}
	if !m.sealed {
		if headErr == nil && head.Sealed >= uint32(id) {
			report(Missing, manifestName, "the utterance was sealed")
		}
		return
	}
	manifestOf := func(n UtteranceID) (*manifestDoc, []byte, error) {
		var d manifestDoc
		data, err := readSmall(filepath.Join(session, n.String(), manifestName))
		if err == nil {
			err = readDoc(data, &d)
		}
		return &d, data, err
	}
	if id > 1 {
		if _, data, err := manifestOf(id - 1); err != nil || digest.Of(data) != m.previous {
			report(BrokenChain, manifestName, fmt.Sprintf("it follows another manifest than that of %s", id-1))
		}
	} else if !m.previous.IsZero() {
		report(BrokenChain, manifestName, "the first utterance follows nothing")
	}
	next, _, err := manifestOf(id + 1)
	switch {
	case err == nil && next.Previous != m.digest:
		report(BrokenChain, manifestName, fmt.Sprintf("%s follows another manifest", id+1))
	case err != nil && headErr == nil && head.Sealed == uint32(id) && head.Manifest != m.digest:
		report(BrokenChain, manifestName, "head.json names another digest")
	case err != nil && headErr == nil && head.Sealed+1 == uint32(id) && !live:
		report(Unanchored, ".", "the program ended before head.json named it")
	case err != nil && headErr == nil && head.Sealed != uint32(id) && !live:
		report(BrokenChain, manifestName, fmt.Sprintf("nothing in the session names its digest: head.json counts %d sealed utterances, and %s can't be read", head.Sealed, id+1))
	}
}

// utterance checks one folder against its manifest, or, without one, against the receipts that are there.
func (v *verifier) utterance(rel string, sid SessionID, id UtteranceID, live bool) manifestFacts {
	report := v.report(rel)
	dir := v.path(rel)
	v.rep.Utterances++
	t, err := scan(dir, report)
	if err != nil {
		report(Unreadable, ".", bare(err).Error())
		return manifestFacts{}
	}
	if !t.manifest {
		look := report
		if live {
			look = func(Kind, string, string) {} // it changes while we look, so what we see needn't fit together
		}
		st := readState(dir, t, look)
		st.Running = live
		report(Unfinished, ".", st.Describe())
		if !live {
			v.unsealed(dir, t, st, report)
		}
		return manifestFacts{}
	}
	st := readState(dir, t, report)
	v.rep.Sealed++
	if len(st.Stages) != len(Stages()) {
		report(BadReceipt, ".", "sealed without a folder for each of the six stages")
	}
	var m manifestDoc
	facts := v.manifest(dir, &m, report)
	if !facts.readable {
		return facts
	}
	facts.previous = m.Previous
	if m.Session != sid || m.Utterance != id {
		report(Renamed, ".", fmt.Sprintf("its manifest is that of %s/%s", m.Session, m.Utterance))
	}
	if inOrder(m.Files, fileName, report) {
		v.compare(dir, t, m.Files, report)
	}
	return facts
}

// manifest reads the manifest of a folder into doc and counts it.
func (v *verifier) manifest(dir string, doc any, report func(k Kind, name, detail string)) manifestFacts {
	facts := manifestFacts{sealed: true}
	data, err := readSmall(filepath.Join(dir, manifestName))
	if err != nil {
		report(Unreadable, manifestName, bare(err).Error())
		return facts
	}
	v.rep.Files++
	v.rep.Bytes += int64(len(data))
	facts.digest = digest.Of(data)
	if err := readDoc(data, doc); err != nil {
		reportDoc(manifestName, err, report)
		return facts
	}
	facts.readable = true
	return facts
}

// inOrder says whether a manifest's list has good names in rising order, and reports the first place where not.
func inOrder(files []File, good func(name string) bool, report func(k Kind, name, detail string)) bool {
	for i, f := range files {
		if !good(f.Name) || f.Size < 0 || i > 0 && files[i-1].Name >= f.Name {
			report(BadDocument, manifestName, fmt.Sprintf("it has no proper list of files at %q", f.Name))
			return false
		}
	}
	return true
}

// unsealed checks an utterance that has no manifest: the outputs of every stage that ended are still there.
func (v *verifier) unsealed(dir string, t *tree, st State, report func(k Kind, name, detail string)) {
	for name := range t.extra {
		if isTemporary(path.Base(name)) {
			report(Leftover, name, "")
			delete(t.extra, name)
		}
	}
	var files []File
	ended := map[string]bool{}
	for _, s := range st.Stages {
		if s.Receipt == nil {
			continue
		}
		ended[s.Stage.Folder()] = true
		for _, out := range s.Receipt.Outputs {
			if fileName(out.Name) {
				files = append(files, File{out.Name, t.files[out.Name], out.SHA256}) // a receipt has no size
			}
		}
	}
	listed := &tree{files: map[string]int64{}, extra: t.extra}
	for name, size := range t.files {
		folder, base := path.Split(name)
		own := base == receiptName || base == startedName
		switch {
		case own && ended[strings.TrimSuffix(folder, "/")] || own && base == startedName:
			v.rep.Files++
			v.rep.Bytes += size
		case ended[strings.TrimSuffix(folder, "/")]:
			listed.files[name] = size
		default: // an artefact of the stage that did not end; nothing says yet what it must be
			v.rep.Files++
			v.rep.Bytes += size
			if strings.HasSuffix(base, ".jsonl") {
				checkLog(filepath.Join(dir, filepath.FromSlash(name)), name, report)
			}
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	v.compare(dir, listed, files, report)
}

// compare tests the files of t against the list, which is sorted.
func (v *verifier) compare(dir string, t *tree, list []File, report func(k Kind, name, detail string)) {
	var missing []File
	named := map[string]bool{}
	for _, f := range list {
		named[f.Name] = true
		size, ok := t.files[f.Name]
		if !ok {
			missing = append(missing, f)
			continue
		}
		if size != f.Size {
			report(Changed, f.Name, fmt.Sprintf("%d bytes, should be %d", size, f.Size))
			continue
		}
		d, n, err := sum(filepath.Join(dir, filepath.FromSlash(f.Name)), v.buf)
		v.rep.Files++
		v.rep.Bytes += n
		switch {
		case err != nil:
			report(Unreadable, f.Name, bare(err).Error())
		case d != f.SHA256:
			report(Changed, f.Name, "")
		case strings.HasSuffix(f.Name, ".json") && path.Base(f.Name) != receiptName && n <= strictjson.MaxSize:
			v.artefactSchema(dir, f.Name, report)
		}
	}
	for _, name := range slices.Sorted(unlisted(t, named)) {
		size, ok := t.files[name]
		if !ok {
			size = t.extra[name]
		}
		i := slices.IndexFunc(missing, func(f File) bool {
			if f.Size != size {
				return false
			}
			d, _, err := sum(filepath.Join(dir, filepath.FromSlash(name)), v.buf)
			return err == nil && d == f.SHA256
		})
		if i < 0 {
			report(Added, name, "")
			continue
		}
		report(Renamed, missing[i].Name, "it is now "+name)
		missing = slices.Delete(missing, i, i+1)
	}
	for _, f := range missing {
		report(Missing, f.Name, "")
	}
}

// unlisted yields the files of t that no list names.
func unlisted(t *tree, named map[string]bool) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, m := range []map[string]int64{t.files, t.extra} {
			for name := range m {
				if !named[name] && !yield(name) {
					return
				}
			}
		}
	}
}

// artefactSchema reports an artefact that a later version wrote.
func (v *verifier) artefactSchema(dir, name string, report func(k Kind, name, detail string)) {
	data, err := readSmall(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		report(Unreadable, name, bare(err).Error())
		return
	}
	var newer *newerSchema
	if errors.As(checkSchema(data), &newer) {
		report(NewerSchema, name, newer.Error())
	}
}

// checkLog reports a log of a stage that did not end when its last line was cut, or a line is no JSON.
func checkLog(file, name string, report func(k Kind, name, detail string)) {
	f, fi, err := openRegular(file)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			report(Unreadable, name, bare(err).Error())
		}
		return
	}
	defer f.Close()
	lines := 0
	err = eachLine(f, func(line []byte, whole bool) {
		lines++
		switch {
		case !whole:
			report(Torn, name, fmt.Sprintf("line %d was cut", lines))
		case !jsontext.Value(line).IsValid():
			report(BadDocument, name, fmt.Sprintf("line %d is not JSON", lines))
		}
	})
	if err != nil || fi.Size() > maxLog {
		report(BadDocument, name, "not a log of this program")
	}
}

var errLongLine = errors.New("a line is too long")

// eachLine gives the lines of a log without their ends; whole is false for a last line that has no end.
func eachLine(f *os.File, do func(line []byte, whole bool)) error {
	buf := make([]byte, 0, strictjson.MaxSize+1)
	for {
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		for {
			i := bytes.IndexByte(buf, '\n')
			if i < 0 {
				break
			}
			do(buf[:i], true)
			buf = buf[:copy(buf, buf[i+1:])]
		}
		switch {
		case len(buf) == cap(buf):
			return errLongLine
		case n == 0 || err != nil:
			if len(buf) > 0 {
				do(buf, false)
			}
			return nil
		}
	}
}
