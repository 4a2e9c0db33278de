package gesture

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Word is what a control socket understands.
type Word string

// The words: those of a gesture, and stop.
const (
	WordPress   Word = "press"
	WordRelease Word = "release"
	WordToggle  Word = "toggle"
	WordStop    Word = "stop"
)

// Words lists the closed set.
func Words() []Word { return []Word{WordPress, WordRelease, WordToggle, WordStop} }

// Kind is the signal of a word; stop has none.
func (w Word) Kind() (Kind, bool) {
	switch w {
	case WordPress:
		return Press, true
	case WordRelease:
		return Release, true
	case WordToggle:
		return Toggle, true
	case WordStop:
	}
	return 0, false
}

// ControlPath is where a session listens: in the user's runtime folder, or in the state folder where there is none.
func ControlPath(state string) string {
	base := os.Getenv("XDG_RUNTIME_DIR")
	if !filepath.IsAbs(base) {
		return filepath.Join(state, "ptt.sock")
	}
	return filepath.Join(base, "blockworld-voice", "ptt.sock")
}

// ErrControlled says that a session listens there already.
var ErrControlled = errors.New("another session listens on the control socket")

// Control is a socket through which a key binding of a desktop, or a pedal, steers a session. Only this user may.
type Control struct {
	path     string
	listener *net.UnixListener
	answer   func(Word) string
	conns    sync.WaitGroup
	mu       sync.Mutex
	open     map[net.Conn]bool
	closed   bool
}

// controlWait bounds how long a peer may take for its word.
const controlWait = 2 * time.Second

// Listen opens the socket. answer is called from goroutines, once a word; what it returns is told to the peer.
func Listen(path string, answer func(Word) string) (*Control, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if fi, err := os.Lstat(dir); err != nil || !fi.IsDir() || fi.Mode().Perm()&0o077 != 0 {
		return nil, errors.Join(err, fmt.Errorf("%s must be a private folder (0700)", dir))
	}
	if c, err := net.DialTimeout("unix", path, controlWait); err == nil {
		return nil, errors.Join(ErrControlled, c.Close())
	}
	if fi, err := os.Lstat(path); err == nil && fi.Mode()&os.ModeSocket != 0 {
		if err := os.Remove(path); err != nil { // a dead session's
			return nil, err
		}
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	c := &Control{path: path, listener: l, answer: answer, open: map[net.Conn]bool{}}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	c.conns.Go(c.accept)
	return c, nil
}

// Close ends the socket and its connections, and waits for them.
func (c *Control) Close() error {
	c.mu.Lock()
	c.closed = true
	for conn := range c.open {
		_ = conn.SetReadDeadline(time.Unix(1, 0))
	}
	c.mu.Unlock()
	err := c.listener.Close()
	c.conns.Wait()
	return err
}

func (c *Control) accept() {
	for {
		conn, err := c.listener.AcceptUnix()
		if err != nil {
			return
		}
		c.mu.Lock()
		if c.closed || len(c.open) >= 16 || !ours(conn) {
			c.mu.Unlock()
			_ = conn.Close()
			continue
		}
		c.open[conn] = true
		c.mu.Unlock()
		c.conns.Go(func() {
			c.serve(conn)
			c.mu.Lock()
			delete(c.open, conn)
			c.mu.Unlock()
		})
	}
}

func (c *Control) serve(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(controlWait))
	line, err := bufio.NewReader(io.LimitReader(conn, 64)).ReadString('\n')
	if err != nil {
		return
	}
	for _, w := range Words() {
		if strings.TrimSuffix(line, "\n") == string(w) {
			_, _ = fmt.Fprintln(conn, c.answer(w))
			return
		}
	}
	_, _ = fmt.Fprintln(conn, "refused: not a word of this socket")
}

// ours says whether the peer is this user.
func ours(conn *net.UnixConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	var cred *unix.Ucred
	var cerr error
	err = raw.Control(func(fd uintptr) { cred, cerr = unix.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, unix.SO_PEERCRED) })
	return err == nil && cerr == nil && int(cred.Uid) == os.Getuid()
}

// Send tells a session a word and returns its answer.
func Send(ctx context.Context, path string, w Word) (string, error) {
	conn, err := (&net.Dialer{Timeout: controlWait}).DialContext(ctx, "unix", path)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(controlWait))
	if _, err := fmt.Fprintln(conn, w); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(io.LimitReader(conn, 512)).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("the session gave no answer: %w", err)
	}
	return strings.TrimSuffix(line, "\n"), nil
}
