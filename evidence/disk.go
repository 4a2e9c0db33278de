package evidence

import (
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"blockworld-voice/internal/atomicfile"
)

// disk is all that the store asks of the operating system when it writes. Tests put faults and sudden death behind it.
// Every effect survives the end of the process at once. Waiting for the disk is what evidence costs, so names are made
// to survive a crash of the machine by one SyncDir for all that were made in a folder.
type disk interface {
	Mkdir(path string) error                // exclusive, 0700
	Write(path string, data []byte) error   // whole or not at all, 0600; the contents are fsynced before the name appears
	Mark(path string, data []byte) error    // whole or not at all, 0600; not fsynced
	CreateLog(path string) (logFile, error) // exclusive, 0600, empty
	Remove(path string) error
	Rename(from, to string) error // of a folder
	SyncDir(path string) error
}

// logFile is an open file that only grows; Truncate takes back a line that was cut.
type logFile interface {
	Write(p []byte) (int, error)
	Sync() error
	Truncate(size int64) error
	Close() error
}

type osDisk struct{}

func (osDisk) Mkdir(path string) error { return os.Mkdir(path, 0o700) }

func (osDisk) Write(path string, data []byte) error {
	t, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o600), renameio.WithTempDir(filepath.Dir(path)), renameio.IgnoreUmask())
	if err != nil {
		return err
	}
	defer t.Cleanup()
	if _, err := t.Write(data); err != nil {
		return err
	}
	return t.CloseAtomicallyReplace()
}

func (osDisk) Mark(path string, data []byte) error {
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
	err := os.WriteFile(temp, data, 0o600)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}

func (osDisk) CreateLog(path string) (logFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (osDisk) Remove(path string) error { return os.Remove(path) }

func (osDisk) Rename(from, to string) error { return os.Rename(from, to) }

func (osDisk) SyncDir(path string) error { return atomicfile.SyncDir(path) }
