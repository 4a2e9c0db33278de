// Package gesture turns what keys, pedals and compositors report into the beginning and the end of a take.
//
// Machine is pure: it is told what happened and when, and it says what follows. The back ends (a terminal's keys are
// the screen's, the others are here) say of themselves whether they know releases; only such a one may hold.
package gesture

import (
	"fmt"
	"time"

	"blockworld-voice/capture/recorder"
)

// Kind is what a back end reports.
type Kind uint8

const (
	Press   Kind = iota + 1 // a key that is held while speaking went down
	Release                 // and was let go
	Toggle                  // a key that begins and ends a take was pressed
	Gone                    // the keyboard or the pedal went away
)

var kindNames = [...]string{Press: "press", Release: "release", Toggle: "toggle", Gone: "gone"}

// String returns the name.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// Signal is one report of a back end.
type Signal struct {
	Kind   Kind
	Source string // the back end's name
	At     time.Time
}

// Config is the machine's times. Zero values are the defaults.
type Config struct {
	Tap    time.Duration // a key that was down for less was not meant
	Merge  time.Duration // a press so soon after a release is the keyboard's repetition
	Repeat time.Duration // toggles that follow so closely are the keyboard's repetition
	Least  time.Duration // between two toggles: before it a held key begins to repeat
	Max    time.Duration // of a take
}

// The defaults.
const (
	DefaultTap    = 250 * time.Millisecond
	DefaultMerge  = 60 * time.Millisecond
	DefaultRepeat = 80 * time.Millisecond
	DefaultLeast  = 700 * time.Millisecond
)

func (c *Config) defaults() {
	for _, d := range []struct {
		v *time.Duration
		d time.Duration
	}{{&c.Tap, DefaultTap}, {&c.Merge, DefaultMerge}, {&c.Repeat, DefaultRepeat}, {&c.Least, DefaultLeast}, {&c.Max, recorder.DefaultMax}} {
		if *d.v <= 0 {
			*d.v = d.d
		}
	}
}

// Event is what follows from signals and from time: Begin, Keep or End.
type Event interface{ event() }

type (
	// Begin opens the microphone.
	Begin struct {
		At     time.Time
		Source string
	}
	// Keep says that the gesture was meant: what was recorded so far is part of a take.
	Keep struct{}
	// End ends the take. At is when the person ended it, which may lie in the past.
	End struct {
		Why recorder.End
		At  time.Time
	}
)

func (Begin) event() {}
func (Keep) event()  {}
func (End) event()   {}

type phase uint8

const (
	idle    phase = iota
	armed         // down, and not long enough to have been meant
	held          // down
	lifting       // let go, perhaps only by the keyboard's repetition
	toggled       // between two toggles
	stuck         // the take was ended for its length and the key may still be down
)

// Machine is the state of the gesture. One goroutine uses it.
type Machine struct {
	cfg    Config
	phase  phase
	source string    // that began the take
	began  time.Time // the press
	lifted time.Time // the release, while lifting
	kept   bool
	last   time.Time // the newest press or toggle of any kind
	struck time.Time // the newest toggle that counted
}

// New returns a machine at rest.
func New(cfg Config) *Machine {
	cfg.defaults()
	return &Machine{cfg: cfg}
}

// Active says whether a take is under way.
func (m *Machine) Active() bool { return m.phase != idle && m.phase != stuck }

// Input takes in one signal. Times don't run backwards.
func (m *Machine) Input(s Signal) []Event {
	out := m.Tick(s.At)
	last := m.last
	if s.Kind == Press || s.Kind == Toggle {
		m.last = s.At
	}
	switch s.Kind {
	case Press:
		switch m.phase {
		case idle:
			return append(out, m.begin(s, armed))
		case stuck:
			if s.At.Sub(last) >= m.cfg.Least {
				return append(out, m.begin(s, armed))
			}
		case lifting:
			if s.Source == m.source {
				m.phase = armed
				if m.kept {
					m.phase = held
				}
			}
		case armed, held, toggled:
		}
	case Release:
		switch m.phase {
		case armed, held:
			if s.Source == m.source {
				m.phase, m.lifted = lifting, s.At
			}
		case stuck:
			m.phase = idle
		case idle, lifting, toggled:
		}
	case Toggle:
		if s.At.Sub(last) < m.cfg.Repeat && !last.IsZero() || s.At.Sub(m.struck) < m.cfg.Least && !m.struck.IsZero() {
			return out
		}
		m.struck = s.At
		if m.Active() {
			why := recorder.Toggled
			if !m.kept { // a hold of another source that nobody knows yet to be meant
				why = recorder.Tapped
			}
			return append(out, m.end(why, s.At, idle))
		}
		out = append(out, m.begin(s, toggled), Keep{})
		m.kept = true
	case Gone:
		if m.Active() && s.Source == m.source {
			return append(out, m.end(recorder.KeyLost, s.At, idle))
		}
		if m.phase == stuck {
			m.phase = idle
		}
	}
	return out
}

// Tick takes in that time has passed.
func (m *Machine) Tick(now time.Time) []Event {
	var out []Event
	if m.Active() && m.phase != lifting && !now.Before(m.began.Add(m.cfg.Max)) {
		next := stuck
		if m.phase == toggled {
			next = idle
		}
		return append(out, m.end(recorder.MaxDuration, m.began.Add(m.cfg.Max), next))
	}
	if m.phase == lifting && !now.Before(m.lifted.Add(m.cfg.Merge)) {
		why := recorder.Released
		if m.lifted.Sub(m.began) < m.cfg.Tap {
			why = recorder.Tapped
		} else if !m.kept {
			out = append(out, Keep{})
		}
		return append(out, m.end(why, m.lifted, idle))
	}
	if m.phase == armed && !now.Before(m.began.Add(m.cfg.Tap)) {
		m.phase, m.kept = held, true
		out = append(out, Keep{})
	}
	return out
}

// Deadline is when Tick has something to do, if no signal comes before.
func (m *Machine) Deadline() (time.Time, bool) {
	switch m.phase {
	case armed:
		return m.began.Add(min(m.cfg.Tap, m.cfg.Max)), true
	case held, toggled:
		return m.began.Add(m.cfg.Max), true
	case lifting:
		return m.lifted.Add(m.cfg.Merge), true
	case idle, stuck:
	}
	return time.Time{}, false
}

// Reset forgets a take that something else has ended. A key that is still down begins nothing.
func (m *Machine) Reset() {
	switch m.phase {
	case armed, held:
		m.phase = stuck
	case lifting, toggled:
		m.phase = idle
	case idle, stuck:
	}
	m.kept = false
}

func (m *Machine) begin(s Signal, p phase) Event {
	m.phase, m.source, m.began, m.kept = p, s.Source, s.At, false
	return Begin{s.At, s.Source}
}

func (m *Machine) end(why recorder.End, at time.Time, p phase) Event {
	m.phase, m.kept = p, false
	return End{why, at}
}
