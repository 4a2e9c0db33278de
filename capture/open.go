package capture

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ReadFile reads the WAV file at path. Every error is an *Error.
//
// Only a regular file is opened, or a symbolic link that leads to one: the path comes from the
// person who runs the program, and a link to a clip is theirs to give. A fifo, a device or a folder
// is refused without being opened, so none of them can hang the program or be disturbed by it.
func ReadFile(path string) (*Clip, error) {
	data, err := readRegular(path)
	if err != nil {
		err.Name = path
		return nil, err
	}
	clip, err := decode(data)
	if err != nil {
		err.Name = path
		return nil, err
	}
	clip.Name = filepath.Base(path)
	return clip, nil
}

func readRegular(path string) ([]byte, *Error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, openFault(path, err)
	}
	if f := checkRegular(info); f != nil {
		return nil, f
	}
	// Without O_NONBLOCK a fifo that took the file's place since the check would hang the open.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, openFault(path, err)
	}
	defer file.Close()
	info, err = file.Stat()
	if err != nil {
		return nil, openFault(path, err)
	}
	if f := checkRegular(info); f != nil {
		return nil, f
	}
	if info.Size() > MaxFile {
		return nil, tooBig(info.Size())
	}
	data := make([]byte, info.Size())
	_, err = io.ReadFull(file, data)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		return nil, fault(Changed, NoOffset, "Wait until nothing writes to it, then try again.", "the file shrank while it was read")
	}
	if err != nil {
		return nil, openFault(path, err)
	}
	if extra, _ := file.Read(make([]byte, 1)); extra > 0 {
		return nil, fault(Changed, NoOffset, "Wait until its recording has ended, then try again.", "the file grew while it was read")
	}
	return data, nil
}

func tooBig(size int64) *Error {
	return fault(TooBig, NoOffset, "Cut the one instruction out of it, for example: sox IN.wav OUT.wav trim 0 10",
		"the file has %d MiB, at most %d are read", size>>20, MaxFile>>20)
}

func checkRegular(info fs.FileInfo) *Error {
	mode := info.Mode()
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return fault(NotAFile, NoOffset, "Name the files in it, for example: FOLDER/*.wav", "this is a folder, not a WAV file")
	case mode&fs.ModeNamedPipe != 0:
		return fault(NotAFile, NoOffset, "Write what comes out of it to a file first.", "this is a named pipe (fifo), not a WAV file")
	case mode&fs.ModeSocket != 0:
		return fault(NotAFile, NoOffset, "Name a WAV file.", "this is a socket, not a WAV file")
	case mode&fs.ModeDevice != 0:
		return fault(NotAFile, NoOffset, "Record to a file first, or use --session for a microphone.", "this is a device, not a WAV file")
	}
	return fault(NotAFile, NoOffset, "Name a WAV file.", "this is not a regular file")
}

func openFault(path string, err error) *Error {
	var f *Error
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f = fault(NotFound, NoOffset, "Check the path; quote it if it has spaces.", "there is no such file")
		if info, lerr := os.Lstat(path); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			f = fault(NotFound, NoOffset, "Point the link to an existing file.", "this symbolic link leads to no file")
		}
	case errors.Is(err, fs.ErrPermission):
		f = fault(Denied, NoOffset, "Change its permissions, or copy it to a folder of yours.", "this user may not read the file")
	case errors.Is(err, syscall.ELOOP):
		f = fault(NotFound, NoOffset, "Point the link to an existing file.", "this symbolic link leads to itself")
	case errors.Is(err, syscall.ENOTDIR):
		f = fault(NotFound, NoOffset, "Check the path.", "a part of the path is a file, not a folder")
	default:
		cause := err
		var pe *fs.PathError
		if errors.As(err, &pe) {
			cause = pe.Err
		}
		f = fault(Unreadable, NoOffset, "Check the disk and the path, then try again.", "the file can't be read: %v", cause)
	}
	f.Err = err
	return f
}
