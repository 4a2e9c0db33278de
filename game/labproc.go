package game

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"blockworld-voice/internal/procgroup"
	"blockworld-voice/internal/strictjson"
)

// LabProcess is a running lab: a child in its own process group that ends with us.
type LabProcess struct {
	proc  *procgroup.Proc
	stdin *os.File
	log   *os.File
	once  sync.Once
	ended error
}

// labStart bounds how long a lab may take to print its profile.
const labStart = 20 * time.Second

// StartLab starts the program exe with the command "lab" in the private workspace dir
// (which is made when it isn't there), and returns its ready profile. More flags of the
// lab may follow. The lab's own output goes to lab.log in the workspace.
func StartLab(ctx context.Context, exe, dir string, more ...string) (*LabProcess, Profile, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, Profile{}, fmt.Errorf("lab: %w", err)
	}
	log, err := os.OpenFile(filepath.Join(dir, "lab.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, Profile{}, fmt.Errorf("lab: %w", err)
	}
	childIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, Profile{}, errors.Join(fmt.Errorf("lab: %w", err), log.Close())
	}
	stdout, childOut, err := os.Pipe()
	if err != nil {
		return nil, Profile{}, errors.Join(fmt.Errorf("lab: %w", err), log.Close(), childIn.Close(), stdin.Close())
	}
	defer stdout.Close()
	// The child's life is the caller's to end by Close, not ctx's: a stop has to reach it first.
	proc, err := procgroup.Start(context.WithoutCancel(ctx), procgroup.Spec{Path: exe, Args: append([]string{"lab", "--workspace", dir}, more...),
		Stdin: childIn, Stdout: childOut, Stderr: log})
	_ = childIn.Close()
	_ = childOut.Close()
	if err != nil {
		return nil, Profile{}, errors.Join(fmt.Errorf("lab: %w", err), log.Close(), stdin.Close())
	}
	l := &LabProcess{proc: proc, stdin: stdin, log: log}
	p, err := l.ready(ctx, stdout)
	if err != nil {
		return nil, Profile{}, errors.Join(fmt.Errorf("the lab didn't start (see %s): %w", log.Name(), err), l.Close())
	}
	return l, p, nil
}

// ready reads the profile: everything up to the end of the first document.
func (l *LabProcess) ready(ctx context.Context, stdout *os.File) (Profile, error) {
	ctx, cancel := context.WithTimeout(ctx, labStart)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = stdout.SetReadDeadline(time.Unix(1, 0)) })()
	var doc []byte
	buf := make([]byte, 4096)
	for {
		n, err := stdout.Read(buf)
		doc = append(doc, buf[:n]...)
		if len(doc) > strictjson.MaxSize {
			return Profile{}, errors.New("it printed no profile")
		}
		if p, perr := ParseProfile(doc); perr == nil {
			return p, nil
		}
		if errors.Is(err, io.EOF) {
			return Profile{}, errors.New("it ended early")
		}
		if err != nil {
			return Profile{}, err
		}
	}
}

// Identity is the lab's process.
func (l *LabProcess) Identity() procgroup.ID { return l.proc.ID() }

// Done is closed when the lab has ended.
func (l *LabProcess) Done() <-chan struct{} { return l.proc.Done() }

// Kill ends the lab without warning, for tests of what follows.
func (l *LabProcess) Kill() { l.proc.Signal(9) }

// Close ends the lab and returns nil when its whole group is proved to be gone. It may be
// called more than once.
func (l *LabProcess) Close() error {
	l.once.Do(func() { l.ended = errors.Join(l.stdin.Close(), l.proc.Stop(), l.log.Close()) })
	return l.ended
}
