package build_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"blockworld-voice/game"
	"blockworld-voice/game/behavior"
	"blockworld-voice/game/build"
	"blockworld-voice/game/lab"
	"blockworld-voice/game/taskrig"
	"blockworld-voice/grammar"
)

// The test program is also the lab and the driver that the ledger starts as children.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "lab" {
		os.Exit(lab.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) > 2 && os.Args[1] == "task-driver" {
		os.Exit(runDriver(os.Args[2]))
	}
	goleak.VerifyTestMain(m)
}

// site is a lab with a plan that fits it. The cells lie around the spawn, on stone.
type site struct {
	*taskrig.Rig
	plan build.Plan
	ctl  *behavior.Controller
}

var cells = [][3]int32{{2, 64, 0}, {2, 64, 1}, {2, 64, -1}}

func newSite(t *testing.T, o lab.Options, n int, change func(*game.Profile, *build.Plan)) *site {
	t.Helper()
	if o.Planks == 0 {
		o.Planks = 16
	}
	s := &site{plan: sample()}
	s.plan.Cells, s.plan.Mode = cells[:n], build.Survival
	if o.Creative {
		s.plan.Mode = build.Creative
	}
	s.plan.Expires = time.Now().Add(50 * time.Second).UTC().Truncate(time.Second)
	var session string
	s.Rig = taskrig.Solo(t, o, func(p *game.Profile) {
		session = build.SessionOf(*p)
		s.plan.Session = session
		if change != nil {
			change(p, &s.plan)
		}
	})
	for _, c := range cells {
		s.Bot.SetBlock(int(c[0]), int(c[1])-1, int(c[2]), build.Support)
	}
	b, err := s.plan.Document()
	if err != nil {
		t.Fatal(err)
	}
	if s.plan, err = build.Parse(b); err != nil {
		t.Fatal(err)
	}
	s.ctl = s.Controller(30*time.Second, map[behavior.Kind]func() (behavior.Work, error){behavior.Build: func() (behavior.Work, error) {
		return build.New(s.S, s.plan, func() error { return build.Claim(s.Profile.Workspace, s.plan.Digest, time.Now()) }, nil), nil
	}})
	s.Lines.Reset()
	return s
}

func bubble(t *testing.T, f func(*testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// build gives the order and waits for its end.
func (s *site) build(t *testing.T) taskrig.Kept {
	t.Helper()
	if out := s.ctl.Do(t.Context(), grammar.Build{}, nil); out.Kind() != game.KindReported {
		t.Fatalf("%+v", out)
	}
	if err := s.ctl.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return s.Keep.Last()
}

func (s *site) places() int { return len(s.Effects()) }

// admission is how many questions the acceptance of a plan takes.
const admission = 2

// One cell and three, in survival and in creative: what is seen, what is used up, and what is asked for it.
//
// contract: B2
// contract: B4
// contract: B6
func TestBuildOneAndThree(t *testing.T) {
	for _, creative := range []bool{false, true} {
		for _, n := range []int{1, 3} {
			t.Run(fmt.Sprintf("%d cells, creative %v", n, creative), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					s := newSite(t, lab.Options{Creative: creative}, n, nil)
					k := s.build(t)
					if r, ok := k.End.Result.(game.Reported); !ok || k.End.Why != behavior.WhyDone || k.End.Runs != n || k.End.Did[behavior.DidPlace] != n || r.Detail != fmt.Sprintf("%d of %d blocks were placed and seen", n, n) {
						t.Fatalf("%+v %v", k.End, k.Dids())
					}
					if s.places() != n || s.Lines.Count("place") != n || len(s.Keep.Attempts()) != n {
						t.Fatalf("%+v", s.Effects())
					}
					// 8 logical reads and 26 lines a cell, as recorded and as counted on the wire, plus admission.
					if got := s.Lines.Queries(); got != n*build.LinesPerCell+admission || k.End.Reads != (behavior.Reads{Logical: 8 * n, Physical: uint64(26 * n)}) {
						t.Fatalf("%d lines, %+v", got, k.End.Reads)
					}
					if s.Lines.Count() != s.Lines.Queries()+n {
						t.Fatal("something else was sent")
					}
					used := 1
					if creative {
						used = 0
					}
					left, err := s.S.Inventory(t.Context())
					if err != nil || left.Slots[0].Count != 16-n*used {
						t.Fatal(left, err)
					}
					for i, rec := range k.Records {
						if rec.Reads != (behavior.Reads{Logical: 8, Physical: 26}) || *rec.Cell != cells[i] || rec.Before != build.Air || rec.After != build.Material || *rec.Used != used || rec.Score != game.ScoreBuild || rec.ModelCalls != 0 {
							t.Fatalf("%+v", rec)
						}
					}
					runs := map[game.RunID]bool{}
					for i, a := range s.Keep.Attempts() {
						if runs[a.Run] || a.Run != k.Records[i].Run || a.Line != fmt.Sprintf("place %d %d %d", cells[i][0], cells[i][1], cells[i][2]) {
							t.Fatalf("%+v", a)
						}
						runs[a.Run] = true
					}
					s.Agree()
					// Once: the same bytes again are refused.
					out := s.ctl.Do(t.Context(), grammar.Build{}, nil)
					if r, ok := out.(game.Refused); !ok || r.Reason != game.NotPermitted || s.places() != n {
						t.Fatalf("%+v", out)
					}
				})
			})
		}
	}
}

// What the looks before a placement refuse. Nothing is sent, and the plan ends.
//
// contract: B3
// contract: B5
func TestPreflightRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		before func(*site)
		reason game.Reason
		early  bool // already when the plan is to be accepted
	}{
		{"planks are there already", func(s *site) { s.Bot.SetBlock(2, 64, 0, build.Material) }, game.NotPermitted, false},
		{"another block is there", func(s *site) { s.Bot.SetBlock(2, 64, 0, "minecraft:cobblestone") }, game.NotPermitted, false},
		{"another kind of air", func(s *site) { s.Bot.SetBlock(2, 64, 0, "minecraft:cave_air") }, game.NotPermitted, false},
		{"grass below", func(s *site) { s.Bot.SetBlock(2, 63, 0, "minecraft:grass_block") }, game.NotPermitted, false},
		{"nothing below", func(s *site) { s.Bot.SetBlock(2, 63, 0, build.Air) }, game.NotPermitted, false},
		{"the wrong slot", func(s *site) { s.Bot.Select(3) }, game.NotPermitted, false},
		{"other planks", func(s *site) { s.Bot.Give(0, "minecraft:birch_planks", 9) }, game.NotPermitted, false},
		{"not enough for all cells", func(s *site) { s.Bot.Give(0, build.Material, 2) }, game.NotPermitted, false},
		{"something in the offhand", func(s *site) { s.Bot.Give(-1, "minecraft:shield", 1) }, game.NotPermitted, false},
		{"something on the cursor", func(s *site) { s.Bot.Give(-2, build.Material, 1) }, game.NotPermitted, false},
		{"out of reach", func(s *site) { s.Bot.Teleport(-2.5, 64, 0.5) }, game.TooFar, false},
		{"standing in the cell", func(s *site) { s.Bot.Teleport(2.5, 64, 0.5) }, game.NotPermitted, false},
		{"dead", func(s *site) { s.Bot.Hurt(20) }, game.NotBound, true},
		{"a person at the keys", func(s *site) { s.Bot.UserInput() }, game.Disarmed, true},
		{"another world", func(s *site) { s.Bot.Rename("elsewhere") }, game.NotBound, true},
		{"another dimension", func(s *site) { s.Bot.Travel("minecraft:the_nether") }, game.NotBound, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newSite(t, lab.Options{}, 3, nil)
				c.before(s)
				if c.early {
					if r, ok := s.ctl.Do(t.Context(), grammar.Build{}, nil).(game.Refused); !ok || r.Reason != c.reason {
						t.Fatalf("%+v", r)
					}
				} else {
					k := s.build(t)
					if r, ok := k.End.Result.(game.Refused); !ok || r.Reason != c.reason || k.End.Runs != 1 || k.Dids()[0] != behavior.DidRefuse {
						t.Fatalf("%+v", k.End)
					}
				}
				if s.places() != 0 || s.Lines.Count("place") != 0 || len(s.Keep.Attempts()) != 0 {
					t.Fatal("something was sent")
				}
			})
		})
	}
}

// What refuses a whole plan before its first cell.
//
// contract: B1
// contract: B2
// contract: B8
func TestPlanIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		o      lab.Options
		change func(*game.Profile, *build.Plan)
		reason game.Reason
	}{
		"the wrong game mode":    {change: func(_ *game.Profile, p *build.Plan) { p.Mode = build.Creative }, reason: game.NotBound},
		"a short timeout":        {change: func(g *game.Profile, _ *build.Plan) { g.Binding.Timeout = 5 * time.Second }, reason: game.NotPermitted},
		"place isn't permitted":  {change: func(g *game.Profile, _ *build.Plan) { g.Policy.Actions = []game.Action{game.ActFollow} }, reason: game.NotPermitted},
		"two actions for three":  {change: func(g *game.Profile, _ *build.Plan) { g.Policy.MaxActions = 2 }, reason: game.Budget},
		"expired":                {change: func(_ *game.Profile, p *build.Plan) { p.Expires = p.Expires.Add(-time.Minute) }, reason: game.Expired},
		"too long a life":        {change: func(_ *game.Profile, p *build.Plan) { p.Expires = p.Expires.Add(11 * time.Second) }, reason: game.NotPermitted},
		"another session's plan": {change: func(_ *game.Profile, p *build.Plan) { p.Session = sample().Session }, reason: game.NotPermitted},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newSite(t, c.o, 3, c.change)
				out := s.ctl.Do(t.Context(), grammar.Build{}, nil)
				if r, ok := out.(game.Refused); !ok || r.Reason != c.reason || len(s.Keep.All()) != 0 || s.Lines.Count("place") != 0 {
					t.Fatalf("%+v", out)
				}
			})
		})
	}
}

// The last slots of the shared budget are enough for a plan, and then there is none left for anybody.
//
// contract: B2
func TestTheLastSharedSlot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newSite(t, lab.Options{}, 1, func(g *game.Profile, _ *build.Plan) { g.Policy.MaxActions = 2 })
		if out := s.ctl.Do(t.Context(), grammar.Say{Text: "ahoj"}, s.Rec); out.Kind() != game.KindReported {
			t.Fatal(out)
		}
		if k := s.build(t); k.End.Result.Kind() != game.KindReported {
			t.Fatalf("%+v", k.End)
		}
		if r, ok := s.ctl.Do(t.Context(), grammar.Say{Text: "znova"}, s.Rec).(game.Refused); !ok || r.Reason != game.Budget {
			t.Fatalf("%+v", r)
		}
		s.Agree()
	})
}

// What goes wrong with a placement, and what is said about it. Nothing is tried again and the cursor doesn't move.
//
// contract: B4
// contract: B5
// contract: S6
func TestWhatEndsAPlan(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault lab.Fault
		on    func(s *site, word string, n int)
		did   behavior.Did
		runs  int
		kind  game.OutcomeKind // of the cell
		all   game.OutcomeKind // of the plan
		put   int              // blocks of ours
		after string
	}{
		{name: "ok without the block", fault: lab.Fault{Kind: lab.NoBlock, Word: "place", N: 2}, did: behavior.DidDiffer, runs: 2, kind: game.KindReported, all: game.KindCancelled, put: 1, after: build.Air},
		{name: "a block by somebody else between the click and its answer", fault: lab.Fault{Kind: lab.BlockByOther, Word: "place", N: 1}, did: behavior.DidDiffer, runs: 1, kind: game.KindReported, all: game.KindCancelled, after: "minecraft:cobblestone"},
		{name: "filled between the two preflights", on: at("block", 3, func(s *site) { s.Bot.SetBlock(2, 64, 0, build.Material) }), did: behavior.DidRefuse, runs: 1, kind: game.KindRefused, all: game.KindRefused},
		{name: "filled between preflight and click", on: at("place", 1, func(s *site) { s.Bot.SetBlock(2, 64, 0, build.Material) }), did: behavior.DidCancel, runs: 1, kind: game.KindCancelled, all: game.KindCancelled, after: build.Material},
		{name: "the slot changes before the click", on: at("place", 2, func(s *site) { s.Bot.Select(5) }), did: behavior.DidCancel, runs: 2, kind: game.KindCancelled, all: game.KindCancelled, put: 1, after: build.Air},
		{name: "an item is taken away meanwhile", on: at("inventory", 3, func(s *site) { s.Bot.Give(0, build.Material, 7) }), did: behavior.DidDiffer, runs: 1, kind: game.KindReported, all: game.KindCancelled, put: 1, after: build.Material},
		{name: "an item comes meanwhile", on: at("inventory", 3, func(s *site) { s.Bot.Give(7, "minecraft:stone", 1) }), did: behavior.DidDiffer, runs: 1, kind: game.KindReported, all: game.KindCancelled, put: 1, after: build.Material},
		{name: "the look afterwards fails", fault: lab.Fault{Kind: lab.WrongType, Word: "block", N: 5}, did: behavior.DidUnverified, runs: 1, kind: game.KindReported, all: game.KindCancelled, put: 1},
		{name: "the reply is lost", fault: lab.Fault{Kind: lab.DisconnectAfter, Word: "place", N: 2}, did: behavior.DidNotKnow, runs: 2, kind: game.KindUnknown, all: game.KindUnknown, put: 2},
		{name: "the client is busy", fault: lab.Fault{Kind: lab.Busy, Word: "place", N: 1}, did: behavior.DidRefuse, runs: 1, kind: game.KindRefused, all: game.KindRefused},
		{name: "a person takes over", on: at("place", 1, func(s *site) { s.Bot.UserInput() }), did: behavior.DidDiffer, runs: 1, kind: game.KindReported, all: game.KindCancelled, put: 1, after: build.Material},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				o := lab.Options{}
				if c.fault.Kind != "" {
					o.Faults = []lab.Fault{c.fault}
				}
				s := newSite(t, o, 3, nil)
				var mu sync.Mutex
				seen := map[string]int{}
				s.Lines.On(func(_ int, word string) {
					mu.Lock()
					seen[word]++
					n := seen[word]
					mu.Unlock()
					if c.on != nil {
						c.on(s, word, n)
					}
				})
				k := s.build(t)
				last := k.Records[len(k.Records)-1]
				if last.Did != c.did || k.End.Runs != c.runs || last.Outcome != c.kind || k.End.Result.Kind() != c.all || last.After != c.after {
					t.Fatalf("%v %+v\n%+v", k.Dids(), k.End, last)
				}
				if s.Lines.Count("place") != len(s.Keep.Attempts()) || s.places() != c.put || s.Lines.Count("place") > c.runs {
					t.Fatalf("%d lines, %+v", s.Lines.Count("place"), s.Effects())
				}
				slow := last.Did == behavior.DidCancel // the game's five seconds: watched, and that is counted apart
				if q := last.Reads; q.Logical > build.ReadsPerCell || q.Physical-q.Watched > build.LinesPerCell+2 || (q.Watched > 0) != slow {
					t.Fatalf("%+v", q)
				}
				s.Agree()
				lines := s.Lines.Count("place")
				time.Sleep(30 * time.Second)
				if out := s.ctl.Do(t.Context(), grammar.Build{}, nil); out.Kind() != game.KindRefused || s.Lines.Count("place") != lines {
					t.Fatalf("the plan was taken up again: %+v", out)
				}
			})
		})
	}
}

// at calls f right before the n-th line of a word.
func at(word string, n int, f func(*site)) func(*site, string, int) {
	return func(s *site, w string, i int) {
		if w == word && i == n {
			f(s)
		}
	}
}

// The plan is stopped, and a capture begins, right before every single line that it sends. Whatever was reached is
// settled and recorded, no later cell is begun, and nothing is taken up again.
//
// contract: B5
// contract: B6
// contract: B7
// contract: X1
// contract: T2
func TestStopAtEveryStep(t *testing.T) {
	total := 3*(build.LinesPerCell+1) + admission
	for _, how := range []string{"stop", "capture", "command"} {
		for step := admission + 1; step <= total+1; step++ {
			bubble(t, func(t *testing.T) {
				s := newSite(t, lab.Options{}, 3, nil)
				var once atomic.Bool
				settled := make(chan game.Outcome, 1)
				interrupt := func() {
					var out game.Outcome
					switch how {
					case "stop":
						out = s.ctl.Do(t.Context(), grammar.Stop{}, nil)
					case "capture":
						release, _, err := s.ctl.Capture(t.Context())
						var bad *behavior.RefusedError
						if out = (game.Reported{}); errors.As(err, &bad) {
							out = bad.Refused
						}
						if v, err := s.S.View(t.Context()); err == nil && v.State.Action != "" {
							t.Errorf("step %d: the microphone opens while the client acts", step)
						}
						release()
					case "command":
						out = s.ctl.Do(t.Context(), grammar.StateQuery{}, s.Rec)
					}
					settled <- out
				}
				s.Lines.On(func(n int, word string) {
					if n == step && once.CompareAndSwap(false, true) {
						go interrupt()
						// The interruption is there before the line; the clock stands still meanwhile.
						for _, active := s.ctl.Active(); active; _, active = s.ctl.Active() {
							runtime.Gosched()
						}
					}
				})
				k := s.build(t)
				if step > total { // after the end
					once.Store(true)
					interrupt()
				}
				out := <-settled
				if _, bad := out.(game.Refused); bad && how != "stop" || out.Kind() == game.KindUnknown {
					t.Fatalf("%s at step %d: %+v", how, step, out)
				}
				placed := k.End.Did[behavior.DidPlace]
				full := (step - admission - 1) / (build.LinesPerCell + 1) // cells that were complete before
				if placed < full || placed > full+1 || k.End.Runs > full+1 || s.places() > full+1 || s.places() < placed {
					t.Fatalf("%s at step %d: %d placed, %d in the journal, %d runs, %v", how, step, placed, s.places(), k.End.Runs, k.Dids())
				}
				if placed == 3 != (k.End.Result.Kind() == game.KindReported) {
					t.Fatalf("%s at step %d: %+v", how, step, k.End)
				}
				// What stands there and was not credited is in the record of its cell.
				if s.places() > placed {
					if last := k.Records[len(k.Records)-1]; last.After != build.Material && last.Did != behavior.DidUnverified {
						t.Fatalf("%s at step %d: a block that no record knows: %+v", how, step, last)
					}
				}
				if strings.Contains(k.End.Result.Say(), "undone") && !strings.Contains(k.End.Result.Say(), "not undone") {
					t.Fatal(k.End.Result.Say())
				}
				s.Agree()
				before := s.Lines.Count("place")
				time.Sleep(20 * time.Second)
				if out := s.ctl.Do(t.Context(), grammar.Build{}, nil); out.Kind() != game.KindRefused || s.Lines.Count("place") != before {
					t.Fatalf("%s at step %d: taken up again: %+v", how, step, out)
				}
			})
		}
	}
}

// The plan's time is over between two cells, and in the middle of one.
//
// contract: B1
func TestThePlansTimeIsOver(t *testing.T) {
	for _, left := range []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, 400 * time.Millisecond} {
		bubble(t, func(t *testing.T) {
			s := newSite(t, lab.Options{}, 3, nil)
			time.Sleep(time.Until(s.plan.Expires) - left)
			k := s.build(t)
			if k.End.Result.Kind() != game.KindCancelled || k.End.Why != behavior.WhyDeadline || s.places() > 2 || k.End.Did[behavior.DidPlace] > 1 {
				t.Fatalf("%v: %+v %v", left, k.End, k.Dids())
			}
			if now := time.Now(); now.After(s.plan.Expires.Add(time.Second)) {
				t.Fatal(now)
			}
			s.Agree()
		})
	}
}

// Placing is no command: not in the grammar, not in a text.
//
// contract: B2
func TestPlaceIsNoInstruction(t *testing.T) {
	if slices.ContainsFunc(grammar.Kinds(), func(k grammar.Kind) bool { return k.String() == "place" }) {
		t.Fatal("there is a command to place")
	}
	for _, text := range []string{"place 2 64 0", "polož 2 64 0", "build 2 64 0", "build approved plan 2 64 0", "postav schválený plán 2", "build plan", "build"} {
		if a, ok := grammar.Parse(text).(grammar.Accepted); ok {
			t.Errorf("%q is %v", text, a.Command)
		}
	}
}
