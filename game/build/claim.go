package build

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"blockworld-voice/internal/atomicfile"
	"blockworld-voice/internal/digest"
)

// Claims is the folder, in the workspace, that remembers which plans were accepted.
const Claims = "plans"

// Claim makes it durable that a plan was accepted, in whatever session: a second claim is ErrUsed. So nothing of it
// is taken up again after a restart.
func Claim(workspace string, d digest.Digest, now time.Time) error {
	dir := filepath.Join(workspace, Claims)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("remember the plan: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, d.String()+".accepted"), os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return ErrUsed
	}
	if err != nil {
		return fmt.Errorf("remember the plan: %w", err)
	}
	_, err = f.WriteString(now.UTC().Format(time.RFC3339) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("remember the plan: %w", err)
	}
	return errors.Join(atomicfile.SyncDir(dir), atomicfile.SyncDir(workspace))
}
