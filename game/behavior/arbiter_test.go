package behavior

import (
	"fmt"
	"testing"
)

// world is what an onlooker knows who sees only events and decisions: the contract in other words than the arbiter's.
type world struct {
	out      int // runs that were started and whose record isn't complete
	outRun   RunNo
	outTick  bool
	replied  bool // the outcome of that run is known
	told     bool // it was told to end
	proved   bool // its reply allows another run
	ticks    int  // ticks of this generation that were started
	asked    int  // ticks that were asked for since the last one started, at most 2
	gen      Generation
	kind     Kind
	live     bool // the generation was not invalidated
	ended    bool // and is over
	lost     bool // an outcome was unknown
	halted   bool
	mic      bool
	waits    bool // a request was neither granted nor turned away
	lastGood bool // the last run of this generation was complete and allows another
}

// see holds a step against the clauses. It returns what is broken.
func (w world) see(e Event, ds []Decision) (world, error) {
	bad := func(clause, format string, args ...any) (world, error) {
		return w, fmt.Errorf("%s: %s", clause, fmt.Sprintf(format, args...))
	}
	request := false
	invalid, contained := false, false
	switch e := e.(type) {
	case TickDue:
		if e.Gen == w.gen && w.live {
			w.asked = min(w.asked+1, 2)
		}
	case Command, Begin, CaptureStart:
		request = true
	case CaptureEnd:
		w.mic = false
	case Withdraw:
		w.waits = false
	case Halt:
		w.halted = true
	case Replied:
		if w.out == 1 && e.Run == w.outRun && !w.replied {
			w.replied, w.proved = true, e.More
		}
	case Lost:
		if w.out == 1 && e.Run == w.outRun && !w.replied {
			w.replied, w.proved, w.lost = true, false, true
		}
	case Closed:
		if w.out == 1 && e.Run == w.outRun && w.replied {
			w.out = 0
			w.lastGood = w.outTick && w.proved && !w.told
		}
	case Expire:
	}
	if request && !w.waits {
		w.waits = true
		request = false
	}
	before := w.live
	for _, d := range ds {
		switch d := d.(type) {
		case StartTick:
			switch {
			case w.out != 0:
				return bad("T1", "a second run owns the client")
			case w.lost || w.halted:
				return bad("T3", "a run after the controller was disarmed")
			case d.Gen != w.gen || !w.live:
				return bad("T2", "a run of a generation without authority")
			case w.asked == 0:
				return bad("T1", "a run that nobody asked for")
			case w.mic:
				return bad("T2", "a run while the microphone is open")
			case w.kind == Build && w.ticks > 0 && !w.lastGood:
				return bad("B7", "a cell after one that isn't done with a known result")
			}
			w.out, w.outRun, w.outTick, w.replied, w.told, w.proved = 1, d.Run, true, false, false, false
			w.ticks, w.asked = w.ticks+1, 0
		case StartCommand:
			switch {
			case w.out != 0:
				return bad("S1", "a command while another run owns the client")
			case w.lost || w.halted:
				return bad("X1", "a command after the controller was disarmed")
			case !w.waits:
				return bad("S1", "a command that was not given, or given once and started twice")
			case w.live || w.mic:
				return bad("T2", "a command beside a behaviour or an open microphone")
			}
			w.out, w.outRun, w.outTick, w.replied, w.told, w.waits = 1, d.Run, false, false, false, false
		case StartTask:
			switch {
			case w.out != 0 || w.live || !w.ended && w.gen != 0:
				return bad("T2", "a behaviour beside another one")
			case w.lost || w.halted || !w.waits || w.mic:
				return bad("T3", "a behaviour that can't be admitted")
			case d.Gen <= w.gen:
				return bad("T2", "a generation that was there before")
			}
			w.gen, w.kind, w.live, w.ended, w.waits, w.ticks, w.asked, w.lastGood = d.Gen, d.Kind, true, false, false, 0, 0, false
		case OpenMicrophone:
			switch {
			case w.out != 0 || w.live:
				return bad("T2", "the microphone opens before the behaviour is settled")
			case w.lost || w.halted || !w.waits || w.mic:
				return bad("T2", "the microphone opens unasked")
			}
			w.mic, w.waits = true, false
		case Invalidate:
			if d.Gen != w.gen || !w.live {
				return bad("T2", "a generation loses its authority twice")
			}
			w.live, invalid = false, true
		case Interrupt:
			if w.out != 1 || d.Run != w.outRun || w.told {
				return bad("X1", "an interruption of no run")
			}
			if w.outTick && w.live {
				return bad("T2", "interrupted before the generation was invalidated")
			}
			w.told = true
		case EndTask:
			if w.live || w.ended || d.Gen != w.gen || w.out != 0 && w.outTick {
				return bad("T2", "a behaviour ends before its run is settled")
			}
			w.ended = true
		case Refuse:
			if request {
				request = false // the one that came beside another that waits
			} else if w.waits {
				w.waits = false
			} else {
				return bad("T1", "a refusal of nothing")
			}
		case Disarm:
			if !w.lost && !w.halted {
				return bad("T3", "disarmed without a reason")
			}
		case Contain:
			contained = true
		}
	}
	switch e.(type) {
	case Halt:
		if !contained {
			return bad("X1", "a stop that stops nothing")
		}
		if w.out == 1 && !w.told {
			return bad("X1", "a stop without an interruption of the run")
		}
	case Lost:
		if w.lost && w.live {
			return bad("T3", "an unknown outcome leaves a behaviour its authority")
		}
	case Command, Begin, CaptureStart:
		if before && !w.halted && !w.lost && !w.mic && !invalid && w.live && w.ticks > 0 {
			return bad("T2", "the operator's request leaves the behaviour its authority")
		}
	case TickDue, CaptureEnd, Withdraw, Replied, Closed, Expire:
	}
	if request {
		return bad("T1", "a request without an answer")
	}
	return w, nil
}

type node struct {
	a Arbiter
	w world
}

// events is everything that can happen, sensible or not.
func events(a Arbiter) []Event {
	out := []Event{TickDue{a.gen}, Command{}, Begin{Build, 3}, Begin{Follow, 2}, CaptureStart{}, CaptureEnd{}, Withdraw{}, Halt{},
		Replied{a.run, true}, Replied{a.run, false}, Lost{a.run}, Closed{a.run}, Expire{a.gen}}
	if a.gen > 1 {
		out = append(out, TickDue{a.gen - 1}, Expire{a.gen - 1})
	}
	if a.run > 1 { // a late reply of a run that is settled
		out = append(out, Replied{a.run - 1, true}, Lost{a.run - 1}, Closed{a.run - 1})
	}
	return out
}

// depth is how many events an interleaving has.
const depth = 10

// Every interleaving of the events, sensible or not, to the depth. Histories that lead to the same state and the same
// knowledge of an onlooker are followed once: what comes after is the same.
//
// contract: T1
// contract: T2
// contract: T3
// contract: S1
// contract: X1
// contract: B7
func TestEveryInterleaving(t *testing.T) {
	seen := map[node]bool{}
	paths := map[node]float64{{a: NewArbiter()}: 1}
	steps, histories := 0, 0.0
	for d := range depth {
		next := map[node]float64{}
		for n, ways := range paths {
			for _, e := range events(n.a) {
				steps++
				a, ds := n.a.Step(e)
				w, err := n.w.see(e, ds)
				if err != nil {
					t.Fatalf("after %d events: %v\nstate %+v\nknown %+v\nevent %T%+v\ndecisions %#v", d+1, err, n.a, n.w, e, e, ds)
				}
				if w.lost || w.halted {
					if a.Armed() || a.Valid(a.gen) {
						t.Fatalf("T3: armed after %T: %+v", e, a)
					}
				}
				m := node{a, w}
				next[m] += ways
				seen[m] = true
			}
		}
		paths = next
		histories = 0
		for _, ways := range paths {
			histories += ways
		}
	}
	t.Logf("%.3g interleavings of %d events, %d states, %d steps", histories, depth, len(seen), steps)
	if histories < 1e8 || len(seen) < 1000 {
		t.Fatal("far fewer than there are")
	}
}

// What a behaviour needs to get on is possible: the rules above would also hold for an arbiter that does nothing.
//
// contract: T1
// contract: B7
func TestTheOrdinaryCourse(t *testing.T) {
	a := NewArbiter()
	do := func(e Event, want ...Decision) {
		t.Helper()
		var got []Decision
		if a, got = a.Step(e); fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", append([]Decision(nil), want...)) {
			t.Fatalf("%#v: %#v, want %#v", e, got, want)
		}
	}
	do(Begin{Build, 3}, StartTask{1, Build})
	do(TickDue{1}, StartTick{1, 1})
	do(TickDue{1}) // asked for again and again while one runs: one follows
	do(TickDue{1})
	do(Replied{1, true})
	do(Closed{1}, StartTick{2, 1})
	do(Closed{2}) // not known yet
	do(Replied{2, true})
	do(Replied{1, true})
	do(Closed{2})
	do(TickDue{1}, StartTick{3, 1})
	do(Replied{3, true})
	do(Closed{3}, Invalidate{1}, EndTask{1, WhyDone})
	do(Command{}, StartCommand{4})
	do(CaptureStart{}, Refuse{})
	do(Replied{4, false})
	do(Closed{4})
	do(Begin{Follow, 60}, StartTask{2, Follow})
	do(TickDue{2}, StartTick{5, 2})
	do(CaptureStart{}, Invalidate{2}, Interrupt{5})
	do(Command{}, Refuse{})
	do(Replied{5, true})
	do(TickDue{2})
	do(Closed{5}, EndTask{2, WhyCapture}, OpenMicrophone{})
	do(Command{}, Refuse{})
	do(CaptureEnd{})
	do(Begin{Idle, 60}, StartTask{3, Idle})
	do(Expire{2})
	do(Expire{3}, Invalidate{3}, EndTask{3, WhyDeadline})
	do(Begin{Build, 1}, StartTask{4, Build})
	do(TickDue{4}, StartTick{6, 4})
	do(Lost{6}, Invalidate{4}, Disarm{})
	do(Replied{6, true})
	do(Closed{6}, EndTask{4, WhyUnknown})
	do(Command{}, Refuse{Disarmed: true})
	do(Halt{}, Disarm{}, Contain{})
}
