package game

// taskMutants break the clauses of behaviours and plans.
var taskMutants = []mutant{
	{"F1", "behavior/observer.go", `case companion.Process == target.Process:`, `case false:`, "./behavior TestPair"},
	{"F1", "behavior/observer.go", `case companion.Mode != game.Remote || target.Mode != game.Remote:`, `case false:`, "./behavior TestPair"},
	{"F2", "behavior/controller.go", `case kind != Build && used >= c.opt.Directives:`, `case kind != Build && used >= 2*c.opt.Directives:`, "./behavior TestDirectives"},
	{"F2", "behavior/run.go", `t.due.Reset(max(cadence, MinCadence))`, `t.due.Reset(cadence - 1)`, "./behavior TestCadence"},
	{"F2", "behavior/idle.go", `return max(1, min(MaxTicks, `, `return max(1, min(10*MaxTicks, `, "./behavior TestDirectives"},
	{"F2", "behavior/controller.go", `min(work.Span(), MaxSpan)`, `work.Span()`, "./behavior TestDirectives"},
	{"F3", "behavior/follow.go", `if !(d > Deadband) || math.IsInf(d, 0) {`, `if math.IsInf(d, 0) {`, "./behavior TestWaypoint"},
	{"F3", "behavior/follow.go", `n := min(MaxSegment-0.02, d-Approach+horizon.StopRadius)`, `n := min(MaxSegment+0.5, d-Approach+horizon.StopRadius)`, "./behavior TestWaypoint"},
	{"F4", "behavior/follow.go", `case age > Fresh:`, `case false:`, "./behavior TestFreshness"},
	{"F4", "behavior/follow.go", `case !t.Valid() || s.Gen != t.Gen:`, `case s.Gen != t.Gen:`, "./behavior TestNothingGoes"},
	{"F4", "behavior/follow.go", `context.WithDeadlineCause(ctx, life, errOutlived)`, `context.WithDeadlineCause(ctx, life.Add(time.Hour), errOutlived)`, "./behavior TestDeadlineWatcher"},
	{"F4", "behavior/follow.go", `case w.theirs > 0 && theirs < w.theirs:`, `case false:`, "./behavior TestWhatEndsFollowing"},
	{"F5", "behavior/follow.go", `if !(progress >= LeastProgress) {`, `if false {`, "./behavior TestProgress"},
	{"F5", "behavior/follow.go", `case took > Fresh:`, `case took > time.Hour:`, "./behavior TestProgress"},
	{"F6", "behavior/observer.go", `context.WithTimeout(context.WithoutCancel(ctx), 2*o.binding.Timeout)`, `context.WithTimeout(ctx, 2*o.binding.Timeout)`, "./behavior TestOwnedRead"},
	{"F6", "behavior/observer.go", `	o.retired = &RetiredError{err}
`, ``, "./behavior TestOwnedRead"},
	{"F6", "behavior/observer.go", `return v.State.Name == o.binding.Name && v.Status.Server != nil`, `return v.Status.Server != nil`, "./behavior TestOwnedRead"},
	{"I1", "behavior/idle.go", `len(f.Changes) > 0 {`, `len(f.Changes) >= 0 {`, "./behavior TestIdleObserves"},
	{"I1", "behavior/idle.go", `err = w.person(v)`, `err = nil`, "./behavior TestIdleEnds"},
	{"I2", "behavior/idle.go", `	_, err := w.c.View(ctx)
	return err`, `	if w.c.Profile().Binding.Mode == game.SinglePlayerLab {
		return game.Refusal(game.NotPermitted, "not here")
	}
	_, err := w.c.View(ctx)
	return err`, "./behavior TestIdleObserves"},
	{"T1", "behavior/arbiter.go", `if a.armed && a.valid && a.pending && a.holder == nobody && !a.mic {`, `if a.armed && a.valid && a.pending && !a.mic {`, "./behavior TestEveryInterleaving"},
	{"T1", "behavior/arbiter.go", `a.holder, a.stopping, a.replied, a.pending = tick, false, false, false`, `a.holder, a.stopping, a.replied = tick, false, false`, "./behavior TestEveryInterleaving"},
	{"T2", "behavior/arbiter.go", `	if a.holder != nobody {
		a.next = w
		return
	}
`, ``, "./behavior TestEveryInterleaving"},
	{"T2", "behavior/arbiter.go", `	a.void(why, out)
	if a.holder == tick {
		a.interrupt(out)
	}
`, `	if a.holder == tick {
		a.interrupt(out)
	}
	a.void(why, out)
`, "./behavior TestEveryInterleaving"},
	{"T2", "behavior/controller.go", `			if c.cancel != nil {
				c.cancel(ErrInterrupted)
			}
`, ``, "./behavior TestAFollowedSegmentYields"},
	{"T3", "behavior/arbiter.go", `a.replied, a.armed = true, false`, `a.replied = true`, "./behavior TestEveryInterleaving"},
	{"T3", "behavior/run.go", `if res.Outcome.Kind() == game.KindUnknown {`, `if false {`, "./behavior TestAFollowedSegmentYields"},
	{"B1", "build/plan.go", `*d.Digest != want {`, `false && *d.Digest != want {`, "./build TestPlanFaults"},
	{"B1", "build/claim.go", `os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW`, `os.O_WRONLY|os.O_CREATE|syscall.O_NOFOLLOW`, "./build TestClaim"},
	{"B1", "build/plan.go", `case p.Expires.After(now.Add(MaxLife)):`, `case false:`, "./build TestWhatAPlanFits"},
	{"B2", "build/plan.go", `case !profile.Policy.Permits(game.ActPlace):`, `case false:`, "./build TestWhatAPlanFits"},
	{"B2", "build/work.go", `if n := w.c.Remaining(); n < len(w.p.Cells) {`, `if n := w.c.Remaining(); n < 0 {`, "./build TestPlanIsRefused"},
	{"B3", "build/work.go", `case !below.Known || below.Block != Support:`, `case !below.Known:`, "./build TestPreflight"},
	{"B3", "build/work.go", `case bag.Offhand != nil || bag.Carried != nil:`, `case false:`, "./build TestPreflight"},
	{"B3", "build/work.go", `case held.Count < need:`, `case false:`, "./build TestPreflight"},
	{"B3", "build/work.go", `case !(horizon.Distance(eye, centre) <= Reach):`, `case false:`, "./build TestPreflight"},
	{"B4", "build/work.go", `case used != c.w.p.Mode.used() || !onlySelected(bag, after, used):`, `case false:`, "./build TestWhatEndsAPlan"},
	{"B4", "build/work.go", `	if r.Did == behavior.DidPlace {
`, `	if r.Outcome.Kind() == game.KindReported {
`, "./build TestWhatEndsAPlan"},
	{"B5", "build/work.go", `case target.Block != Air:
		return no`, `case target.Block != Air && target.Block != Material:
		return no`, "./build TestPreflight"},
	{"B5", "build/work.go", `	case errors.Is(err, ErrUsed):
		return game.Refusal(game.NotPermitted, "%s", ErrUsed)
`, `	case errors.Is(err, ErrUsed):
`, "./build TestBuildOneAndThree|TestStopAtEveryStep"},
	{"B6", "build/work.go", `.Sighted(before).Guarded(`, `.Guarded(`, "./build TestBuildOneAndThree"},
	{"B6", "build/work.go", `	c.f.Reads.Logical++
`, `	c.f.Reads.Logical += 2
`, "./build TestBuildOneAndThree"},
	{"B7", "behavior/arbiter.go", `if a.holder == tick && !e.More {`, `if false {`, "./behavior TestEveryInterleaving"},
	{"B8", "build/plan.go", `case b.Timeout < MinTimeout:`, `case false:`, "./build TestWhatAPlanFits"},
}
