package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// stateDir is where workspaces of our own making live.
func stateDir() (string, error) {
	base := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) { // the XDG rules: what is not absolute is ignored
		home, err := os.UserHomeDir()
		if err != nil {
			return "", &problem{status: statusFailed, what: "there is no folder for the state", next: "set HOME or XDG_STATE_HOME", err: err}
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "blockworld-voice"), nil
}

// evidenceRoots lists the evidence folders below the state folder, oldest name first.
func evidenceRoots() ([]string, error) {
	dir, err := stateDir()
	if err != nil {
		return nil, err
	}
	roots, err := filepath.Glob(filepath.Join(dir, "*", "evidence"))
	if err != nil {
		return nil, err
	}
	slices.Sort(roots)
	return roots, nil
}

// readFile reads a document of the user's: a regular file of at most so many bytes. It waits for no pipe.
func readFile(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil {
		return nil, err
	} else if !fi.Mode().IsRegular() {
		return nil, errors.New("it is not a plain file")
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it is larger than %d KiB", most>>10)
	}
	return data, err
}
