package gesture

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// An unknown key name is refused, with those that there are.
func TestKeys(t *testing.T) {
	seen := map[uint16]string{}
	for _, k := range keys {
		if got, err := ParseKey(k.String()); err != nil || got != k {
			t.Errorf("%s: %v, %v", k, got, err)
		}
		if other, twice := seen[k.code]; twice {
			t.Errorf("%s and %s are one key", k, other)
		}
		seen[k.code] = k.name
	}
	for _, name := range []string{"", "Enter", "f25", "any", "enter "} {
		if _, err := ParseKey(name); err == nil {
			t.Errorf("the key %q was taken", name)
		}
	}
}

// event is what a keyboard writes.
func event(kind, code uint16, value int32) []byte {
	buf := make([]byte, 16, 24)
	buf = binary.NativeEndian.AppendUint16(buf, kind)
	buf = binary.NativeEndian.AppendUint16(buf, code)
	return binary.NativeEndian.AppendUint32(buf, uint32(value))
}

func TestEvdev(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "event3")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := ParseKey("rightctrl")
	if err != nil {
		t.Fatal(err)
	}
	for _, hold := range []bool{true, false} {
		keyboard, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan Signal, 16)
		ended := make(chan error, 1)
		go func() {
			ended <- Evdev{Key: key, Hold: hold, Dir: dir}.Run(context.Background(), func(s Signal) { got <- s })
		}()
		for _, e := range [][]byte{event(1, 30, 1), event(4, 4, 97), event(1, 97, 1), event(0, 0, 0), event(1, 97, 2), event(1, 97, 2), event(1, 97, 0)} {
			if _, err := keyboard.Write(e); err != nil {
				t.Fatal(err)
			}
		}
		want := []Kind{Press, Release, Gone}
		if !hold {
			want = []Kind{Toggle, Gone}
		}
		for i, k := range want {
			if k == Gone { // unplugged
				if err := keyboard.Close(); err != nil {
					t.Fatal(err)
				}
			}
			select {
			case s := <-got:
				if s.Kind != k || s.Source != "evdev event3" {
					t.Errorf("hold %v, signal %d: %+v, want %v", hold, i, s, k)
				}
			case <-time.After(5 * time.Second):
				t.Fatalf("hold %v: no signal %v", hold, k)
			}
		}
		if err := <-ended; !errors.Is(err, ErrNoKeyboard) {
			t.Errorf("it ended with %v", err)
		}
	}
	if err := (Evdev{Key: key, Dir: t.TempDir()}).Run(t.Context(), nil); !errors.Is(err, ErrNoKeyboard) {
		t.Errorf("without a keyboard: %v", err)
	}
}

func TestEvdevEnds(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "event0")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	keyboard, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer keyboard.Close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if err := (Evdev{Key: keys[0], Dir: dir}).Run(ctx, func(s Signal) { t.Errorf("%+v", s) }); err != nil {
		t.Error(err)
	}
}

func TestControl(t *testing.T) {
	path := filepath.Join(t.TempDir(), "private", "ptt.sock")
	var mu sync.Mutex
	var got []Word
	c, err := Listen(path, func(w Word) string {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, w)
		return "ok " + string(w)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range Words() {
		if a, err := Send(t.Context(), path, w); err != nil || a != "ok "+string(w) {
			t.Errorf("%s: %q, %v", w, a, err)
		}
	}
	for _, bad := range []Word{"", "press ", "PRESS", "presspresspresspresspresspresspresspresspresspresspresspresspresspress"} {
		if a, err := Send(t.Context(), path, bad); err == nil && a != "refused: not a word of this socket" {
			t.Errorf("%q: %q", bad, a)
		}
	}
	mu.Lock()
	if len(got) != 4 {
		t.Errorf("the session was told %v", got)
	}
	mu.Unlock()
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
	if _, err := Listen(path, nil); !errors.Is(err, ErrControlled) {
		t.Errorf("a second session: %v", err)
	}
	silent, err := net.Dial("unix", path) // doesn't keep the session from its end
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	time.Sleep(20 * time.Millisecond)
	start := time.Now()
	if err := c.Close(); err != nil || time.Since(start) > controlWait {
		t.Errorf("close: %v after %v", err, time.Since(start))
	}
	if _, err := Send(t.Context(), path, WordStop); err == nil {
		t.Error("a closed session answered")
	}
	// A session that was killed leaves its socket behind.
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: path}), unix.Close(fd)); err != nil && !errors.Is(err, syscall.EADDRINUSE) {
		t.Fatal(err)
	}
	if c, err = Listen(path, func(Word) string { return "" }); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	loose := t.TempDir()
	if err := os.Chmod(loose, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(filepath.Join(loose, "s"), nil); err == nil {
		t.Error("a socket in a folder that others may enter")
	}
}
