package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"blockworld-voice/game"
	"blockworld-voice/game/build"
	"blockworld-voice/internal/atomicfile"
	"blockworld-voice/internal/strictjson"
)

type planCmd struct {
	New    planNew    `cmd:"" help:"Write a plan of one or three blocks under a game profile; it has to be used within a minute."`
	Check  planCheck  `cmd:"" help:"Check a plan, and with --profile whether it stands under that profile now."`
	Digest planDigest `cmd:"" help:"Print the digest of a plan's content, whatever digest it has."`
}

type planNew struct {
	Profile  string `required:"" placeholder:"FILE" help:"The game profile under whose authority it stands."`
	Cells    string `required:"" placeholder:"X,Y,Z..." help:"One cell, or three with spaces between them, in the order in which they are built: --cells='2,64,0 2,64,1 2,64,2'."`
	Plot     string `default:"plot" placeholder:"NAME" help:"A name for the place (default: plot)."`
	Creative bool   `help:"The client is in creative mode: a placement uses no item up."`
	Seconds  int    `default:"60" placeholder:"N" help:"How long it may be used, 1 to 60 (default: 60)."`
	Output   string `placeholder:"FILE" help:"Where to write it, inside the workspace; without it, it is printed."`
}

func (c *planNew) Run(p *program) error {
	profile, err := game.ReadProfile(c.Profile)
	if err != nil {
		return &problem{status: statusUsage, what: "the game profile can't be used", next: "write a fresh one with: blockworld-voice profile new", err: err}
	}
	cells, err := parseCells(c.Cells)
	if err != nil {
		return usage("name cells as --cells='2,64,0' or --cells='2,64,0 2,64,1 2,64,2'", "--cells: %v", err)
	}
	if c.Seconds < 1 || c.Seconds > int(build.MaxLife.Seconds()) {
		return usage("give --seconds between 1 and 60", "a plan can't live %d seconds", c.Seconds)
	}
	b := profile.Binding
	plan := build.Plan{Plot: c.Plot, Session: build.SessionOf(profile), Mode: build.Survival, World: b.World, Dimension: b.Dimension, Server: b.Server, Cells: cells,
		Expires: time.Now().UTC().Add(time.Duration(c.Seconds) * time.Second).Truncate(time.Second)}
	if c.Creative {
		plan.Mode = build.Creative
	}
	doc, err := plan.Document()
	if err != nil {
		return &problem{status: statusUsage, what: "no plan can be written", next: "see docs/build-plan.md for what a plan may hold", err: err}
	}
	if plan, err = build.Parse(doc); err == nil {
		err = plan.Fits(profile, time.Now())
	}
	if err != nil {
		return notAdmitted("the plan would not be admitted", "see docs/build-plan.md; the profile must permit place", err)
	}
	if c.Output == "" {
		_, err = p.out.Write(doc)
		return err
	}
	if err := atomicfile.Write(c.Output, doc); err != nil {
		return err
	}
	if _, err := build.Read(c.Output, profile.Workspace); err != nil {
		return &problem{status: statusUsage, what: "the plan was written and can't be used there", next: "write it into the workspace " + profile.Workspace, err: err}
	}
	_, err = fmt.Fprintln(p.out, c.Output)
	return err
}

func parseCells(s string) ([][3]int32, error) {
	var out [][3]int32
	for _, f := range strings.Fields(s) {
		parts := strings.Split(f, ",")
		if len(parts) != 3 {
			return nil, fmt.Errorf("%q is not X,Y,Z", f)
		}
		var c [3]int32
		for i, part := range parts {
			v, err := strconv.ParseInt(part, 10, 32)
			if err != nil {
				return nil, fmt.Errorf("%q is no whole number", part)
			}
			c[i] = int32(v)
		}
		out = append(out, c)
	}
	if len(out) != 1 && len(out) != 3 {
		return nil, fmt.Errorf("a plan has one cell or three, not %d", len(out))
	}
	return out, nil
}

type planCheck struct {
	File    string `arg:"" help:"The plan."`
	Profile string `placeholder:"FILE" help:"The game profile under whose authority it should stand."`
}

func (c *planCheck) Run(p *program) error {
	data, err := readFile(c.File, strictjson.MaxSize)
	if err != nil {
		return err
	}
	plan, err := build.Parse(data)
	if err != nil {
		return &problem{status: statusUsage, what: "build plan " + c.File, next: "see docs/build-plan.md and docs/build-plan.schema.json", err: err}
	}
	if c.Profile != "" {
		profile, err := game.ReadProfile(c.Profile)
		if err != nil {
			return &problem{status: statusUsage, what: "the game profile can't be used", next: "write a fresh one with: blockworld-voice profile new", err: err}
		}
		if _, err := build.Read(c.File, profile.Workspace); err != nil {
			return &problem{status: statusUsage, what: "the plan can't be used from there", next: "put it into the workspace " + profile.Workspace + ", with mode 0600", err: err}
		}
		if err := plan.Fits(profile, time.Now()); err != nil {
			return notAdmitted("the plan would not be admitted now", "write a fresh one with: blockworld-voice plan new", err)
		}
	}
	_, err = fmt.Fprintf(p.out, "%s: a plan of %d %s of %s in %s mode, until %s, sha256 %s\n", oneLine(filepath.Base(c.File)), len(plan.Cells), plural("block", len(plan.Cells)),
		build.Material, plan.Mode, plan.Expires.Format(time.RFC3339), plan.Digest)
	return err
}

func plural(word string, n int) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

type planDigest struct {
	File string `arg:"" help:"The plan, with or without a digest."`
}

func (c *planDigest) Run(p *program) error {
	data, err := readFile(c.File, strictjson.MaxSize)
	if err != nil {
		return err
	}
	d, err := build.Digest(data)
	if err != nil {
		return &problem{status: statusUsage, what: "build plan " + c.File, next: "see docs/build-plan.md and docs/build-plan.schema.json", err: err}
	}
	_, err = fmt.Fprintf(p.out, "sha256:%s\n", d)
	return err
}
