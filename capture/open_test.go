package capture

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

type fileCase struct{ name, path string }

// fileCases makes what is no plain file, or no file at all.
func fileCases(t *testing.T) []fileCase {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(at("clip.wav"), file(mono16.chunk(), ck("data", hum(mono16, 160))), 0o600))
	must(os.Mkdir(at("folder.wav"), 0o700))
	must(syscall.Mkfifo(at("fifo.wav"), 0o600))
	must(os.Symlink("clip.wav", at("link.wav")))
	must(os.Symlink("link.wav", at("link2.wav")))
	must(os.Symlink("fifo.wav", at("linkfifo.wav")))
	must(os.Symlink("nowhere.wav", at("dangling.wav")))
	must(os.Symlink("loop.wav", at("loop.wav")))
	big, err := os.Create(at("big.wav"))
	must(err)
	must(big.Truncate(MaxFile + 1)) // a hole: it takes no room
	must(big.Close())
	// A short name for the socket: their paths are limited to about 100 bytes.
	sockDir, err := os.MkdirTemp("", "s")
	must(err)
	t.Cleanup(func() { os.RemoveAll(sockDir) })
	l, err := net.Listen("unix", filepath.Join(sockDir, "s"))
	must(err)
	t.Cleanup(func() { l.Close() })
	return []fileCase{
		{"a plain file", at("clip.wav")},
		{"a symbolic link to a file", at("link2.wav")},
		{"a symbolic link to a fifo", at("linkfifo.wav")},
		{"a symbolic link to nothing", at("dangling.wav")},
		{"a symbolic link to itself", at("loop.wav")},
		{"a missing file", at("missing.wav")},
		{"a file used as a folder", at("clip.wav/x.wav")},
		{"a folder", at("folder.wav")},
		{"a fifo", at("fifo.wav")},
		{"a device", "/dev/zero"},
		{"a socket", filepath.Join(sockDir, "s")},
		{"a file over 512 MiB", at("big.wav")},
	}
}

func TestReadFile(t *testing.T) {
	cases := fileCases(t)
	clip, err := ReadFile(cases[1].path)
	if err != nil {
		t.Fatal(err)
	}
	if clip.Name != "link2.wav" || clip.Frames != 160 {
		t.Errorf("%q, %d frames", clip.Name, clip.Frames)
	}
	_, err = ReadFile(cases[5].path)
	var e *Error
	if !errors.As(err, &e) || e.Name != cases[5].path || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// A superuser may read everything, so what the system says is put in here instead of a file mode.
func TestWhatTheSystemSays(t *testing.T) {
	for errno, want := range map[syscall.Errno]Fault{
		syscall.EACCES: Denied, syscall.EPERM: Denied, syscall.ENOENT: NotFound, syscall.ELOOP: NotFound,
		syscall.ENOTDIR: NotFound, syscall.EIO: Unreadable, syscall.EMFILE: Unreadable,
	} {
		e := openFault("x", &fs.PathError{Op: "open", Path: "x", Err: errno})
		if e.Kind != want || e.Hint == "" || !errors.Is(e, errno) {
			t.Errorf("%v: %+v", errno, e)
		}
	}
}
