package game

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// CheckWorkspace proves that a workspace is private (0700, this user's, no symbolic link
// on the way) and that neither it nor a checkout lies in the other.
func CheckWorkspace(dir string, checkouts []string) error {
	if err := plainPath(dir); err != nil {
		return fmt.Errorf("workspace %s: %w", dir, err)
	}
	st, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	switch {
	case !st.IsDir():
		return fmt.Errorf("workspace %s: it is no folder", dir)
	case !ok || int(sys.Uid) != os.Getuid():
		return fmt.Errorf("workspace %s: it belongs to somebody else", dir)
	case st.Mode().Perm() != 0o700:
		return fmt.Errorf("workspace %s: others may enter it (mode %04o); use: chmod 700", dir, st.Mode().Perm())
	}
	for _, root := range checkouts {
		if err := disjoint(dir, root); err != nil {
			return err
		}
	}
	return nil
}

// CheckEvidence proves that the folder dir, which need not be there yet, lies inside the workspace: by name, and with
// no symbolic link on the way.
func CheckEvidence(dir, workspace string) error {
	if dir == workspace || !inside(dir, workspace) {
		return fmt.Errorf("the evidence folder %s doesn't lie inside the workspace %s", dir, workspace)
	}
	if err := plainPath(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("evidence folder: %w", err)
	}
	return nil
}

// CheckOutside proves what CheckEvidence does for a folder that is its own workspace: no symbolic link on the way, and
// no checkout around or inside it.
func CheckOutside(dir string, checkouts []string) error {
	if err := plainPath(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("evidence folder: %w", err)
	}
	for _, root := range checkouts {
		if err := disjoint(dir, root); err != nil {
			return err
		}
	}
	return nil
}

// plainPath refuses a symbolic link anywhere on the way.
func plainPath(dir string) error {
	at := string(filepath.Separator)
	for _, name := range strings.Split(strings.TrimPrefix(dir, at), at) {
		at = filepath.Join(at, name)
		st, err := os.Lstat(at)
		if err != nil {
			return err
		}
		if st.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link", at)
		}
	}
	return nil
}

// disjoint compares by name, with links resolved, and by file identity, which also sees
// a folder that is mounted in two places.
func disjoint(dir, root string) error {
	roots := []string{root}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		roots = append(roots, real)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("checkout root %s: %w", root, err)
	}
	for _, r := range roots {
		if inside(dir, r) || inside(r, dir) || sameAbove(dir, r) || sameAbove(r, dir) {
			return fmt.Errorf("%s and the checkout %s lie in one another; choose a folder outside", dir, root)
		}
	}
	return nil
}

// sameAbove says whether path or a folder above it is the same file as dir.
func sameAbove(path, dir string) bool {
	want, err := os.Stat(dir)
	if err != nil {
		return false
	}
	for {
		if st, err := os.Stat(path); err == nil && os.SameFile(st, want) {
			return true
		}
		up := filepath.Dir(path)
		if up == path {
			return false
		}
		path = up
	}
}
