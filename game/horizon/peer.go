package horizon

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"blockworld-voice/internal/procgroup"
)

// ErrWrongPeer says that somebody else than the pinned process answers at the endpoint.
var ErrWrongPeer = errors.New("another process owns the endpoint")

// peerOf asks the kernel who listens at the other end of a Unix connection.
func peerOf(c *net.UnixConn) (pid, uid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var cred *unix.Ucred
	var inner error
	if err := raw.Control(func(fd uintptr) { cred, inner = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return 0, 0, err
	}
	if inner != nil {
		return 0, 0, inner
	}
	return int(cred.Pid), int(cred.Uid), nil
}

// verifyPeer proves that want owns the endpoint and still lives. For TCP the kernel has
// no peer credentials; there the listening socket must be among want's descriptors.
func (e Endpoint) verifyPeer(c net.Conn, want procgroup.ID) error {
	pid, err := e.owner(c)
	if err != nil {
		return err
	}
	if pid != want.PID {
		return fmt.Errorf("%w: process %d, not %d", ErrWrongPeer, pid, want.PID)
	}
	now, err := procgroup.Identity(pid)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrWrongPeer, err)
	}
	if now != want {
		return fmt.Errorf("%w: process %d is a younger one of the same number", ErrWrongPeer, pid)
	}
	return nil
}

func (e Endpoint) owner(c net.Conn) (int, error) {
	if u, ok := c.(*net.UnixConn); ok {
		pid, uid, err := peerOf(u)
		if err != nil {
			return 0, fmt.Errorf("peer credentials: %w", err)
		}
		if uid != os.Getuid() {
			return 0, fmt.Errorf("%w: it belongs to user %d", ErrWrongPeer, uid)
		}
		return pid, nil
	}
	return listenerOwner(e.port)
}

// listenerOwner finds the process of this user that listens on a loopback port.
func listenerOwner(port uint16) (int, error) {
	inode, err := listenerInode(port)
	if err != nil {
		return 0, err
	}
	d, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	want := "socket:[" + inode + "]"
	for _, p := range d {
		pid, err := strconv.Atoi(p.Name())
		if err != nil {
			continue
		}
		dir := "/proc/" + p.Name() + "/fd"
		fds, err := os.ReadDir(dir)
		if err != nil {
			continue // another user's, or gone
		}
		for _, fd := range fds {
			if l, err := os.Readlink(dir + "/" + fd.Name()); err == nil && l == want {
				return pid, nil
			}
		}
	}
	return 0, fmt.Errorf("%w: no process of yours listens on port %d", ErrWrongPeer, port)
}

func listenerInode(port uint16) (string, error) {
	f, err := os.Open("/proc/net/tcp")
	if err != nil {
		return "", err
	}
	defer f.Close()
	want := fmt.Sprintf("0100007F:%04X", port)
	for s := bufio.NewScanner(f); s.Scan(); {
		col := strings.Fields(s.Text())
		if len(col) > 9 && col[1] == want && col[3] == "0A" {
			return col[9], nil
		}
	}
	return "", fmt.Errorf("%w: nothing listens on port %d", ErrWrongPeer, port)
}

// OwnerOf connects to an endpoint and says which process owns it.
func OwnerOf(c *Client) (procgroup.ID, error) {
	pid, err := c.endpoint.owner(c.conn)
	if err != nil {
		return procgroup.ID{}, err
	}
	return procgroup.Identity(pid)
}
