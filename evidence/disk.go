package evidence

import (
	"os"
	"path/filepath"

	"blockworld-voice/internal/atomicfile"
)

// disk is all that the store asks of the operating system when it writes. Tests put faults and sudden death behind it.
// After a nil return each effect survives a crash of the machine.
type disk interface {
	Mkdir(path string) error               // exclusive, 0700
	Write(path string, data []byte) error  // whole or not at all, 0600
	CreateLog(path string) (logFile, error) // exclusive, 0600, empty
	Remove(path string) error
}

// logFile is an open file that only grows; Truncate takes back a line that was cut.
type logFile interface {
	Write(p []byte) (int, error)
	Sync() error
	Truncate(size int64) error
	Close() error
}

type osDisk struct{}

func (osDisk) Mkdir(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}

func (osDisk) Write(path string, data []byte) error { return atomicfile.Write(path, data) }

func (osDisk) CreateLog(path string) (logFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := atomicfile.SyncDir(filepath.Dir(path)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (osDisk) Remove(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}
