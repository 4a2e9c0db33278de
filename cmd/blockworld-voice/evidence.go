package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"blockworld-voice/evidence"
	"blockworld-voice/internal/strictjson"
)

type evidenceCmd struct {
	List   evidenceList   `cmd:"" help:"The sessions, or the utterances and tasks of one."`
	Show   evidenceShow   `cmd:"" help:"One utterance with every receipt, or one task with every run."`
	Verify evidenceVerify `cmd:"" help:"Check that nothing was changed, lost, added or renamed."`
}

// find returns the folder that name means: a path, SESSION or SESSION/UTTERANCE in a store. Without an own store it
// looks into all that lie in the state folder.
func find(store, name string) (string, error) {
	roots := []string{store}
	if store == "" {
		var err error
		if roots, err = evidenceRoots(); err != nil {
			return "", err
		}
	}
	err := fmt.Errorf("there is no evidence yet")
	if fi, e := os.Lstat(name); e == nil && fi.IsDir() {
		return filepath.Abs(name)
	}
	for _, root := range roots {
		var dir string
		if dir, err = evidence.Find(root, name); err == nil {
			return dir, nil
		}
	}
	return "", &problem{status: statusUsage, what: err.Error(), next: "name a folder, or a session from: blockworld-voice evidence list"}
}

type evidenceList struct {
	Evidence string `placeholder:"DIR" help:"The evidence folder; all in the state folder by default."`
	JSON     bool   `name:"json" help:"One object a line."`
	Name     string `arg:"" optional:"" name:"session" help:"A session: lists its utterances."`
}

func (c *evidenceList) Run(p *program) error {
	if c.Name != "" {
		dir, err := find(c.Evidence, c.Name)
		if err != nil {
			return err
		}
		for u, err := range evidence.Utterances(dir) {
			if err != nil {
				return err
			}
			if err := c.line(p, u, u.String()); err != nil {
				return err
			}
		}
		for t, err := range evidence.Tasks(dir) {
			if err != nil {
				return err
			}
			if err := c.line(p, t, t.String()); err != nil {
				return err
			}
		}
		return nil
	}
	roots := []string{c.Evidence}
	if c.Evidence == "" {
		var err error
		if roots, err = evidenceRoots(); err != nil {
			return err
		}
	}
	for _, root := range roots {
		for s, err := range evidence.Sessions(root) {
			if err != nil {
				return err
			}
			if err := c.line(p, s, s.String()+"  "+oneLine(s.Path)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *evidenceList) line(p *program, v any, text string) error {
	if c.JSON {
		b, err := strictjson.Line(v)
		if err != nil {
			return err
		}
		text = string(b)
	}
	_, err := fmt.Fprintln(p.out, text)
	return err
}

type evidenceShow struct {
	Evidence string `placeholder:"DIR" help:"The evidence folder; all in the state folder by default."`
	JSON     bool   `name:"json" help:"One document."`
	Name     string `arg:"" name:"utterance" help:"A folder, SESSION/UTTERANCE or SESSION/TASK."`
}

func (c *evidenceShow) Run(p *program) error {
	dir, err := find(c.Evidence, c.Name)
	if err != nil {
		return err
	}
	if _, err := evidence.ParseTaskID(filepath.Base(dir)); err == nil {
		return c.task(p, dir)
	}
	v, err := evidence.Show(dir)
	if err != nil {
		return &problem{status: statusUsage, what: err.Error(), next: "name one utterance or task, as SESSION/u000001 or SESSION/t000001"}
	}
	return c.print(p, v)
}

func (c *evidenceShow) task(p *program, dir string) error {
	v, err := evidence.ShowTask(dir)
	if err != nil {
		return &problem{status: statusUsage, what: err.Error(), next: "name one task, as SESSION/t000001"}
	}
	return c.print(p, v)
}

// print prints a view as a document or for people.
func (c *evidenceShow) print(p *program, v interface {
	io.WriterTo
	JSON() ([]byte, error)
}) error {
	if !c.JSON {
		_, err := v.WriteTo(p.out)
		return err
	}
	b, err := v.JSON()
	if err != nil {
		return err
	}
	_, err = p.out.Write(b)
	return err
}

type evidenceVerify struct {
	Evidence string   `placeholder:"DIR" help:"The evidence folder; all in the state folder by default."`
	JSON     bool     `name:"json" help:"One report a line."`
	Names    []string `arg:"" optional:"" name:"what" help:"Folders, sessions or utterances; everything when none is named."`
}

func (c *evidenceVerify) Run(p *program) error {
	var dirs []string
	switch {
	case len(c.Names) > 0:
		for _, name := range c.Names {
			dir, err := find(c.Evidence, name)
			if err != nil {
				return err
			}
			dirs = append(dirs, dir)
		}
	case c.Evidence != "":
		dirs = []string{c.Evidence}
	default:
		var err error
		if dirs, err = evidenceRoots(); err != nil {
			return err
		}
		if len(dirs) == 0 {
			return &problem{status: statusUsage, what: "there is no evidence yet", next: "run an instruction first, or name a folder"}
		}
	}
	var damaged []string
	found := 0
	for _, dir := range dirs {
		rep, err := evidence.Verify(dir)
		if err != nil {
			return &problem{status: statusUsage, what: err.Error(), next: "name a folder of evidence, or a session from: blockworld-voice evidence list"}
		}
		if rep.Damaged() {
			damaged = append(damaged, dir)
		}
		found += rep.Sessions + rep.Utterances + len(rep.Problems)
		if err := c.report(p, rep); err != nil {
			return err
		}
	}
	if len(damaged) > 0 {
		return &problem{status: statusFailed, what: "the evidence is not what was written: " + strings.Join(damaged, ", "),
			next: "don't rely on it; the lines above say which files", err: nil}
	}
	if found == 0 {
		return &problem{status: statusUsage, what: "there is no evidence in " + strings.Join(dirs, ", ") + ": nothing was verified",
			next: "name a folder of evidence; if there was some, it was removed"}
	}
	return nil
}

func (c *evidenceVerify) report(p *program, rep *evidence.Report) error {
	if c.JSON {
		b, err := strictjson.Line(rep)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.out, "%s\n", b)
		return err
	}
	var errs []error
	say := func(format string, args ...any) {
		_, err := fmt.Fprintf(p.out, format, args...)
		errs = append(errs, err)
	}
	state := "verified"
	switch {
	case rep.Damaged():
		state = "DAMAGED"
	case !rep.OK():
		state = "interrupted"
	case rep.Sessions+rep.Utterances == 0:
		state = "empty"
	}
	tasks := ""
	if rep.Tasks > 0 {
		tasks = fmt.Sprintf(" %d tasks,", rep.Tasks)
	}
	say("%s  %s: %d sessions, %d utterances,%s %d files, %d bytes\n", state, oneLine(rep.Path), rep.Sessions, rep.Utterances, tasks, rep.Files, rep.Bytes)
	if !rep.Head.IsZero() {
		say("  last manifest: sha256 %s\n", rep.Head)
	}
	for _, x := range rep.Problems {
		say("  %s\n", x)
	}
	if rep.Omitted > 0 {
		say("  and %d more\n", rep.Omitted)
	}
	return errors.Join(errs...)
}
