package evidence

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"blockworld-voice/internal/digest"
)

// tb is what helpers need of a test; rapid's T has it too.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // a test's own setting failed
	}
	return v
}

func noError(t tb, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// newStore returns a fresh store, which must verify without damage when the test ends.
func newStore(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "evidence"))
	noError(t, err)
	s.disk = quickDisk{}
	t.Cleanup(func() {
		if rep := must(Verify(s.Root())); rep.Damaged() {
			t.Errorf("the store is damaged at the end of the test: %v", rep.Problems)
		}
	})
	return s
}

func newSession(t tb, s *Store) *Session {
	t.Helper()
	e, err := s.NewSession(time.Now())
	noError(t, err)
	return e
}

// quickDisk does everything in the same order, and never waits for the disk. Tests that are about the real one say so.
type quickDisk struct{ osDisk }

func (d quickDisk) Write(path string, data []byte) error { return d.Mark(path, data) }
func (quickDisk) SyncDir(string) error                   { return nil }
func (d quickDisk) CreateLog(path string) (logFile, error) {
	f, err := d.osDisk.CreateLog(path)
	return quickLog{f}, err
}

type quickLog struct{ logFile }

func (quickLog) Sync() error { return nil }

type product struct {
	stage Stage
	name  string
	data  string
}

// products of an ordinary utterance, stage by stage.
func products(n int) []product {
	return []product{
		{Capture, ClipFile, fmt.Sprintf("RIFF clip %d", n)},
		{Capture, SpeechFile, fmt.Sprintf("RIFF speech %d", n)},
		{Transcribe, TranscriptFile, `{"schema":1,"text":"choď na desať"}`},
		{Grammar, DecisionFile, `{"schema":1,"kind":"command","command":"goto 10 64 -5"}`},
		{Game, AttemptFile, `{"schema":1,"run":"r1"}`},
		{Game, OutcomeFile, `{"schema":1,"kind":"reported","detail":"x"}`},
		{Synth, ReplyWAVFile, "RIFF reply"},
		{Synth, ReplyFile, `{"schema":1}`},
		{Playback, PlaybackFile, `{"schema":1,"state":"not_attempted"}`},
	}
}

// writeStage begins a stage, puts its products and its receipt, with the last output of before as its input.
func writeStage(u *Utterance, s Stage, n int, input *File) (*File, error) {
	m, err := u.BeginStage(s)
	if err != nil {
		return input, err
	}
	var last *File
	for _, p := range products(n) {
		if p.stage != s {
			continue
		}
		if p.name == OutcomeFile {
			l, err := u.OpenLog(s, EventsFile)
			if err != nil {
				return input, err
			}
			for i := range 3 {
				if err := l.Append(map[string]int{"seq": i}); err != nil {
					return input, err
				}
			}
		}
		f, err := u.Put(s, p.name, []byte(p.data))
		if err != nil {
			return input, err
		}
		last = &f
	}
	r := Receipt{Stage: s, Verdict: Done, StartNS: m.StartNS, EndNS: u.session.Elapsed(), WallStart: m.WallStart, CPUNS: 1}
	if input != nil && s != Capture {
		r.Inputs = []Ref{input.Ref()}
	}
	return last, u.PutReceipt(r)
}

// writeUtterance writes and seals one whole utterance.
func writeUtterance(e *Session, n int) (*Utterance, digest.Digest, error) {
	u, err := e.Begin()
	if err != nil {
		return nil, digest.Digest{}, err
	}
	var last *File
	for _, s := range Stages() {
		if last, err = writeStage(u, s, n, last); err != nil {
			return u, digest.Digest{}, err
		}
	}
	d, err := u.Seal()
	return u, d, err
}

// writeSession writes a closed session of n utterances and returns its folder.
func writeSession(t tb, s *Store, n int) string {
	t.Helper()
	e := newSession(t, s)
	for i := range n {
		_, _, err := writeUtterance(e, i)
		noError(t, err)
	}
	noError(t, e.Close())
	return e.Dir()
}

// filesBelow lists every regular file below dir by relative name.
func filesBelow(t tb, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, must(filepath.Rel(dir, p)))
		}
		return err
	})
	noError(t, err)
	return names
}

// clean fails the test unless dir verifies without any problem.
func clean(t tb, dir string) *Report {
	t.Helper()
	rep, err := Verify(dir)
	noError(t, err)
	if !rep.OK() || rep.Damaged() {
		t.Fatalf("%s should verify clean: %v", dir, rep.Problems)
	}
	return rep
}

// damaged fails the test unless Verify finds damage in dir.
func damaged(t tb, dir, what string) *Report {
	t.Helper()
	rep, err := Verify(dir)
	noError(t, err)
	if !rep.Damaged() {
		t.Fatalf("%s: Verify found no damage: %v", what, rep.Problems)
	}
	return rep
}

// edit replaces the bytes of a file, calls f, and puts the old bytes back.
func edit(t tb, path string, change func([]byte) []byte, f func()) {
	t.Helper()
	old := must(os.ReadFile(path))
	noError(t, os.WriteFile(path, change(bytes.Clone(old)), 0o600))
	f()
	noError(t, os.WriteFile(path, old, 0o600))
}
