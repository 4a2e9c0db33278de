package main

import (
	"context"
	"errors"

	"blockworld-voice/internal/pipeline"
)

// runCmd is a run without a command's name: WAV files or typed instructions.
type runCmd struct {
	WAV            *string `name:"wav" env:"-" placeholder:"FILE..." help:"WAV files, each one utterance, in order."`
	Text           *string `env:"-" placeholder:"TEXT..." help:"Typed instructions, in order."`
	Profile        string  `placeholder:"FILE" help:"Game profile; without it the embedded lab runs."`
	SpeechProfile  string  `placeholder:"FILE" help:"Model, languages, thresholds, reply language."`
	Model          string  `placeholder:"NAME|FILE" help:"Speech model (default: base)."`
	Language       string  `placeholder:"auto|sk|cs|en" help:"What is spoken (default: auto)."`
	ReplyLanguage  string  `placeholder:"sk|cs|en" help:"Language of the replies (default: that of the instruction)."`
	Evidence       string  `placeholder:"DIR" help:"Evidence folder (default: evidence in the workspace)."`
	Threads        int     `placeholder:"N" help:"Processor threads for the recogniser (default: 2)."`
	behaviourFlags `embed:""`
	Talk           talkFlags `embed:""`

	JSON    bool `name:"json" help:"One object a line on standard output, nothing else there."`
	Quiet   bool `help:"Only errors, and with --json the objects."`
	NoColor bool `help:"No colour; NO_COLOR does the same."`

	More []string `arg:"" optional:"" hidden:"" name:"more"`
}

// idle says that nothing was asked for.
func (c *runCmd) idle() bool {
	return c.WAV == nil && c.Text == nil && len(c.More) == 0 && !c.Talk.Session
}

// sources are the utterances in their order.
func (c *runCmd) sources() ([]pipeline.Source, error) {
	var out []pipeline.Source
	switch {
	case c.WAV != nil && c.Text != nil:
		return nil, usage("give one of them", "--wav and --text exclude each other")
	case c.WAV != nil:
		for _, path := range append([]string{*c.WAV}, c.More...) {
			out = append(out, pipeline.WAV{Path: path})
		}
	case c.Text != nil:
		for _, text := range append([]string{*c.Text}, c.More...) {
			out = append(out, pipeline.Typed{Text: text})
		}
	default:
		return nil, usage("see: blockworld-voice --help", "%q is neither a command nor the value of a flag", c.More[0])
	}
	return out, nil
}

func (c *runCmd) Run(p *program) (err error) {
	if c.Talk.Session {
		if c.WAV != nil || c.Text != nil || len(c.More) > 0 {
			return usage("give one of them", "--session excludes --wav and --text")
		}
		return c.talk(p)
	}
	sources, err := c.sources()
	if err != nil {
		return err
	}
	set, err := c.settings()
	if err != nil {
		return err
	}
	ts, err := c.talkSettings(set)
	if err != nil {
		return err
	}
	if c.Talk.Confirm != "" && ts.confirm != pipeline.ConfirmNever {
		return usage("use --session, or --confirm never", "nobody can be asked about files and typed instructions")
	}
	if ts.play {
		r, done, e := playing(ts)
		if e != nil {
			return e
		}
		defer func() { err = errors.Join(err, done()) }()
		set.player = r
	}
	a, err := assemble(p, set, c.WAV != nil)
	if err != nil {
		return errors.Join(err, newPrinter(p, c).unopened(sources, set.languages, err))
	}
	a.tasks.afterTheirUtterances()
	a.tasks.to(newPrinter(p, c))
	err = a.run(p.ctx, sources, func(r *pipeline.Record) error {
		p.status = p.status.and(recordStatus(r))
		return a.tasks.record(r)
	})
	a.behaviours.join(p.ctx)
	if e := a.close(); err == nil {
		err = e
	}
	ended, e := a.tasks.done()
	p.status = p.status.and(ended)
	if err == nil {
		err = e
	}
	if err == nil && p.ctx.Err() != nil {
		p.status = p.status.and(statusCancelled)
	}
	return err
}

// run takes the sources through the session. After the end of ctx each is recorded as cancelled.
func (a *assembly) run(ctx context.Context, sources []pipeline.Source, each func(*pipeline.Record) error) error {
	for _, src := range sources {
		rec, err := a.session.Do(ctx, src)
		if rec != nil {
			err = errors.Join(err, each(rec))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
