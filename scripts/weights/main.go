// Command weights puts a model of the catalogue into the user's store for the set-up scripts:
// it is what `blockworld-voice models` does, without the native library.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"blockworld-voice/models"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "set-up:", err)
		var e *models.Error
		if errors.As(err, &e) && e.Hint != "" {
			fmt.Fprintln(os.Stderr, "       ", e.Hint)
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	dir, err := models.DefaultDir()
	if err != nil {
		return err
	}
	store, err := models.Open(dir)
	if err != nil {
		return err
	}
	var m models.Model
	switch {
	case len(args) == 2 && args[0] == "pull":
		m, err = store.Pull(ctx, models.PullRequest{Name: args[1], Progress: show("downloading " + args[1])})
	case len(args) == 3 && args[0] == "import":
		e, ok := models.Lookup(args[1])
		if !ok {
			return fmt.Errorf("the catalogue has no model %q", args[1])
		}
		m, err = store.Import(ctx, args[2], e.Name, e.SHA256, show("converting "+args[1]))
	default:
		return errors.New("usage: weights pull NAME | weights import NAME FOLDER")
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "\r\033[Kset-up: the model %s is in place, digest verified (%s)\n"[clear():], m.Name, m.SHA256.Short())
	return nil
}

// clear is where a message begins when there is no line of progress to be cleared.
func clear() int {
	if terminal() {
		return 0
	}
	return len("\r\033[K")
}

func terminal() bool {
	_, err := unix.IoctlGetTermios(int(os.Stderr.Fd()), unix.TCGETS)
	return err == nil
}

// show prints progress: a line that is rewritten on a terminal, else a line now and then.
func show(what string) models.Progress {
	every, format := 10*time.Second, "set-up: %s … %d of %d MB\n"
	if terminal() {
		every, format = 200*time.Millisecond, "\r\033[Kset-up: %s … %d of %d MB"
	}
	next := time.Now().Add(every)
	return func(done, total int64) {
		if now := time.Now(); now.After(next) {
			next = now.Add(every)
			fmt.Fprintf(os.Stderr, format, what, done/1e6, total/1e6)
		}
	}
}
