// Package procgroup runs a child in its own process group, proves that the whole
// group is gone when it is retired, and names processes beyond the reuse of their ids.
package procgroup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// DefaultGrace is how long a group may take to end after SIGTERM before SIGKILL.
const DefaultGrace = 2 * time.Second

// retireBound is how long SIGKILL may take to empty a group before retirement counts as unproved.
const retireBound = 5 * time.Second

// Spec describes a child. A nil Env inherits ours; Dir "" is our folder. Stdin,
// Stdout and Stderr are used as by os/exec: an *os.File is handed over, anything
// else is copied by a goroutine that ends with the group.
type Spec struct {
	Path   string
	Args   []string // without the program's own name
	Env    []string
	Dir    string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Files  []*os.File    // descriptors 3, 4, … of the child
	Grace  time.Duration // 0 is DefaultGrace
}

// ErrUnproved says that some process of a group may still live.
var ErrUnproved = errors.New("the process group could not be proved to be gone")

// Proc is a running or retired group. Its methods may be called from any goroutine.
type Proc struct {
	cmd   *exec.Cmd
	id    ID
	grace time.Duration
	done  chan struct{}
	once  sync.Once

	// set before done is closed
	waitErr error
	proof   error
}

// Start starts the child as the leader of a new group. It dies with the thread that
// started it (the kernel's parent-death signal). When ctx ends, the group is stopped.
// A child that starts although ctx has already ended is retired before Start returns.
func Start(ctx context.Context, s Spec) (*Proc, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c := exec.Command(s.Path, s.Args...)
	c.Env, c.Dir, c.Stdin, c.Stdout, c.Stderr, c.ExtraFiles = s.Env, s.Dir, s.Stdin, s.Stdout, s.Stderr, s.Files
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	c.WaitDelay = retireBound
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Path, err)
	}
	p := &Proc{cmd: c, grace: s.Grace, done: make(chan struct{})}
	if p.grace <= 0 {
		p.grace = DefaultGrace
	}
	// The child is not reaped yet, so its entry in /proc stands even if it has ended.
	if st, err := readStat(c.Process.Pid); err == nil {
		p.id = ID{PID: c.Process.Pid, StartTicks: st.startTicks}
	} else {
		p.id = ID{PID: c.Process.Pid}
	}
	go p.reap()
	if ctx.Done() != nil {
		go func() {
			select {
			case <-ctx.Done():
				_ = p.Stop()
			case <-p.done:
			}
		}()
	}
	return p, nil
}

// ID is the identity of the group's leader.
func (p *Proc) ID() ID { return p.id }

// Done is closed when the leader has ended and retirement of its group was settled.
func (p *Proc) Done() <-chan struct{} { return p.done }

// Wait waits for the leader to end by itself or by Stop, and returns its exit error.
// What is left of its group is killed then.
func (p *Proc) Wait() error {
	<-p.done
	return p.waitErr
}

// Signal sends a signal to the whole group. After the group is retired it does nothing.
func (p *Proc) Signal(sig syscall.Signal) {
	select {
	case <-p.done:
	default:
		_ = syscall.Kill(-p.id.PID, sig)
	}
}

// Stop ends the group: SIGTERM, the grace, SIGKILL. It returns nil only when no
// process of the group lives any more, else ErrUnproved. It may be called often. A
// process that left the group by making its own session is outside this proof.
func (p *Proc) Stop() error {
	p.once.Do(func() {
		p.Signal(syscall.SIGTERM)
		t := time.NewTimer(p.grace)
		defer t.Stop()
		select {
		case <-p.done:
		case <-t.C:
			p.Signal(syscall.SIGKILL)
		}
	})
	<-p.done
	return p.proof
}

// reap waits for the leader without collecting it: as long as it is a zombie the
// group's number can't be given to anybody else, so that the kill below hits only
// what belongs to us.
func (p *Proc) reap() {
	defer close(p.done)
	for {
		err := unix.Waitid(unix.P_PID, p.id.PID, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	p.proof = emptyGroup(p.id.PID)
	p.waitErr = p.cmd.Wait()
}

func emptyGroup(group int) error {
	for end := time.Now().Add(retireBound); ; {
		_ = syscall.Kill(-group, syscall.SIGKILL)
		alive, err := groupAlive(group)
		if err == nil && !alive {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("group %d: %w", group, ErrUnproved)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// groupAlive looks for a living member. Zombies, the leader among them, don't count.
func groupAlive(group int) (bool, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return false, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return false, err
	}
	for _, n := range names {
		pid, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		st, err := readStat(pid)
		if err != nil {
			continue // it ended between the listing and the reading
		}
		if st.group == group && !st.ended() {
			return true, nil
		}
	}
	return false, nil
}
