package behavior

import "fmt"

// Kind is a behaviour. The zero value is none.
type Kind uint8

const (
	Idle Kind = iota + 1
	Follow
	Build
)

var kindNames = [...]string{Idle: "idle", Follow: "follow", Build: "build"}

// String is the name in records.
func (k Kind) String() string {
	if k != 0 && int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("behaviour(%d)", uint8(k))
}

// MarshalText writes the name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a name.
func (k *Kind) UnmarshalText(b []byte) error {
	for i, n := range kindNames {
		if n != "" && n == string(b) {
			*k = Kind(i)
			return nil
		}
	}
	return fmt.Errorf("there is no behaviour %q", b)
}

// Generation numbers the behaviours of a session. What belongs to an earlier one has no authority.
type Generation uint64

// RunNo numbers the runs that owned the client.
type RunNo uint64

// Why says what ended a behaviour. The zero value is no end.
type Why uint8

const (
	WhyDone     Why = iota + 1 // its own last run was its end, or all runs are used
	WhyReplaced                // an operator's command came
	WhyCapture                 // a capture is to begin
	WhyStopped                 // the session was stopped
	WhyDeadline                // its time is over
	WhyUnknown                 // an outcome is unknown
)

var whyNames = [...]string{WhyDone: "done", WhyReplaced: "replaced", WhyCapture: "capture", WhyStopped: "stopped", WhyDeadline: "deadline", WhyUnknown: "unknown"}

// String is the name in records.
func (w Why) String() string {
	if w != 0 && int(w) < len(whyNames) {
		return whyNames[w]
	}
	return fmt.Sprintf("why(%d)", uint8(w))
}

// MarshalText writes the name.
func (w Why) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// Event is what the arbiter is told.
type Event interface{ event() }

type (
	// TickDue: the clock of a behaviour asks for its next run.
	TickDue struct{ Gen Generation }
	// Command: the operator gave a single action or a question.
	Command struct{}
	// Begin: the operator asked for a behaviour of at most Runs runs.
	Begin struct {
		Kind Kind
		Runs int
	}
	// CaptureStart: a person's gesture asks for the microphone.
	CaptureStart struct{}
	// CaptureEnd: the microphone is closed.
	CaptureEnd struct{}
	// Withdraw: who waits to be admitted waits no more.
	Withdraw struct{}
	// Halt: the session is stopped.
	Halt struct{}
	// Replied: the outcome of a run is known. More says that another run of its behaviour may follow.
	Replied struct {
		Run  RunNo
		More bool
	}
	// Lost: the outcome of a run can't be known.
	Lost struct{ Run RunNo }
	// Closed: the record of a run is complete.
	Closed struct{ Run RunNo }
	// Expire: the time of a behaviour is over.
	Expire struct{ Gen Generation }
)

func (TickDue) event()      {}
func (Command) event()      {}
func (Begin) event()        {}
func (CaptureStart) event() {}
func (CaptureEnd) event()   {}
func (Withdraw) event()     {}
func (Halt) event()         {}
func (Replied) event()      {}
func (Lost) event()         {}
func (Closed) event()       {}
func (Expire) event()       {}

// Decision is what the arbiter wants done. Decisions of one step are carried out in their order.
type Decision interface{ decision() }

type (
	// Invalidate: from now on nothing of this generation may be sent.
	Invalidate struct{ Gen Generation }
	// Interrupt: the run that owns the client is to be cancelled and settled.
	Interrupt struct{ Run RunNo }
	// StartTick: a run of a behaviour owns the client.
	StartTick struct {
		Run RunNo
		Gen Generation
	}
	// StartCommand: the operator's command owns the client.
	StartCommand struct{ Run RunNo }
	// StartTask: a behaviour is admitted. Its first tick is still to be asked for.
	StartTask struct {
		Gen  Generation
		Kind Kind
	}
	// EndTask: a behaviour is over and its last run settled.
	EndTask struct {
		Gen Generation
		Why Why
	}
	// OpenMicrophone: the capture may begin.
	OpenMicrophone struct{}
	// Refuse: the request that came last, or that waited, isn't admitted.
	Refuse struct{ Disarmed bool } // else busy
	// Disarm: nothing is sent any more.
	Disarm struct{}
	// Contain: the client is to be stopped over a connection of its own, whatever else waits.
	Contain struct{}
)

func (Invalidate) decision()     {}
func (Interrupt) decision()      {}
func (StartTick) decision()      {}
func (StartCommand) decision()   {}
func (StartTask) decision()      {}
func (EndTask) decision()        {}
func (OpenMicrophone) decision() {}
func (Refuse) decision()         {}
func (Disarm) decision()         {}
func (Contain) decision()        {}

// holder is who owns the client.
type holder uint8

const (
	nobody holder = iota
	tick
	command
)

// waiter is what waits to be admitted when the client is free. There is room for one.
type waiter struct {
	what  waiting
	begin Begin
}

type waiting uint8

const (
	forNothing waiting = iota
	forCommand
	forBehaviour
	forCapture
)

// Arbiter admits runs to the one client. The zero value is disarmed; NewArbiter makes one. It is a value: Step
// returns the next one.
type Arbiter struct {
	armed bool
	mic   bool

	gen     Generation
	kind    Kind // of the behaviour that isn't over yet
	valid   bool // it may still have runs
	why     Why  // why it is not valid
	left    int  // runs that it may still have
	pending bool // a tick was asked for; more requests add nothing

	run      RunNo // the last that was started
	holder   holder
	stopping bool // the holder was told to end
	replied  bool // its outcome is known

	next waiter
}

// NewArbiter returns an armed arbiter of a free client.
func NewArbiter() Arbiter { return Arbiter{armed: true} }

// Armed says whether anything may still be sent.
func (a Arbiter) Armed() bool { return a.armed }

// Valid says whether a generation still has authority. It is asked right before bytes are sent.
func (a Arbiter) Valid(g Generation) bool {
	return a.armed && a.valid && a.gen == g && !a.stopping
}

// Step takes an event in.
func (a Arbiter) Step(e Event) (Arbiter, []Decision) {
	var out []Decision
	switch e := e.(type) {
	case TickDue:
		if a.valid && e.Gen == a.gen && a.left > 0 {
			a.pending = true
			a.tick(&out)
		}
	case Command:
		a.request(waiter{what: forCommand}, WhyReplaced, &out)
	case Begin:
		a.request(waiter{what: forBehaviour, begin: e}, WhyReplaced, &out)
	case CaptureStart:
		a.request(waiter{what: forCapture}, WhyCapture, &out)
	case CaptureEnd:
		a.mic = false
	case Withdraw:
		a.next = waiter{}
	case Halt:
		a.armed = false
		a.invalidate(WhyStopped, &out)
		a.interrupt(&out)
		a.turnAway(&out)
		out = append(out, Disarm{}, Contain{})
	case Replied:
		if a.owns(e.Run) && !a.replied {
			a.replied = true
			if a.holder == tick && !e.More {
				a.void(WhyDone, &out)
			}
		}
	case Lost:
		if a.owns(e.Run) && !a.replied {
			a.replied, a.armed = true, false
			a.void(WhyUnknown, &out)
			a.turnAway(&out)
			out = append(out, Disarm{})
		}
	case Closed:
		if a.owns(e.Run) && a.replied {
			a.free(&out)
		}
	case Expire:
		if a.valid && e.Gen == a.gen {
			a.invalidate(WhyDeadline, &out)
		}
	}
	return a, out
}

func (a *Arbiter) owns(r RunNo) bool { return a.holder != nobody && a.run == r }

// request admits something at once, lets it wait for the run under way, or turns it away. Whatever behaviour there
// is loses its authority first.
func (a *Arbiter) request(w waiter, why Why, out *[]Decision) {
	switch {
	case !a.armed:
		*out = append(*out, Refuse{Disarmed: true})
		return
	case a.mic || a.next.what != forNothing || a.holder == command:
		*out = append(*out, Refuse{})
		return
	}
	a.invalidate(why, out)
	if a.holder != nobody {
		a.next = w
		return
	}
	a.grant(w, out)
}

// void takes a behaviour's authority away.
func (a *Arbiter) void(why Why, out *[]Decision) {
	if a.valid {
		a.valid, a.pending, a.why = false, false, why
		*out = append(*out, Invalidate{a.gen})
	}
}

// invalidate is void, and then the run under way is interrupted; a behaviour without one is over.
func (a *Arbiter) invalidate(why Why, out *[]Decision) {
	a.void(why, out)
	if a.holder == tick {
		a.interrupt(out)
	}
	if a.holder == nobody {
		a.over(out)
	}
}

func (a *Arbiter) interrupt(out *[]Decision) {
	if a.holder != nobody && !a.stopping {
		a.stopping = true
		*out = append(*out, Interrupt{a.run})
	}
}

// over ends a behaviour that has no authority and no run.
func (a *Arbiter) over(out *[]Decision) {
	if a.kind != 0 && !a.valid {
		a.kind = 0
		*out = append(*out, EndTask{a.gen, a.why})
	}
}

func (a *Arbiter) turnAway(out *[]Decision) {
	if a.next.what != forNothing {
		a.next = waiter{}
		*out = append(*out, Refuse{Disarmed: true})
	}
}

// grant hands the free client over.
func (a *Arbiter) grant(w waiter, out *[]Decision) {
	switch w.what {
	case forCommand:
		a.run++
		a.holder, a.stopping, a.replied = command, false, false
		*out = append(*out, StartCommand{a.run})
	case forBehaviour:
		a.gen++
		a.kind, a.valid, a.why, a.left, a.pending = w.begin.Kind, true, 0, w.begin.Runs, false
		*out = append(*out, StartTask{a.gen, a.kind})
	case forCapture:
		a.mic = true
		*out = append(*out, OpenMicrophone{})
	case forNothing:
	}
}

// tick starts the pending run when the client is free.
func (a *Arbiter) tick(out *[]Decision) {
	if a.armed && a.valid && a.pending && a.holder == nobody && !a.mic {
		a.run++
		a.left--
		a.holder, a.stopping, a.replied, a.pending = tick, false, false, false
		*out = append(*out, StartTick{a.run, a.gen})
	}
}

// free takes the client back from a settled run and hands it on.
func (a *Arbiter) free(out *[]Decision) {
	a.holder, a.stopping = nobody, false
	if a.left == 0 {
		a.void(WhyDone, out)
	}
	a.over(out)
	if w := a.next; w.what != forNothing {
		a.next = waiter{}
		a.grant(w, out)
		return
	}
	a.tick(out)
}
