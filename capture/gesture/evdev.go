package gesture

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Evdev watches one key of the keyboards of this machine, whatever window has the focus. It knows releases. Nothing but
// the one key's changes is looked at, and nothing is kept of the rest.
type Evdev struct {
	Key  Key
	Hold bool   // the key is held while speaking; else it is a toggle
	Dir  string // "" is /dev/input
}

// ErrNoKeyboard says that no keyboard may be read.
var ErrNoKeyboard = errors.New("no keyboard in /dev/input can be read")

// EvdevHint is what helps then.
const EvdevHint = "add yourself to the group input and log in again, or bind `blockworld-voice ptt toggle` to a key of your desktop"

const evKey = 1

// Run watches until ctx ends. Each keyboard that can be opened at the start is a source of its own. It returns
// ErrNoKeyboard when there is none, and nil when ctx ended.
func (e Evdev) Run(ctx context.Context, signal func(Signal)) error {
	dir := e.Dir
	if dir == "" {
		dir = "/dev/input"
	}
	paths, err := filepath.Glob(filepath.Join(dir, "event*"))
	if err != nil {
		return err
	}
	slices.Sort(paths)
	var open []*os.File
	for _, path := range paths {
		f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		if e.Dir == "" && !hasKey(f, e.Key.code) {
			_ = f.Close()
			continue
		}
		open = append(open, f)
	}
	if len(open) == 0 {
		return ErrNoKeyboard
	}
	var all sync.WaitGroup
	for _, f := range open {
		all.Go(func() { e.watch(ctx, f, signal) })
	}
	all.Wait()
	if ctx.Err() == nil {
		return fmt.Errorf("the last keyboard went away: %w", ErrNoKeyboard)
	}
	return nil
}

func (e Evdev) watch(ctx context.Context, f *os.File, signal func(Signal)) {
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	defer f.Close()
	source := "evdev " + filepath.Base(f.Name())
	size := int(unsafe.Sizeof(unix.Timeval{})) + 8
	buf := make([]byte, size)
	for {
		if _, err := io.ReadFull(f, buf); err != nil {
			if ctx.Err() == nil { // it was unplugged, perhaps with the key down
				signal(Signal{Gone, source, time.Now()})
			}
			return
		}
		rest := buf[size-8:]
		kind, code, value := binary.NativeEndian.Uint16(rest), binary.NativeEndian.Uint16(rest[2:]), binary.NativeEndian.Uint32(rest[4:])
		if kind != evKey || code != e.Key.code {
			continue
		}
		s := Signal{Source: source, At: time.Now()}
		switch {
		case value == 0 && e.Hold:
			s.Kind = Release
		case value == 1 && e.Hold:
			s.Kind = Press
		case value == 1:
			s.Kind = Toggle
		default: // the kernel's own repetition, and releases of a toggle
			continue
		}
		signal(s)
	}
}

// hasKey asks a device whether it has a key.
func hasKey(f *os.File, code uint16) bool {
	var bits [96]byte // KEY_MAX is 0x2ff
	const read, group, number = 2, 'E', 0x20 + evKey
	request := uintptr(read<<30 | len(bits)<<16 | group<<8 | number)
	c, err := f.SyscallConn()
	if err != nil {
		return false
	}
	var errno syscall.Errno
	err = c.Control(func(fd uintptr) {
		_, _, errno = unix.Syscall(unix.SYS_IOCTL, fd, request, uintptr(unsafe.Pointer(&bits[0])))
	})
	return err == nil && errno == 0 && bits[code/8]&(1<<(code%8)) != 0
}

// EvdevReadable says whether any keyboard can be read, for people.
func EvdevReadable() (int, error) {
	paths, err := filepath.Glob("/dev/input/event*")
	if err != nil {
		return 0, err
	}
	n := 0
	for _, path := range paths {
		f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		if hasKey(f, keys[0].code) {
			n++
		}
		_ = f.Close()
	}
	if n == 0 {
		return 0, ErrNoKeyboard
	}
	return n, nil
}
