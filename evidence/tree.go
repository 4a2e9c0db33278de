package evidence

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// tree is what an utterance's folder holds, without the contents.
type tree struct {
	stages   [Playback + 1]bool // the folder is there
	files    map[string]int64   // regular files of stage folders with proper names, by relative name
	extra    map[string]int64   // every other regular file
	manifest bool
}

// maxEntries bounds the memory that a foreign folder can take.
const maxEntries = 4096

// scan lists the folder of an utterance. It reports links, foreign entries and wrong modes, and follows nothing.
func scan(dir string, report func(k Kind, path, detail string)) (*tree, error) {
	t := &tree{files: map[string]int64{}, extra: map[string]int64{}}
	entries := 0
	var walk func(rel string, stage Stage) error
	walk = func(rel string, stage Stage) error {
		return eachEntry(filepath.Join(dir, filepath.FromSlash(rel)), func(e fs.DirEntry) error {
			if entries++; entries > maxEntries {
				return nil
			}
			name := path.Join(rel, e.Name())
			fi, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil // a temporary name or a mark of a running stage
			}
			if err != nil {
				report(Unreadable, name, bare(err).Error())
				return nil
			}
			switch mode := fi.Mode(); {
			case mode&fs.ModeSymlink != 0:
				report(Symlink, name, "")
			case mode.IsDir():
				s, ok := stageOfFolder(e.Name())
				if rel != "" || !ok {
					report(Foreign, name, "a folder that is no stage")
					return nil
				}
				checkPrivate(fi, name, report)
				t.stages[s] = true
				if err := walk(name, s); err != nil {
					report(Unreadable, name, bare(err).Error())
				}
			case !mode.IsRegular():
				report(Foreign, name, "neither a file nor a folder")
			default:
				checkPrivate(fi, name, report)
				switch {
				case rel == "" && e.Name() == manifestName:
					t.manifest = true
				case rel != "" && fileName(name):
					t.files[name] = fi.Size()
				default:
					t.extra[name] = fi.Size()
				}
			}
			return nil
		})
	}
	err := walk("", 0)
	if entries > maxEntries {
		report(Foreign, "", "far more files than an utterance has")
	}
	return t, err
}

// checkPrivate reports what others may enter, read or own, and what is not as it was made. A folder may have taken the
// set-group-ID bit from the one around it.
func checkPrivate(fi fs.FileInfo, name string, report func(k Kind, path, detail string)) {
	want, special := fs.FileMode(0o600), fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky
	if fi.IsDir() {
		want, special = 0o700, fs.ModeSetuid|fs.ModeSticky
	}
	if got := fi.Mode() & (fs.ModePerm | special); got != want {
		report(WrongMode, name, "mode "+got.String()+", should be "+want.String())
	}
	if !ownedByUs(fi) {
		report(ForeignOwner, name, "")
	}
	if !fi.IsDir() && links(fi) > 1 {
		report(HardLink, name, "it can be changed under another name")
	}
}

// fileName says whether name is "N-stage/file" with a file name that this package writes.
func fileName(name string) bool {
	dir, base, ok := strings.Cut(name, "/")
	if _, known := stageOfFolder(dir); !ok || !known {
		return false
	}
	return base == receiptName || base == startedName || checkName(base) == nil
}
