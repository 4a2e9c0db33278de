package evidence

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// faultDisk lets the operations before number at through; that one, and the later ones too if forever, fail with err.
type faultDisk struct {
	disk    disk
	at      int
	forever bool
	err     error
	n       int
}

func (d *faultDisk) next() error {
	d.n++
	if d.n-1 == d.at || d.forever && d.n-1 > d.at {
		return d.err
	}
	return nil
}

func (d *faultDisk) Mkdir(path string) error {
	if err := d.next(); err != nil {
		return err
	}
	return d.disk.Mkdir(path)
}

func (d *faultDisk) Write(path string, data []byte) error {
	if err := d.next(); err != nil {
		return err
	}
	return d.disk.Write(path, data)
}

func (d *faultDisk) Mark(path string, data []byte) error {
	if err := d.next(); err != nil {
		return err
	}
	return d.disk.Mark(path, data)
}

func (d *faultDisk) SyncDir(path string) error {
	if err := d.next(); err != nil {
		return err
	}
	return d.disk.SyncDir(path)
}

func (d *faultDisk) Remove(path string) error {
	if err := d.next(); err != nil {
		return err
	}
	return d.disk.Remove(path)
}

func (d *faultDisk) Rename(from, to string) error {
	if err := d.next(); err != nil {
		return err
	}
	return d.disk.Rename(from, to)
}

func (d *faultDisk) CreateLog(path string) (logFile, error) {
	if err := d.next(); err != nil {
		return nil, err
	}
	f, err := d.disk.CreateLog(path)
	return &faultLog{f, d}, err
}

// faultLog writes half a line before it fails, as a full disk does.
type faultLog struct {
	logFile
	d *faultDisk
}

func (l *faultLog) Write(p []byte) (int, error) {
	if err := l.d.next(); err != nil {
		n, _ := l.logFile.Write(p[:len(p)/2])
		return n, err
	}
	return l.logFile.Write(p)
}

// Whatever operation fails, once or from then on: the error is ErrStorage with its cause, what was written before
// stays whole, no utterance begins any more, and the later stages can still be recorded if the disk lets them.
// contract: E4
func TestAFailingDiskAtEveryOperation(t *testing.T) {
	for _, forever := range []bool{false, true} {
		for at := 0; ; at++ {
			s := newStore(t)
			d := &faultDisk{disk: quickDisk{}, at: at, forever: forever, err: &os.PathError{Op: "write", Path: "/secret/home", Err: syscall.ENOSPC}}
			s.disk = d
			e, err := s.NewSession(time.Now())
			if err == nil {
				_, _, err = writeUtterance(e, 0)
				if err != nil {
					if _, again := e.Begin(); !errors.Is(again, ErrStorage) || e.Err() == nil {
						t.Errorf("operation %d: an utterance began after %v", at, err)
					}
				}
				if e := e.Close(); err == nil {
					err = e
				}
			}
			if err == nil {
				if d.n > at {
					t.Errorf("operation %d failed and nobody heard of it", at)
				}
				if at < 40 {
					t.Errorf("only %d operations", at)
				}
				break
			}
			var storage *StorageError
			if !errors.Is(err, ErrStorage) || !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &storage) {
				t.Fatalf("operation %d: %v", at, err)
			}
			if strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "no space") || !strings.Contains(storage.Hint(), "space") {
				t.Errorf("operation %d: %v / %s", at, err, storage.Hint())
			}
			if rep := must(Verify(s.Root())); rep.Damaged() {
				t.Errorf("operation %d: damage %v", at, rep.Problems)
			}
		}
	}
}

// contract: E4
func TestTheGameOutcomeIsStillRecordedAfterAFailure(t *testing.T) {
	s := newStore(t)
	d := &faultDisk{disk: quickDisk{}, at: -1, err: syscall.ENOSPC}
	s.disk = d
	e := newSession(t, s)
	u := must(e.Begin())
	var last *File
	for _, st := range []Stage{Capture, Transcribe, Grammar} {
		last = must(writeStage(u, st, 0, last))
	}
	m := must(u.BeginStage(Game))
	l := must(u.OpenLog(Game, EventsFile))
	must(u.Put(Game, AttemptFile, []byte(`{"schema":1}`)))
	d.at = d.n
	if err := l.Append("lost"); !errors.Is(err, ErrStorage) {
		t.Fatalf("error %v", err)
	}
	noError(t, l.Append("kept"))
	must(u.Put(Game, OutcomeFile, []byte(`{"schema":1,"kind":"reported"}`)))
	noError(t, u.PutReceipt(Receipt{Stage: Game, Verdict: Done, StartNS: m.StartNS, EndNS: e.Elapsed(), WallStart: m.WallStart}))
	noError(t, u.Skip(Synth, Skipped, "evidence"))
	noError(t, u.Skip(Playback, Skipped, "evidence"))
	must(u.Seal())
	if _, err := e.Begin(); !errors.Is(err, ErrStorage) {
		t.Errorf("an utterance began: %v", err)
	}
	noError(t, e.Close())
	clean(t, e.Dir())
	log := must(os.ReadFile(filepath.Join(u.Dir(), "4-game", EventsFile)))
	if want := "{\"log\":\"events.jsonl\",\"schema\":1}\n\"kept\"\n"; !bytes.Equal(log, []byte(want)) && !strings.HasSuffix(string(log), "}\n\"kept\"\n") {
		t.Errorf("log %q", log)
	}
}

func TestHintsTellWhatToDo(t *testing.T) {
	for cause, want := range map[error]string{
		syscall.ENOSPC: "free some space", syscall.EDQUOT: "free some space", syscall.EROFS: "may write",
		syscall.EACCES: "may write", syscall.EFBIG: "ulimit", syscall.EIO: "fresh session",
	} {
		e := &StorageError{"write", "x", &os.PathError{Op: "open", Path: "x", Err: cause}}
		if !strings.Contains(e.Hint(), want) || !errors.Is(e, cause) {
			t.Errorf("%v: %s", cause, e.Hint())
		}
	}
}

// A real limit of the operating system, in a process of its own: no file may grow beyond 8 KiB.
// contract: E4
func TestARealSizeLimit(t *testing.T) {
	s := newStore(t)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childEnv+"=limit", "EVIDENCE_ROOT="+s.Root())
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "storage: file too large") {
		t.Fatalf("%v\n%s", err, out)
	}
	rep := must(Verify(s.Root()))
	if rep.Damaged() || rep.Count(Unfinished) != 1 || len(rep.Problems) != 1 {
		t.Errorf("problems %v", rep.Problems)
	}
}

func limitChild() int {
	lim := syscall.Rlimit{Cur: 8 << 10, Max: 8 << 10}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &lim); err != nil {
		println(err.Error())
		return 1
	}
	s := must(Open(os.Getenv("EVIDENCE_ROOT")))
	u := must(must(s.NewSession(time.Now())).Begin())
	must(u.BeginStage(Capture))
	must(u.Put(Capture, "small.wav", make([]byte, 4<<10)))
	_, err := u.Put(Capture, ClipFile, make([]byte, 100<<10))
	if errors.Is(err, ErrStorage) && errors.Is(err, syscall.EFBIG) {
		println("storage: " + syscall.EFBIG.Error())
		return 0
	}
	return 1
}
