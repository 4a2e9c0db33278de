package evidence

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const childEnv = "EVIDENCE_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "limit":
		os.Exit(limitChild())
	case "kill":
		os.Exit(killChild())
	}
	os.Exit(m.Run())
}

// killDisk ends its process at operation at: before it, or, torn, in the middle of it.
type killDisk struct {
	osDisk
	at   int
	torn bool
	n    int
}

func (d *killDisk) step(middle func()) {
	if d.n == d.at {
		if d.torn {
			middle()
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Minute) // never gets here
	}
	d.n++
}

func (d *killDisk) Mkdir(path string) error {
	d.step(func() { _ = os.Mkdir(path, 0o700) })
	return d.osDisk.Mkdir(path)
}

func (d *killDisk) Write(path string, data []byte) error {
	d.step(func() {
		_ = os.WriteFile(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"4711"), data[:len(data)/2], 0o600)
	})
	return d.osDisk.Write(path, data)
}

func (d *killDisk) Mark(path string, data []byte) error {
	d.step(func() {
		_ = os.WriteFile(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)), data[:len(data)/2], 0o600)
	})
	return d.osDisk.Mark(path, data)
}

func (d *killDisk) Remove(path string) error {
	d.step(func() { _ = os.Remove(path) })
	return d.osDisk.Remove(path)
}

func (d *killDisk) Rename(from, to string) error {
	d.step(func() { _ = os.Rename(from, to) })
	return d.osDisk.Rename(from, to)
}

func (d *killDisk) CreateLog(path string) (logFile, error) {
	d.step(func() {
		f, _ := d.osDisk.CreateLog(path)
		f.Close()
	})
	f, err := d.osDisk.CreateLog(path)
	return &killLog{f, d}, err
}

type killLog struct {
	logFile
	d *killDisk
}

func (l *killLog) Write(p []byte) (int, error) {
	l.d.step(func() { _, _ = l.logFile.Write(p[:len(p)/2]) })
	return l.logFile.Write(p)
}

// killChild writes two utterances and says on stdout what has been promised so far.
func killChild() int {
	s := must(Open(os.Getenv("EVIDENCE_ROOT")))
	s.disk = &killDisk{at: must(strconv.Atoi(os.Getenv("EVIDENCE_AT"))), torn: os.Getenv("EVIDENCE_TORN") != ""}
	say := func(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) }
	e := must(s.NewSession(time.Now()))
	say("session %s", e.Dir())
	must(must(sealedUtterance(e, say)).Seal())
	say("sealed")
	must(must(sealedUtterance(e, say)).Seal())
	say("sealed")
	if err := e.Close(); err != nil {
		return 1
	}
	say("closed")
	return 0
}

// sealedUtterance writes everything up to the last receipt.
func sealedUtterance(e *Session, say func(string, ...any)) (*Utterance, error) {
	u, err := e.Begin()
	if err != nil {
		return nil, err
	}
	say("utterance %s", u.Dir())
	for _, st := range Stages() {
		m, err := u.BeginStage(st)
		if err != nil {
			return nil, err
		}
		say("started %s", st)
		switch st {
		case Capture:
			must(u.Put(st, ClipFile, bytes.Repeat([]byte("RIFF"), 100)))
		case Game:
			must(u.Put(st, AttemptFile, []byte(`{"schema":1}`)))
			say("attempt")
			noErrorChild(must(u.OpenLog(st, EventsFile)).Append("sent"))
			must(u.Put(st, OutcomeFile, []byte(`{"schema":1,"kind":"reported"}`)))
			say("outcome")
		case Transcribe, Grammar, Synth, Playback:
		}
		noErrorChild(u.PutReceipt(Receipt{Stage: st, Verdict: Done, StartNS: m.StartNS, EndNS: m.StartNS + 1, WallStart: m.WallStart}))
		say("ended %s", st)
	}
	return u, nil
}

func noErrorChild(err error) {
	if err != nil {
		panic(err)
	}
}

// SIGKILL before and in the middle of every operation on the disk: the folder says what had started and what had
// ended, at least as far as the writer was told, nothing is torn, and nothing looks damaged.
// contract: S5
func TestKilledAtEveryBoundary(t *testing.T) {
	for _, torn := range []string{"", "torn"} {
		for at := 0; ; at++ {
			root := filepath.Join(t.TempDir(), "evidence")
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), childEnv+"=kill", "EVIDENCE_ROOT="+root, fmt.Sprintf("EVIDENCE_AT=%d", at), "EVIDENCE_TORN="+torn)
			out, err := c.Output()
			said := strings.Fields(strings.ReplaceAll(string(out), " ", ":"))
			if err == nil {
				if at < 50 || said[len(said)-1] != "closed" {
					t.Fatalf("the child ended by itself at %d: %s", at, out)
				}
				clean(t, root)
				break
			}
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("at %d: %v", at, err)
			}
			checkKilled(t, fmt.Sprintf("%s at %d, after %v", torn, at, said), root, said)
		}
	}
}

func checkKilled(t *testing.T, what, root string, said []string) {
	t.Helper()
	rep := must(Verify(root))
	var utterance string
	started, ended := map[string]bool{}, map[string]bool{}
	sealed, attempt := 0, false
	for _, line := range said {
		word, arg, _ := strings.Cut(line, ":")
		switch word {
		case "utterance":
			utterance, attempt = arg, false
			clear(started)
			clear(ended)
		case "started":
			started[arg] = true
		case "ended":
			ended[arg] = true
		case "attempt":
			attempt = true
		case "outcome":
			attempt = false
		case "sealed":
			sealed++
		}
	}
	if rep.Damaged() || rep.Running != 0 {
		t.Errorf("%s: %+v", what, rep)
	}
	if rep.Sealed < sealed {
		t.Errorf("%s: %d of %d sealed", what, rep.Sealed, sealed)
	}
	if utterance == "" {
		return
	}
	v, err := Show(utterance)
	noError(t, err)
	for _, s := range v.Info.State.Stages {
		name := s.Stage.String()
		if ended[name] && s.Receipt == nil {
			t.Errorf("%s: the receipt of %s is lost", what, name)
		}
		if s.Receipt == nil && !strings.Contains(v.Course, name+" started, did not end") {
			t.Errorf("%s: course %q", what, v.Course)
		}
		delete(started, name)
	}
	if len(started) > 0 {
		t.Errorf("%s: the start of %v left no mark", what, started)
	}
	var text bytes.Buffer
	_, err = v.WriteTo(&text)
	noError(t, err)
	if attempt && rep.Count(Unfinished) == 1 {
		open := len(v.Info.State.OpenAttempts) == 1
		_, outcome := v.Documents["4-game/outcome.json"]
		if open == outcome {
			t.Errorf("%s: attempt open %v, outcome %v", what, open, outcome)
		}
		if open && !strings.Contains(text.String(), "sent or about to be sent") {
			t.Errorf("%s: %s", what, text.String())
		}
	}
	if !v.Info.State.Sealed && !strings.Contains(text.String(), "interrupted") {
		t.Errorf("%s: %s", what, text.String())
	}
}
