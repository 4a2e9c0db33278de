package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"blockworld-voice/game"
	"blockworld-voice/game/behavior"
	"blockworld-voice/game/build"
	"blockworld-voice/internal/pipeline"
	"blockworld-voice/internal/strictjson"
)

// behaviourFlags are what a run needs for more than one action.
type behaviourFlags struct {
	TargetProfile   string  `placeholder:"FILE" help:"Whom to follow: a profile with only the binding of that person's own client."`
	BehaviorSeconds float64 `default:"30" placeholder:"N" help:"How long one idle or follow may last, 1 to 60 (default: 30)."`
	BuildPlan       string  `placeholder:"FILE" help:"The approved plan that build carries out, once."`
}

func (f behaviourFlags) check() error {
	if !(f.BehaviorSeconds >= 1 && f.BehaviorSeconds <= behavior.MaxSpan.Seconds()) {
		return usage("give --behavior-seconds between 1 and 60", "%g seconds can't be used", f.BehaviorSeconds)
	}
	return nil
}

// behaviours are a controller over the game session, and what it holds.
type behaviours struct {
	*behavior.Controller
	observer *behavior.Observer // nil without a target profile
}

// startBehaviours admits the target and the plan, and puts the controller between the pipeline and the session.
func startBehaviours(ctx context.Context, s *game.Session, keep behavior.Keeper, f behaviourFlags) (_ *behaviours, err error) {
	profile := s.Profile()
	span := time.Duration(f.BehaviorSeconds * float64(time.Second))
	b := &behaviours{}
	o := behavior.Options{Keeper: keep, Works: map[behavior.Kind]func() (behavior.Work, error){
		behavior.Idle: func() (behavior.Work, error) { return behavior.NewIdle(s, span), nil },
	}, Missing: map[behavior.Kind]string{
		behavior.Follow: "following needs a target: use --target-profile FILE",
		behavior.Build:  "building needs an approved plan: use --build-plan FILE",
	}}
	if f.BuildPlan != "" {
		plan, err := build.Read(f.BuildPlan, profile.Workspace)
		if err != nil {
			return nil, &problem{status: statusUsage, what: "the build plan can't be used", next: "write one with: blockworld-voice plan new", err: err}
		}
		if err := plan.Fits(profile, time.Now()); err != nil {
			return nil, notAdmitted("the build plan can't be used", "write a fresh one with: blockworld-voice plan new", err)
		}
		claim := func() error { return build.Claim(profile.Workspace, plan.Digest, time.Now()) }
		o.Works[behavior.Build] = func() (behavior.Work, error) { return build.New(s, plan, claim, nil), nil }
	}
	if f.TargetProfile != "" {
		target, err := game.ReadTarget(f.TargetProfile, profile.Workspace)
		if err != nil {
			return nil, &problem{status: statusUsage, what: "the target profile can't be used", next: "see docs/behaviours.md for its form", err: err}
		}
		if b.observer, err = behavior.Observe(ctx, profile.Binding, target, nil); err != nil {
			return nil, notAdmitted("the target can't be observed", "is the person's client running and in the same world? see docs/behaviours.md", err)
		}
		o.Works[behavior.Follow] = func() (behavior.Work, error) { return behavior.NewFollow(s, b.observer, span), nil }
	}
	b.Controller = behavior.New(s, o)
	return b, nil
}

// notAdmitted is a refusal before the run has begun.
func notAdmitted(what, next string, err error) error {
	p := &problem{status: statusRefused, what: what, next: next, err: err}
	if unreachable(err) {
		p.status = statusUnreachable
	}
	return p
}

// join waits for a task that goes on after the last instruction. The end of ctx stops it, as it stops everything.
func (b *behaviours) join(ctx context.Context) {
	if b == nil || b.Wait(ctx) == nil {
		return
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	b.Stop(stop)
	_ = b.Wait(stop) // its outcome says how far the stop got
}

// stopPatience bounds the wait for a stop at the end of a program.
const stopPatience = 30 * time.Second

func (b *behaviours) close() error {
	if b == nil {
		return nil
	}
	err := b.Controller.Close()
	if b.observer != nil {
		err = errors.Join(err, b.observer.Close())
	}
	return err
}

// tasks takes what is told of tasks to the printer, and their ends to the exit status.
type tasks struct {
	mu     sync.Mutex
	show   *printer
	status status
	err    error
	early  []pipeline.TaskLine // not printed yet
	// told are the utterances that were printed; nil prints tasks at once. A task that is over before the answer to
	// its instruction was spoken is told after it.
	told map[string]bool
}

func (t *tasks) tell(l pipeline.TaskLine) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.show == nil || t.told != nil && !t.told[l.BegunBy] {
		t.early = append(t.early, l)
		return
	}
	t.status = t.status.and(taskStatus(l))
	t.err = errors.Join(t.err, t.show.task(l))
}

// to gives the printer over and says what was told before.
func (t *tasks) to(show *printer) {
	t.mu.Lock()
	t.show = show
	t.mu.Unlock()
	t.again()
}

// afterTheirUtterances lets lines of tasks wait for the utterance that began them. It comes before to.
func (t *tasks) afterTheirUtterances() { t.told = map[string]bool{} }

// again tells what had to wait.
func (t *tasks) again() {
	t.mu.Lock()
	early := t.early
	t.early = nil
	t.mu.Unlock()
	for _, l := range early {
		t.tell(l)
	}
}

// done is the exit status of all tasks, and the first failure to print.
func (t *tasks) done() (status, error) {
	t.mu.Lock()
	t.told = nil
	t.mu.Unlock()
	t.again()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status, t.err
}

// record prints an utterance, never in the middle of a task's line.
func (t *tasks) record(r *pipeline.Record) error {
	t.mu.Lock()
	err := t.show.record(r)
	if t.told != nil {
		t.told[r.ID.String()] = true
	}
	t.mu.Unlock()
	t.again()
	return err
}

// taskStatus is the exit status of a task that is over. One that made way for the operator did what was asked of it.
func taskStatus(l pipeline.TaskLine) status {
	if l.Event != "ended" {
		return statusDone
	}
	switch {
	case l.Outcome.Kind == game.KindReported.String():
		return statusDone
	case l.Outcome.Kind == game.KindUnknown.String():
		return statusUnknown
	case l.Reason == game.Denied.String():
		return statusDenied
	case l.Outcome.Kind == game.KindRefused.String():
		return statusRefused
	case l.Kind != behavior.Build.String() && (l.Why == behavior.WhyReplaced.String() || l.Why == behavior.WhyCapture.String()):
		return statusDone
	}
	return statusCancelled
}

// task prints what is told of a task.
func (s *printer) task(l pipeline.TaskLine) error {
	if s.json {
		b, err := strictjson.Line(l)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.p.out, "%s\n", b)
		return err
	}
	if s.quiet {
		return nil
	}
	var b strings.Builder
	if l.Event == "changed" {
		fmt.Fprintf(&b, "%s  %s: %s\n", l.Task, l.Kind, oneLine(strings.Join(l.Changes, ", ")))
	} else {
		fmt.Fprintf(&b, "%s  %s ended (%s)\n  %-11s %s: %s\n  %-11s %s\n  %-11s %s\n\n", l.Task, l.Kind, l.Why, "happened", l.Outcome.Kind, oneLine(l.Outcome.Detail),
			"reply", l.Reply.Text, "evidence", oneLine(l.Evidence))
	}
	_, err := fmt.Fprint(s.p.out, b.String())
	return err
}
