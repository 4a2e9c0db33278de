package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"blockworld-voice/game"
	"blockworld-voice/internal/lang"
	"blockworld-voice/internal/pipeline"
	"blockworld-voice/internal/strictjson"
)

// printer shows what became of each utterance: lines of JSON for programs, blocks for people.
type printer struct {
	p      *program
	json   bool
	quiet  bool
	colour bool
}

func newPrinter(p *program, c *runCmd) *printer {
	return &printer{p: p, json: c.JSON, quiet: c.Quiet, colour: !c.NoColor && os.Getenv("NO_COLOR") == "" && terminal(p.out)}
}

func (s *printer) record(r *pipeline.Record) error {
	if bad := r.BadSource; bad != nil {
		s.p.complain(bad)
	} else if r.Fault != nil {
		s.p.complain(r.Fault)
	}
	if s.json {
		b, err := strictjson.Line(r.Line())
		if err != nil {
			return err
		}
		return unread(fmt.Fprintf(s.p.out, "%s\n", b))
	}
	if s.quiet {
		return nil
	}
	return unread(fmt.Fprint(s.p.out, s.block(r.Line())))
}

// unopened tells programs of every utterance that no session took.
func (s *printer) unopened(sources []pipeline.Source, asked []lang.Language, err error) error {
	why := pipeline.Refusal{Reason: pipeline.Reason(game.NotBound.String()), Detail: oneLine(err.Error())}
	var p *problem
	if errors.As(err, &p) && p.reason != "" {
		why.Reason = pipeline.Reason(p.reason)
	}
	st := statusOf(err)
	switch st {
	case statusDenied:
		why.Reason = pipeline.Reason(game.Denied.String())
	case statusRefused, statusUnreachable, statusCancelled:
	case statusDone, statusFailed, statusUsage, statusUnknown, statusUnwritten:
		return nil
	}
	if !s.json {
		return nil
	}
	for _, src := range sources {
		b, err := strictjson.Line(pipeline.Unopened(src, asked, why, st == statusCancelled))
		if err == nil {
			err = unread(fmt.Fprintf(s.p.out, "%s\n", b))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unread is the error of a write to standard output. What was to be told is in the evidence.
func unread(_ int, err error) error {
	if err == nil {
		return nil
	}
	return &problem{status: statusFailed, what: "standard output can't be written, so the session has ended",
		next: "what was done stands in the evidence; see: blockworld-voice evidence list", err: err}
}

// block is one utterance for a person: what was heard, what was understood, what happened, where the evidence is.
func (s *printer) block(l pipeline.Line) string {
	var b strings.Builder
	row := func(name, text, colour string) {
		if text == "" {
			return
		}
		text = oneLine(text)
		if s.colour && colour != "" {
			text = colour + text + "\x1b[0m"
		}
		fmt.Fprintf(&b, "  %-11s %s\n", name, text)
	}
	switch l.Source.Kind {
	case "microphone":
		fmt.Fprintf(&b, "%s  %.2f s\n", l.Utterance, l.Source.Seconds)
	case "wav":
		fmt.Fprintf(&b, "%s  %s  %.2f s\n", l.Utterance, oneLine(l.Source.Name), l.Source.Seconds)
	default:
		fmt.Fprintf(&b, "%s\n", l.Utterance)
	}
	heard := l.Transcript.Text
	if heard != "" {
		heard = "“" + heard + "”"
		if l.Language.Used != "" {
			heard += " (" + l.Language.Used + ")"
		}
	}
	switch {
	case l.Source.Kind == "text":
		row("typed", heard, "")
	case l.Decision.Reason == string(pipeline.NotUnderstood):
		if l.Transcript.FreeText != "" {
			row("sounds like", "“"+l.Transcript.FreeText+"”", "")
		}
		row("perhaps", heard, "")
	default:
		row("heard", heard, "")
	}
	const bold, green, yellow, red = "\x1b[1m", "\x1b[32m", "\x1b[33m", "\x1b[31m"
	if l.Decision.Command != "" { // also when the authority refused it: then the next row says so
		row("understood", l.Decision.Command, bold)
	} else {
		text := "refused: " + l.Decision.Reason
		if l.Decision.Detail != "" {
			text += ": " + l.Decision.Detail
		}
		row("understood", text, yellow)
	}
	colour := map[string]string{"reported": green, "refused": yellow, "cancelled": yellow, "unknown": red}[l.Outcome.Kind]
	happened := l.Outcome.Kind
	if l.Decision.Command != "" && l.Decision.Reason != "" {
		happened += " (" + l.Decision.Reason + ")"
	}
	row("happened", happened+": "+l.Outcome.Detail, colour)
	row("reply", l.Reply.Text, "")
	row("evidence", l.Evidence, "")
	b.WriteByte('\n')
	return b.String()
}
