package evidence

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/strictjson"
)

const (
	maxFiles    = 200      // of one utterance: its manifest stays a small document
	maxArtefact = 64 << 20 // bytes of one artefact
	maxReason   = 512      // bytes of a receipt's reason
)

// Utterance is the writer of one utterance's folder. Stages are begun and ended strictly in order, each exactly
// once, also those that are skipped. Methods may be called from any goroutine.
//
// What a method wrote is there whatever becomes of this process once it returned nil. It survives a crash of the
// machine too when the stage's receipt is written; in the game stage, and for a log's lines, at once.
type Utterance struct {
	session *Session
	id      UtteranceID
	dir     string

	mu     sync.Mutex
	trail  trail
	mark   Mark   // of the stage under way; zero between stages
	files  []File // of the stages that ended
	stage  []File // of the stage under way
	logs   []*Log // of the stage under way
	sealed bool
}

// ID returns the utterance's identity.
func (u *Utterance) ID() UtteranceID { return u.id }

// Dir returns the utterance's folder.
func (u *Utterance) Dir() string { return u.dir }

// Session returns the session to which the utterance belongs.
func (u *Utterance) Session() *Session { return u.session }

// BeginStage makes the stage's folder and leaves a started mark in it, which PutReceipt removes. On a storage error
// the stage counts as begun if its folder could be made, so that a receipt may still follow.
func (u *Utterance) BeginStage(s Stage) (Mark, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.sealed:
		return Mark{}, invariant("%s is sealed", u.id)
	case u.mark.Stage != 0:
		return Mark{}, invariant("%s can't begin: %s has not ended", s, u.mark.Stage)
	case s != u.trail.last+1 || !s.valid():
		return Mark{}, invariant("%s can't begin after %s", s, u.trail.lastName())
	}
	dir := filepath.Join(u.dir, s.Folder())
	if err := u.session.store.disk.Mkdir(dir); err != nil {
		return Mark{}, u.session.fail("create", dir, err)
	}
	if err := u.session.syncDir(u.dir); err != nil {
		return Mark{}, err
	}
	now := time.Now()
	u.mark = Mark{Schema, s, int64(now.Sub(u.session.epoch)), wall(now)}
	data, err := strictjson.Marshal(u.mark)
	if err != nil {
		return u.mark, fmt.Errorf("evidence: %w", err)
	}
	if err := u.session.store.disk.Mark(filepath.Join(dir, startedName), data); err != nil {
		return u.mark, u.session.fail("write", filepath.Join(dir, startedName), err)
	}
	return u.mark, nil
}

// Put writes one artefact of the stage under way. A name is used once.
func (u *Utterance) Put(s Stage, name string, data []byte) (File, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.admit(s, name); err != nil {
		return File{}, err
	}
	if len(data) > maxArtefact {
		return File{}, invariant("%s has %d bytes, an artefact has at most %d", name, len(data), maxArtefact)
	}
	f := File{path.Join(s.Folder(), name), int64(len(data)), digest.Of(data)}
	if err := u.session.write(filepath.Join(u.dir, s.Folder(), name), data); err != nil {
		return File{}, err
	}
	u.stage = append(u.stage, f)
	if s == Game { // an attempt must be on the disk before anything is sent
		if err := u.session.syncDir(filepath.Join(u.dir, s.Folder())); err != nil {
			return File{}, err
		}
	}
	return f, nil
}

// PutJSON writes v as a document, which must carry a "schema" number and fit the limits of strict JSON.
func (u *Utterance) PutJSON(s Stage, name string, v any) (File, error) {
	data, err := document(name, v)
	if err != nil {
		return File{}, err
	}
	return u.Put(s, name, data)
}

// document returns the bytes of a document that this package may write.
func document(name string, v any) ([]byte, error) {
	data, err := strictjson.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("evidence: %s: %w", name, err)
	}
	if len(data) > strictjson.MaxSize {
		return nil, invariant("%s has %d bytes, a document has at most %d", name, len(data), strictjson.MaxSize)
	}
	if err := checkSchema(data); err != nil {
		return nil, invariant("%s: %v", name, err)
	}
	return data, nil
}

// admit tests that name may be written for stage s now.
func (u *Utterance) admit(s Stage, name string) error {
	if u.sealed {
		return invariant("%s is sealed", u.id)
	}
	if u.mark.Stage == 0 || s != u.mark.Stage {
		return invariant("%s can't be written: %s is not under way", name, s)
	}
	if err := checkName(name); err != nil {
		return err
	}
	full := path.Join(s.Folder(), name)
	same := func(f File) bool { return f.Name == full }
	if slices.ContainsFunc(u.stage, same) || slices.ContainsFunc(u.logs, func(l *Log) bool { return l.file.Name == full }) {
		return invariant("%s was written already", full)
	}
	if len(u.files)+len(u.stage)+len(u.logs) >= maxFiles {
		return invariant("%s has %d files already", u.id, maxFiles)
	}
	return nil
}

// PutReceipt ends the stage under way. Schema may be left 0, and Outputs nil: then they name everything that the
// stage put. Its logs are closed first, so a late event is refused and not lost in silence. A Reason may be any text,
// as an error's: it is written as valid UTF-8 and cut to 512 bytes.
func (u *Utterance) PutReceipt(r Receipt) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.sealed {
		return invariant("%s is sealed", u.id)
	}
	if u.mark.Stage == 0 || r.Stage != u.mark.Stage {
		return invariant("a receipt of %s can't be written: it is not under way", r.Stage)
	}
	for len(u.logs) > 0 {
		f, err := u.logs[0].close()
		if err != nil {
			return err
		}
		u.stage, u.logs = append(u.stage, f), u.logs[1:]
	}
	refs := []Ref{}
	for _, f := range u.stage {
		refs = append(refs, f.Ref())
	}
	if r.Outputs == nil {
		r.Outputs = refs
	} else if !sameRefs(r.Outputs, refs) {
		return invariant("the receipt of %s doesn't name what the stage wrote", r.Stage)
	}
	if r.Inputs == nil {
		r.Inputs = []Ref{}
	}
	r.Schema, r.WallStart, r.Reason = Schema, wall(r.WallStart), reason(r.Reason)
	data, err := strictjson.Marshal(r)
	if err != nil {
		return invariant("the receipt of %s: %v", r.Stage, err)
	}
	next := u.trail.clone()
	if err := next.add(&r); err != nil {
		return invariant("%v", err)
	}
	dir := filepath.Join(u.dir, r.Stage.Folder())
	if err := u.session.write(filepath.Join(dir, receiptName), data); err != nil {
		return err
	}
	receipt := File{path.Join(r.Stage.Folder(), receiptName), int64(len(data)), digest.Of(data)}
	u.trail = next
	u.files = append(append(u.files, u.stage...), receipt)
	u.stage, u.mark = nil, Mark{}
	if err := u.session.store.disk.Remove(filepath.Join(dir, startedName)); err != nil {
		return u.session.fail("remove", filepath.Join(dir, startedName), err)
	}
	return u.session.syncDir(dir)
}

// Skip begins and ends a stage that did nothing. The reason says why.
func (u *Utterance) Skip(s Stage, v Verdict, reason string) error {
	m, err := u.BeginStage(s)
	if err != nil {
		return err
	}
	return u.PutReceipt(Receipt{Stage: s, Verdict: v, Reason: reason, StartNS: m.StartNS, EndNS: m.StartNS, WallStart: m.WallStart})
}

// Seal writes the manifest when all six stages have their receipts, and returns its digest. Nothing can be written
// into the utterance afterwards.
func (u *Utterance) Seal() (digest.Digest, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.sealed {
		return digest.Digest{}, invariant("%s is sealed", u.id)
	}
	if u.trail.last != Playback {
		return digest.Digest{}, invariant("%s can't be sealed: the last receipt is that of %s", u.id, u.trail.lastName())
	}
	m := manifestDoc{Schema, u.session.id, u.id, slices.Clone(u.files), u.session.Head()}
	slices.SortFunc(m.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	d, err := u.session.seal(u.dir, m)
	if err != nil {
		return digest.Digest{}, err
	}
	u.sealed = true
	return d, u.session.sealed(u, d)
}

// seal writes the manifest of a folder, durably, and returns its digest.
func (s *Session) seal(dir string, manifest any) (digest.Digest, error) {
	data, err := strictjson.Marshal(manifest)
	if err != nil {
		return digest.Digest{}, fmt.Errorf("evidence: %w", err)
	}
	if err := s.write(filepath.Join(dir, manifestName), data); err != nil {
		return digest.Digest{}, err
	}
	return digest.Of(data), s.syncDir(dir)
}

// reason makes any text fit for a receipt.
func reason(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxReason {
		return s
	}
	const more = "…"
	return strings.ToValidUTF8(s[:maxReason-len(more)], "") + more
}

func (t *trail) clone() trail {
	c := *t
	c.outputs = make(map[Ref]bool, len(t.outputs)+2)
	for r := range t.outputs {
		c.outputs[r] = true
	}
	return c
}

func sameRefs(a, b []Ref) bool {
	order := func(x, y Ref) int { return strings.Compare(x.Name, y.Name) }
	a, b = slices.Clone(a), slices.Clone(b)
	slices.SortFunc(a, order)
	slices.SortFunc(b, order)
	return slices.Equal(a, b)
}
