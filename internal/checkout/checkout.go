// Package checkout finds the source checkouts that private files must stay out of.
package checkout

import (
	"os"
	"path/filepath"
	"slices"
)

// marks are the files that a checkout has at its root.
var marks = [...]string{".git", "go.mod"}

// Around returns the outermost checkout that holds path, which need not exist.
func Around(path string) (root string, ok bool) {
	for dir := filepath.Clean(path); ; dir = filepath.Dir(dir) {
		for _, m := range marks {
			if _, err := os.Lstat(filepath.Join(dir, m)); err == nil {
				root, ok = dir, true
			}
		}
		if dir == filepath.Dir(dir) {
			return root, ok
		}
	}
}

// Roots are the checkouts around the current folder, around this program's file and around the given paths, each
// once. Without any it is the program's file: no folder can lie in that.
func Roots(near ...string) []string {
	exe, err := os.Executable()
	if err != nil {
		exe = "/nonexistent/checkout"
	}
	near = append(near, exe)
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		near = append(near, real)
	}
	if here, err := os.Getwd(); err == nil {
		near = append([]string{here}, near...)
	}
	var out []string
	for _, path := range near {
		if root, ok := Around(path); ok && !slices.Contains(out, root) {
			out = append(out, root)
		}
	}
	if out == nil {
		return []string{exe}
	}
	return out
}
