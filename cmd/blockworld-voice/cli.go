package main

import (
	"fmt"
	"io"
	"reflect"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"

	"blockworld-voice/internal/whispercpp"
)

// command is one selected command with its flags.
type command interface{ Run(*program) error }

type cli struct {
	Version kong.VersionFlag `env:"-" help:"Print the version."`

	Run       runCmd       `cmd:"" default:"withargs" hidden:""`
	Recorder  recorderCmd  `cmd:"" hidden:"" name:"recorder-process"`
	Player    playerCmd    `cmd:"" hidden:"" name:"player-process"`
	Lab       labCmd       `cmd:"" passthrough:"" help:"The synthetic game as its own process behind a control socket."`
	Models    modelsCmd    `cmd:"" help:"Speech models: list, pull, add, import, verify, rm."`
	Qualify   qualifyCmd   `cmd:"" help:"Run a labelled corpus and report how much is understood, refused and wrong."`
	Evidence  evidenceCmd  `cmd:"" help:"What was recorded: list, show, verify."`
	Grammar   grammarCmd   `cmd:"" help:"The grammar: its reference page, parse, sample, gbnf."`
	Profile   profileCmd   `cmd:"" help:"Game profiles: new, check."`
	Plan      planCmd      `cmd:"" help:"Build plans: new, check, digest."`
	Reconcile reconcileCmd `cmd:"" help:"End the ownership record of an interrupted or unknown session, explicitly."`
	PTT       pttCmd       `cmd:"" name:"ptt" help:"Drive a running session from a key binding or a pedal: press, release, toggle, stop."`
	Devices   devicesCmd   `cmd:"" help:"Microphones and outputs, with a level meter."`
	Doctor    doctorCmd    `cmd:"" help:"What is installed, what is missing, what to do next."`
}

// parse selects a command. It returns nil and no error when help was asked for and printed.
func (p *program) parse(args []string) (command, error) {
	var c cli
	helped := false
	k, err := kong.New(&c,
		kong.Name("blockworld-voice"),
		kong.Writers(p.out, p.err),
		kong.Exit(func(int) { helped = true }),
		kong.DefaultEnvars("BLOCKWORLD_VOICE"),
		kong.KindMapper(reflect.String, kong.MapperFunc(asGiven)),
		kong.Vars{"version": version()},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
		kong.Help(help),
	)
	if err != nil {
		return nil, err
	}
	ctx, err := k.Parse(args)
	if helped {
		return nil, nil
	}
	if err != nil {
		return nil, usage("see: blockworld-voice --help", "%v", err)
	}
	if err := onlyOnce(ctx); err != nil {
		return nil, err
	}
	if err := notEmpty(ctx); err != nil {
		return nil, err
	}
	selected, ok := ctx.Selected().Target.Addr().Interface().(command)
	if !ok {
		return nil, usage("see: blockworld-voice "+ctx.Command()+" --help", "%s needs a command of its own", ctx.Command())
	}
	if r, ok := selected.(*runCmd); ok && r.idle() {
		return nil, topHelp(p.out, k.Model)
	}
	return selected, nil
}

// onlyOnce refuses a flag that is given twice: which of the two was meant is not for us to say.
func onlyOnce(ctx *kong.Context) error {
	seen := map[*kong.Flag]bool{}
	for _, path := range ctx.Path {
		if path.Flag == nil || path.Resolved {
			continue
		}
		if seen[path.Flag] {
			next := "give it once"
			if path.Flag.Name == "wav" || path.Flag.Name == "text" {
				next = "name all of them after one --" + path.Flag.Name
			}
			return usage(next, "--%s is given twice", path.Flag.Name)
		}
		seen[path.Flag] = true
	}
	return nil
}

// notEmpty refuses a flag with an empty value: it would run the default as if it had not been given. An empty
// instruction is one, and refused as such.
func notEmpty(ctx *kong.Context) error {
	for _, path := range ctx.Path {
		f := path.Flag
		if f == nil || path.Resolved || f.Name == "text" {
			continue
		}
		v := reflect.Indirect(reflect.ValueOf(ctx.FlagValue(f)))
		if v.Kind() == reflect.String && v.Len() == 0 {
			return usage("give it a value, or leave it out", "--%s is empty", f.Name)
		}
	}
	return nil
}

// asGiven takes a text as it stands on the command line, byte by byte: the library's own way goes through JSON, which
// changes what is no UTF-8, and a file may have such a name.
func asGiven(ctx *kong.DecodeContext, target reflect.Value) error {
	t, err := ctx.Scan.PopValue(ctx.Value.Name)
	if err != nil {
		return err
	}
	s, ok := t.Value.(string)
	if !ok {
		return fmt.Errorf("expected a text but got %v", t.Value)
	}
	target.SetString(s)
	return nil
}

// version names this program, the commit that it was built from when that is known, and the recogniser's library.
func version() string {
	v := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			v = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && !strings.Contains(v, s.Value[:min(12, len(s.Value))]) {
				v += " " + s.Value[:min(12, len(s.Value))]
			}
		}
	}
	return "blockworld-voice " + v + ", " + whispercpp.Version()
}

func help(o kong.HelpOptions, ctx *kong.Context) error {
	if n := ctx.Selected(); n != nil && n.Name != "run" {
		if err := kong.DefaultHelpPrinter(o, ctx); err != nil {
			return err
		}
		return statusHelp(ctx.Stdout)
	}
	return topHelp(ctx.Stdout, ctx.Model)
}

// topHelp is the help of the program as a whole.
func topHelp(w io.Writer, m *kong.Application) error {
	var b strings.Builder
	b.WriteString(`Speech in Slovak, Czech and English becomes one typed command for a game, with evidence of every step.

Usage:
  blockworld-voice --wav FILE... [flags]      each file is one utterance, in order
  blockworld-voice --session [flags]          push-to-talk: hold or toggle a key and speak
  blockworld-voice --text "go to 1 2 3"...    typed instructions, the same path from the grammar on
  blockworld-voice COMMAND ...

Commands:
`)
	for _, n := range m.Children {
		if !n.Hidden {
			fmt.Fprintf(&b, "  %-11s %s\n", n.Name, n.Help)
		}
	}
	b.WriteString("\nFlags of a run (all but those that start a run also as BLOCKWORLD_VOICE_..., for example BLOCKWORLD_VOICE_LANGUAGE=sk):\n")
	for _, f := range m.DefaultCmd.Flags {
		name := "--" + f.Name
		if !f.IsBool() {
			name += " " + f.FormatPlaceHolder()
		}
		fmt.Fprintf(&b, "  %-28s %s\n", name, f.Help)
	}
	fmt.Fprintf(&b, "\n  %-28s %s\n", "--version", "Print the version.")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return statusHelp(w)
}

func statusHelp(w io.Writer) error {
	var b strings.Builder
	b.WriteString("\nExit status:\n")
	for _, s := range statuses {
		fmt.Fprintf(&b, "  %d  %s\n", s.status, s.means)
	}
	b.WriteString("With several utterances, the first of 5, 8, 1, 7, 6, 4, 3 that occurred.\n")
	_, err := io.WriteString(w, b.String())
	return err
}
