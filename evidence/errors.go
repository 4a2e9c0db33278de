package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// ErrStorage is what errors.Is finds in every failure to write evidence (exit status 8).
var ErrStorage = errors.New("the evidence could not be written")

// StorageError is a failure of the disk below the store. The cause stays reachable by errors.Is and errors.As.
type StorageError struct {
	Op   string // "write", "create", "append", "remove", "lock"
	Path string // relative to the store's root where it lies below it
	Err  error
}

func (e *StorageError) Error() string {
	return fmt.Sprintf("the evidence could not be written: %s %s: %v", e.Op, e.Path, bare(e.Err))
}

func (e *StorageError) Unwrap() error { return e.Err }

// Is makes every StorageError an ErrStorage.
func (e *StorageError) Is(target error) bool { return target == ErrStorage }

// Hint says what a person can do next.
func (e *StorageError) Hint() string {
	switch {
	case errors.Is(e.Err, syscall.ENOSPC), errors.Is(e.Err, syscall.EDQUOT):
		return "free some space, or choose another folder with --evidence"
	case errors.Is(e.Err, syscall.EROFS), errors.Is(e.Err, fs.ErrPermission):
		return "choose a folder that you may write, with --evidence"
	case errors.Is(e.Err, syscall.EFBIG):
		return "a file size limit is set for this process (ulimit -f): raise it"
	}
	return "look at the disk, then start a fresh session"
}

// bare drops the paths that os puts into its errors: the path stands in the StorageError already.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// InvariantError is a call that would have made the record untrue: a receipt out of order, a time that runs
// backwards, an input that nothing wrote. It is a fault of this program, and nothing was written.
type InvariantError struct{ What string }

func (e *InvariantError) Error() string { return "evidence: " + e.What }

func invariant(format string, args ...any) error {
	return &InvariantError{fmt.Sprintf(format, args...)}
}

// RootError is a folder that can't be the root of a store.
type RootError struct {
	Path, Problem, Fix string
}

func (e *RootError) Error() string { return fmt.Sprintf("%s %s", e.Path, e.Problem) }

// Hint says what a person can do next.
func (e *RootError) Hint() string { return e.Fix }
