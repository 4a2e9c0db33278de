package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// bar shows the progress of long work on standard error, when that is a terminal.
type bar struct {
	w     io.Writer
	what  string
	last  time.Time
	shown bool
}

func (p *program) progress(what string) *bar {
	if !terminal(p.err) {
		return &bar{}
	}
	return &bar{w: p.err, what: oneLine(what)}
}

// terminal says whether w is a terminal.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

func (b *bar) bytes(done, total int64) {
	if b.w == nil || time.Since(b.last) < 100*time.Millisecond && done != total {
		return
	}
	b.last, b.shown = time.Now(), true
	if total > 0 {
		fmt.Fprintf(b.w, "\r\x1b[K%s: %3d %% of %d MB", b.what, 100*done/total, total/1e6)
		return
	}
	fmt.Fprintf(b.w, "\r\x1b[K%s: %d MB", b.what, done/1e6)
}

// clips shows how far a run is, its rate and the time that is left. Clips of an earlier run cost no time.
func (b *bar) clips(done, measured, total int, took time.Duration) {
	if b.w == nil || time.Since(b.last) < 100*time.Millisecond && done != total {
		return
	}
	b.last, b.shown = time.Now(), true
	rate := ""
	if measured > 0 && took > 0 {
		each := took / time.Duration(measured)
		rate = fmt.Sprintf(", %.2f a second, %s left", 1/each.Seconds(), (each * time.Duration(total-done)).Round(time.Second))
	}
	fmt.Fprintf(b.w, "\r\x1b[K%s: %d of %d clips%s", b.what, done, total, rate)
}

// end takes the line away.
func (b *bar) end() {
	if b.shown {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}
