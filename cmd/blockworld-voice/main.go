// Command blockworld-voice turns Slovak, Czech and English speech into one typed command for a separately controlled
// game client, and keeps evidence of every step.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"blockworld-voice/evidence"
	"blockworld-voice/internal/pipeline"
)

// program is what a command works with beside its own flags.
type program struct {
	ctx    context.Context // ends at SIGINT, SIGTERM and SIGHUP
	in     io.Reader
	out    io.Writer
	err    io.Writer
	status status
}

// at is called at every boundary of a stage. Only the tests set it.
var at func(evidence.Stage, pipeline.Boundary)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// A closed standard output is an error of a write, which ends a run in order, and no death.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	p := &program{ctx: ctx, in: os.Stdin, out: os.Stdout, err: os.Stderr}
	os.Exit(int(p.run(os.Args[1:])))
}

// run parses the arguments, runs one command and returns the exit status.
func (p *program) run(args []string) status {
	selected, err := p.parse(args)
	if err == nil && selected != nil {
		err = selected.Run(p)
	}
	if err != nil {
		p.complain(err)
		p.status = p.status.and(statusOf(err))
	}
	return p.status
}
