package main

import (
	"fmt"
	"io"

	"blockworld-voice/game"
	"blockworld-voice/internal/pipeline"
	"blockworld-voice/internal/screen"
)

// entry is an utterance as the screen shows it.
func entry(l pipeline.Line) screen.Entry {
	e := screen.Entry{Heard: oneLine(l.Transcript.Text), Understood: l.Decision.Command, Happened: l.Outcome.Kind + ": " + oneLine(l.Outcome.Detail), Good: l.Outcome.Kind == game.KindReported.String()}
	if l.Decision.Reason == string(pipeline.NotUnderstood) && l.Transcript.FreeText != "" {
		e.Heard = oneLine(l.Transcript.FreeText)
	}
	if e.Heard != "" {
		e.Heard = "“" + e.Heard + "”"
		if l.Language.Used != "" {
			e.Heard += " (" + l.Language.Used + ")"
		}
	}
	if e.Understood == "" || l.Decision.Reason != "" {
		e.Understood = "refused: " + l.Decision.Reason
		if l.Decision.Detail != "" {
			e.Understood += ": " + oneLine(l.Decision.Detail)
		}
	}
	return e
}

// front is what a person sees and types.
type front interface {
	start(*talk)
	show(screen.View)              // from the loop
	note(string)                   // from the loop
	record(*pipeline.Record) error // from the loop
	hold(bool)                     // whether the talk key is held
	printer() *printer             // of tasks
	quiet() bool
	end(screen.View) error
}

// newFront chooses: the screen where there is one, else plain lines.
func newFront(p *program, c *runCmd, t *talk, set talkSettings) front {
	if !set.plain && !c.JSON && !c.Quiet && terminal(p.out) && terminalIn(p.in) && !dumb() {
		return newScreenFront(p, c, t)
	}
	return newPlainFront(p, c)
}

func terminalIn(r io.Reader) bool {
	w, ok := r.(io.Writer)
	return ok && terminal(w)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
