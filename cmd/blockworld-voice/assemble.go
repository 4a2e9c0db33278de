package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"blockworld-voice/evidence"
	"blockworld-voice/game"
	"blockworld-voice/internal/checkout"
	"blockworld-voice/internal/pipeline"
	"blockworld-voice/synth"
	"blockworld-voice/transcribe"
)

// assembly is everything that a run holds, from the outside in.
type assembly struct {
	lab     *game.LabProcess // nil with a game profile
	engine  *loading         // nil for typed instructions
	session *pipeline.Session
	game    *game.Session

	behaviours *behaviours
	tasks      *tasks
}

// ears are a recogniser in place of the real one. Only the tests set it.
var ears pipeline.Engine

// assemble opens what a run needs. The model loads in the background while the lab and the session start.
func assemble(p *program, set settings, hears bool) (_ *assembly, err error) {
	a := &assembly{tasks: &tasks{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	if hears && ears == nil {
		if a.engine, err = load(set); err != nil {
			return nil, err
		}
		if a.engine.remark != "" {
			p.note(set, a.engine.remark)
		}
	}
	profile, err := a.companion(p, set)
	if err != nil {
		return nil, err
	}
	root, err := a.evidenceFolder(set, profile)
	if err != nil {
		return nil, err
	}
	store, err := evidence.Open(root)
	if err != nil {
		return nil, err
	}
	cfg := pipeline.Config{
		Store: store, Languages: set.languages, Reply: set.reply, Task: a.tasks.tell, At: at,
		Player: set.player, Confirm: set.confirm, Asker: set.asker, Thresholds: set.thresholds,
	}
	if set.hook != nil {
		cfg.At = func(s evidence.Stage, b pipeline.Boundary) {
			set.hook(s, b)
			if at != nil {
				at(s, b)
			}
		}
	}
	if a.engine != nil {
		cfg.Engine, cfg.Thresholds = a.engine, a.engine.thresholds
	} else if hears {
		cfg.Engine = ears
	}
	cfg.Voice = &synth.Espeak{Voices: set.voices}
	if a.session, err = pipeline.Open(cfg); err != nil {
		return nil, err
	}
	a.game, err = game.Open(p.ctx, profile, game.Options{SessionID: a.session.ID().String()})
	for _, r := range lost(a.game, err) {
		p.note(settings{}, fmt.Sprintf("run %s of session %s is unknown: %s; it is not sent again", r.Run, r.Session, r.Outcome().Say()))
	}
	if err != nil {
		return nil, opening(err)
	}
	if a.behaviours, err = startBehaviours(p.ctx, a.game, a.session.Keeper(), set.behave); err != nil {
		return nil, err
	}
	a.session.Bind(a.behaviours)
	return a, nil
}

// note tells a person something on standard error.
func (p *program) note(set settings, text string) {
	if !set.quiet {
		fmt.Fprintln(p.err, oneLine(text))
	}
}

// companion admits the game profile, or starts the embedded lab.
func (a *assembly) companion(p *program, set settings) (game.Profile, error) {
	if set.profile == "" {
		lab, profile, err := startLab(p.ctx, set.workspace)
		if err != nil {
			return profile, err
		}
		a.lab = lab
		p.note(set, fmt.Sprintf("no --profile: the embedded lab runs, a synthetic world at %d× speed, workspace %s", labSpeed, profile.Workspace))
		return profile, nil
	}
	profile, err := game.ReadProfile(set.profile)
	if err != nil {
		return profile, &problem{status: statusUsage, what: "the game profile can't be used", next: "write a fresh one with: blockworld-voice profile new", err: err}
	}
	if set.workspace != "" && set.workspace != profile.Workspace {
		return profile, usage("name the same workspace in both",
			"the speech profile names the workspace %s, the game profile %s", set.workspace, profile.Workspace)
	}
	return profile, nil
}

// evidenceFolder is where the evidence goes: inside the workspace. The embedded lab has a workspace that nobody could
// name before, so there a folder of the user's own may be named, which keeps the rules of a workspace.
func (a *assembly) evidenceFolder(set settings, profile game.Profile) (string, error) {
	if set.evidence == "" {
		return filepath.Join(profile.Workspace, "evidence"), nil
	}
	root, err := filepath.Abs(set.evidence)
	if err != nil {
		return "", err
	}
	if a.lab != nil && set.workspace == "" {
		if err := game.CheckOutside(root, append(checkout.Roots(root), profile.CheckoutRoots...)); err != nil {
			return "", usage("name a private folder outside every checkout with --evidence", "%v", err)
		}
		return root, nil
	}
	if err := game.CheckEvidence(root, profile.Workspace); err != nil {
		return "", usage("name a folder inside "+profile.Workspace+", or leave --evidence out", "%v", err)
	}
	return root, nil
}

// close ends what is open, from the inside out. It may be called on a half-made assembly.
func (a *assembly) close() error {
	errs := []error{a.behaviours.close()}
	if a.game != nil {
		errs = append(errs, a.game.Close())
	}
	if a.session != nil {
		errs = append(errs, a.session.Close())
	}
	if a.lab != nil {
		errs = append(errs, a.lab.Close())
	}
	if a.engine != nil {
		errs = append(errs, a.engine.close())
	}
	return errors.Join(errs...)
}

// lost are the runs of earlier programs that were found without an outcome. They are told
// once, also when just they are why no session was opened.
func lost(s *game.Session, err error) []game.Recovered {
	var o *game.OpenError
	if errors.As(err, &o) {
		return o.Recovered
	}
	if s == nil {
		return nil
	}
	return s.Recovered()
}

// opening maps the refusal of a game session to an exit status.
func opening(err error) error {
	var o *game.OpenError
	if !errors.As(err, &o) {
		return err
	}
	p := &problem{status: statusRefused, what: "no session was opened (" + o.Reason.String() + "): " + o.Detail, next: o.Hint, reason: o.Reason.String()}
	if o.Err != nil && o.Err.Error() != o.Detail {
		p.err = o.Err
	}
	switch o.Reason {
	case game.Denied:
		p.status = statusDenied
	case game.NotBound:
		if unreachable(o.Err) {
			p.status = statusUnreachable
		}
	case game.NotPermitted, game.OutOfBounds, game.TooFar, game.Budget, game.Expired, game.Busy, game.Disarmed:
	}
	if errors.Is(err, context.Canceled) {
		p.status = statusCancelled
	}
	return p
}

// unreachable says that nobody answers behind the endpoint.
func unreachable(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist)
}

// loading is an engine that is being loaded in the background.
type loading struct {
	thresholds transcribe.Thresholds // that it decides by
	ready      chan struct{}
	engine     *transcribe.Engine
	err        error
	remark     string // for the person; "" for none
}

// load finds the model and begins to load it.
func load(set settings) (*loading, error) {
	store, err := modelStore()
	if err != nil {
		return nil, err
	}
	m, err := store.Resolve(set.model)
	if err != nil {
		return nil, err
	}
	l := &loading{ready: make(chan struct{})}
	if !set.ownLimits {
		var fitted bool
		if set.thresholds, fitted, err = thresholdsFor(m.SHA256); err != nil {
			return nil, err
		}
		if !fitted {
			l.remark = "no thresholds were fitted for the model " + m.Name + ": the conservative ones are used, and more is refused (qualify --fit measures better ones)"
		}
	}
	l.thresholds = set.thresholds
	go func() {
		defer close(l.ready)
		l.engine, l.err = transcribe.New(transcribe.Config{
			Path: m.Path, Name: m.Name, SHA256: m.SHA256, Threads: set.threads, Thresholds: set.thresholds,
			CacheDir: silenceDir(),
		})
	}()
	return l, nil
}

// Transcribe waits for the engine and asks it.
func (l *loading) Transcribe(ctx context.Context, r transcribe.Request) (*transcribe.Transcript, error) {
	select {
	case <-l.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if l.err != nil {
		return nil, l.err
	}
	return l.engine.Transcribe(ctx, r)
}

func (l *loading) close() error {
	<-l.ready
	if l.engine != nil {
		_ = l.engine.Close() // a silence table that can't be kept is computed again next time
	}
	return nil
}

// silenceDir is where the recogniser keeps its silence tables, "" when there is no such place.
func silenceDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "blockworld-voice", "silence")
}
