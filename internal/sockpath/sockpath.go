// Package sockpath reaches Unix sockets whose path is too long for the kernel.
package sockpath

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// longest is how many bytes of path a Unix address takes, without the final NUL.
const longest = 107

// Short returns a path to the same socket that fits into an address: path itself, or one by way of this process's own
// descriptor of the folder. It is good until release is called, for listening and for connecting.
func Short(path string) (short string, release func(), err error) {
	if len(path) <= longest {
		return path, func() {}, nil
	}
	fd, err := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", nil, fmt.Errorf("open %s: %w", filepath.Dir(path), err)
	}
	short = fmt.Sprintf("/proc/self/fd/%d/%s", fd, filepath.Base(path))
	if len(short) > longest {
		_ = unix.Close(fd)
		return "", nil, fmt.Errorf("the name of the socket %s is too long", path)
	}
	return short, func() { _ = unix.Close(fd) }, nil
}
