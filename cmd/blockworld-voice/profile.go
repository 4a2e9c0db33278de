package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"blockworld-voice/game"
	"blockworld-voice/internal/atomicfile"
)

type profileCmd struct {
	New   profileNew   `cmd:"" help:"Write a profile for the client that runs now: short expiry, narrow bounds around where it stands."`
	Check profileCheck `cmd:"" help:"Check a profile, and that the pinned client is there and fits."`
}

type profileNew struct {
	Socket    string   `required:"" placeholder:"PATH" help:"The client's control socket, or tcp:127.0.0.1:PORT."`
	TokenFile string   `placeholder:"FILE" help:"The token's file, for a TCP endpoint."`
	Workspace string   `placeholder:"DIR" help:"Private folder for profile and evidence (default: one in the state folder)."`
	Checkout  []string `placeholder:"DIR" help:"Checkouts that the workspace must not touch (default: the one around the current folder)."`
	Actions   string   `placeholder:"NAME,..." help:"What may be done: goto, look-at, say, idle, follow, place (default: the first three)."`
	Target    bool     `help:"Write only the binding: a target profile, for following the person whose own client this is."`
	Output    string   `placeholder:"FILE" help:"Where to write it, inside the workspace; without it, it is printed."`
}

func (c *profileNew) Run(p *program) error {
	o := game.NewProfileOptions{Endpoint: c.Socket, TokenFile: c.TokenFile, Workspace: c.Workspace}
	if !strings.HasPrefix(c.Socket, "tcp:") {
		abs, err := filepath.Abs(c.Socket)
		if err != nil {
			return err
		}
		o.Endpoint = abs
	}
	if c.Actions != "" {
		var err error
		if o.Actions, err = game.ParseActions(c.Actions); err != nil {
			return usage("give names with commas between them: --actions goto,say,follow", "--actions: %v", err)
		}
	}
	for _, dir := range c.Checkout {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		o.CheckoutRoots = append(o.CheckoutRoots, abs)
	}
	profile, found, err := game.NewProfile(p.ctx, o)
	p.findings(found)
	if err != nil {
		status := statusRefused
		if unreachable(err) || errors.Is(err, fs.ErrNotExist) {
			status = statusUnreachable
		}
		if r, ok := game.ReasonOf(err); ok && r == game.Denied {
			status = statusDenied
		}
		return &problem{status: status, what: "no profile can be written for that client", next: "is the game running and in its world, and is this its control socket?", err: err}
	}
	doc, err := profile.Document()
	if c.Target {
		if doc, err = profile.TargetDocument(); err != nil {
			return &problem{status: statusRefused, what: "no target profile can be written for that client", next: "only a client on a server can be followed", err: err}
		}
	}
	if err != nil {
		return err
	}
	if c.Output == "" {
		_, err = p.out.Write(doc)
		return err
	}
	if err := atomicfile.Write(c.Output, doc); err != nil {
		return err
	}
	if c.Target {
		_, err = game.ReadTarget(c.Output, profile.Workspace)
	} else {
		_, err = game.ReadProfile(c.Output)
	}
	if err != nil {
		return &problem{status: statusUsage, what: "the profile was written and can't be used there", next: "write it into the workspace " + profile.Workspace, err: err}
	}
	_, err = fmt.Fprintln(p.out, c.Output)
	return err
}

// findings tells on standard error what the client confirmed and contradicted of what we assume about it.
func (p *program) findings(found []game.Finding) {
	for _, f := range found {
		if f.Verdict == game.Unchecked {
			continue
		}
		detail := ""
		if f.Detail != "" {
			detail = ": " + f.Detail
		}
		fmt.Fprintln(p.err, oneLine(fmt.Sprintf("%s (%s): %s%s", f.Name, f.Mark, f.Verdict, detail)))
	}
}

type profileCheck struct {
	File string `arg:"" help:"A game profile."`
}

func (c *profileCheck) Run(p *program) error {
	profile, err := game.ReadProfile(c.File)
	if err != nil {
		return &problem{status: statusUsage, what: "the game profile can't be used", next: "write a fresh one with: blockworld-voice profile new", err: err}
	}
	checks, found := game.CheckProfile(p.ctx, profile, game.Options{})
	var bad *game.Check
	for i, k := range checks {
		mark := "ok"
		if !k.OK {
			mark = "FAILS"
			if bad == nil {
				bad = &checks[i]
			}
		}
		if _, err := fmt.Fprintf(p.out, "%-6s %-10s %s\n", mark, k.Name, oneLine(k.Detail)); err != nil {
			return err
		}
	}
	p.findings(found)
	if bad == nil {
		return nil
	}
	e := &problem{status: statusRefused, what: "no session can be opened with this profile: " + bad.Name + ": " + bad.Detail, next: bad.Hint}
	switch {
	case bad.Denied:
		e.status = statusDenied
	case bad.Name == "endpoint", bad.Name == "process":
		e.status = statusUnreachable
	}
	return e
}
