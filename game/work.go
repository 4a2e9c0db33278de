package game

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"blockworld-voice/game/horizon"
	"blockworld-voice/internal/strictjson"
)

// What the behaviours and the builder need of a session beside Act and View.

// NewRun makes an identity for a run that sends nothing.
func NewRun() RunID { return newRun() }

// Refusal makes the error that becomes a Refused with this reason: for guards, and for checks before an order.
func Refusal(r Reason, format string, a ...any) error { return refuse(r, format, a...) }

// AsRefused turns an error of View, Ready or a guard into an outcome.
func AsRefused(err error) Refused {
	var r *refusal
	if !errors.As(err, &r) {
		r = refuse(NotBound, "%s", err)
	}
	return Refused{Reason: r.reason, Detail: r.detail}
}

// Ready says whether the companion of a view can act: alive, idle, and no person's input on it.
func (s *Session) Ready(v View) error { return s.fit(v.State) }

// Check holds a view against the binding.
func (b Binding) Check(v View) error { return b.check(v) }

// Holds says whether a position lies within the permitted space.
func (p Policy) Holds(at [3]float64) bool {
	for i, v := range at {
		if !(v >= p.Min[i].Float() && v <= p.Max[i].Float()) {
			return false
		}
	}
	return true
}

// AdmitOrder checks an order against the policy alone: permission, bounds, budget, expiry.
func (s *Session) AdmitOrder(o Order) error {
	if err := s.authority(); err != nil {
		return err
	}
	return s.profile.Policy.permit(o, s.opt.Now(), s.count())
}

// Permitted says whether the policy has the action, without looking at the game.
func (s *Session) Permitted(a Action) error {
	if err := s.authority(); err != nil {
		return err
	}
	if !s.profile.Policy.Permits(a) {
		return refuse(NotPermitted, "the policy doesn't permit %s", a)
	}
	return nil
}

// Remaining is how many actions the session's budget still has.
func (s *Session) Remaining() int { return max(0, s.profile.Policy.MaxActions-s.count()) }

// ParseActions reads names of actions with commas between them, each once.
func ParseActions(s string) ([]Action, error) {
	var out []Action
	for _, name := range strings.Split(s, ",") {
		a, ok := parseAction(strings.TrimSpace(name))
		if !ok || slices.Contains(out, a) {
			return nil, fmt.Errorf("%q must be one of goto look-at say idle follow place, each once", name)
		}
		out = append(out, a)
	}
	return out, nil
}

// TargetDocument writes the binding alone, in the form that ParseTarget reads.
func (p Profile) TargetDocument() ([]byte, error) {
	b := p.Binding.doc()
	doc, err := strictjson.Marshal(struct {
		Binding bindingDoc `json:"binding"`
	}{b})
	if err != nil {
		return nil, err
	}
	if _, err := ParseTarget(doc); err != nil {
		return nil, fmt.Errorf("that client can't be followed: %w", err)
	}
	return doc, nil
}

// Sighted lets admission use a view that the caller has just read, and leaves the look afterwards to the caller:
// its work is bounded in what it may ask. The binding is read again before the bytes go all the same.
func (o Order) Sighted(v View) Order {
	o.sight, o.proved = &v, true
	return o
}

// Queries counts the lines of questions that went to the companion's client.
type Queries struct {
	Asked   uint64 `json:"asked"`   // for admission, checks and looks
	Watched uint64 `json:"watched"` // of Asked: while an action was running
}

type counters struct{ asked, watched atomic.Uint64 }

// Queries is how many there were since the session began. Stops and what they look at are not among them: a stop is
// never refused for want of a budget.
func (s *Session) Queries() Queries {
	return Queries{Asked: s.counted.asked.Load(), Watched: s.counted.watched.Load()}
}

// Sub is the difference.
func (q Queries) Sub(before Queries) Queries {
	return Queries{Asked: q.Asked - before.Asked, Watched: q.Watched - before.Watched}
}

// watching marks the questions of a watch.
type watching struct{}

func (s *Session) note(ctx context.Context) {
	s.counted.asked.Add(1)
	if ctx.Value(watching{}) != nil {
		s.counted.watched.Add(1)
	}
}

// Dialer makes a connection to a client.
type Dialer func(context.Context) (*horizon.Client, error)

// ReadWithin reads a private document that must lie in the workspace: a regular file of this user that nobody else
// can read, reached without links.
func ReadWithin(path, workspace string) ([]byte, error) {
	data, err := readPrivate(path)
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := plainPath(abs); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if !inside(abs, workspace) {
		return nil, fmt.Errorf("%s: it must lie inside the workspace %s", path, workspace)
	}
	return data, nil
}

// Check makes the check of Guarded, where there is one: for stand-ins of a session.
func (o Order) Check(last View) error {
	if o.guard == nil {
		return nil
	}
	return o.guard(last)
}
