package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"blockworld-voice/capture/gesture"
	"blockworld-voice/internal/pipeline"
	"blockworld-voice/internal/screen"
)

// plainFront is a session in lines: for pipes, for logs, and read out well. With --json the objects are alone on
// standard output and the lines go to standard error.
type plainFront struct {
	p     *program
	lines io.Writer
	out   *printer
	mute  bool
	last  string
}

func newPlainFront(p *program, c *runCmd) *plainFront {
	f := &plainFront{p: p, lines: p.out, out: newPrinter(p, c), mute: c.Quiet}
	if c.JSON {
		f.lines = p.err
	}
	return f
}

func (f *plainFront) printer() *printer { return f.out }
func (f *plainFront) quiet() bool       { return f.mute }
func (f *plainFront) hold(bool)         {}

// start reads lines: an empty one is the talk key, a word is a command of the session. Its goroutine ends with the
// input, or with the program.
func (f *plainFront) start(t *talk) {
	go func() {
		in := bufio.NewScanner(io.LimitReader(f.p.in, 1<<20))
		for in.Scan() {
			switch strings.ToLower(strings.TrimSpace(in.Text())) {
			case "":
				t.send(gesture.Signal{Kind: gesture.Toggle, Source: "line", At: time.Now()})
			case "s", "stop":
				t.halt(stopAsked{why: "the word stop"})
			case "q", "quit":
				t.halt(stopAsked{why: "the word quit"})
			case "y", "yes":
				t.send(answered{true})
			case "n", "no":
				t.send(answered{false})
			default:
				t.send(note("an empty line begins and ends a take; s stops, q quits, y and n answer"))
			}
		}
		t.halt(stopAsked{why: "the end of the input"})
	}()
}

func (f *plainFront) say(s string) {
	if !f.mute {
		fmt.Fprintln(f.lines, oneLine(s)) // a reader that went away is found by the next record
	}
}

// show prints what has changed. A level is nothing that is read out.
func (f *plainFront) show(v screen.View) {
	v.Left = askFor
	if s := v.Line(); s != f.last {
		f.last = s
		f.say(s)
	}
}

func (f *plainFront) note(s string) { f.say("note: " + s) }

func (f *plainFront) record(r *pipeline.Record) error { return f.out.record(r) }

func (f *plainFront) end(v screen.View) error {
	f.say(v.Bye)
	return nil
}

func dumb() bool { return os.Getenv("TERM") == "dumb" || os.Getenv("TERM") == "" }
