// Package game is the contract with a companion: who may be driven, what may be sent,
// what is on disk before it is sent, and what may be said about it afterwards.
package game

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"blockworld-voice/game/horizon"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/procgroup"
)

// Options are what a session needs beside its profile. The zero value is good.
type Options struct {
	SessionID string           // the evidence's name for the session; "" makes one
	StateDir  string           // "" is StateDir()
	GameHome  string           // "" is the game's own rule: HORIZON_HOME, else the data folder
	Now       func() time.Time // the wall clock; nil is time.Now
	At        func(Point)      // called at every named point; tests kill the program there
	Dial      Dialer           // nil is the profile's endpoint with the proof of who is behind it; tests join a lab by a pipe
}

// OpenError says why no session was opened. Nothing was sent to the game.
type OpenError struct {
	Reason Reason
	Detail string
	Hint   string
	Err    error
	// Recovered are lost runs of earlier programs that were found on the way.
	Recovered []Recovered
}

func (e *OpenError) Error() string { return e.Detail }

func (e *OpenError) Unwrap() error { return e.Err }

// Session owns one client from Open to Close. Do and Stop may be called from any
// goroutine; Do admits one command at a time and refuses a second as busy.
type Session struct {
	profile   Profile
	opt       Options
	id        string
	epoch     time.Time
	owner     *ownership
	recovered []Recovered

	one  chan struct{} // holds a token while a command runs
	gate sync.Mutex    // held from the last check to the last byte of a send; guards the rest
	why  string        // why nothing may be sent any more; "" while armed
	deny bool          // the game answered denied
	halt chan struct{} // closed by Stop
	used int           // attempts
	live *flight       // what was sent and is not settled
	user uint64        // count of a person's inputs when the session began
	gone bool          // the record is given back: no stop may be sent either

	stops sync.WaitGroup // efforts to stop that still hold a connection; begun under gate, before gone

	counted counters

	samples SampleID // the newest
	sampled int64    // when it was complete

	asking sync.Mutex
	query  *horizon.Client // guarded by asking
	close  sync.Once
	ended  error
}

// Open admits a profile: the workspace, the No AI switch, the process behind the
// endpoint, its ownership, and the world it shows. It sends only queries. The error is an *OpenError.
func Open(ctx context.Context, p Profile, o Options) (*Session, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.At == nil {
		o.At = func(Point) {}
	}
	s := &Session{profile: p, opt: o, id: o.SessionID, epoch: time.Now(), one: make(chan struct{}, 1), halt: make(chan struct{})}
	if s.id == "" {
		s.id = string(newRun())
	}
	if s.opt.StateDir == "" {
		dir, err := StateDir()
		if err != nil {
			return nil, &OpenError{Reason: NotBound, Detail: err.Error(), Hint: "set XDG_STATE_HOME", Err: err}
		}
		s.opt.StateDir = dir
	}
	if err := s.admit(); err != nil {
		return nil, err
	}
	o.At(PointAdmitted)
	if err := s.own(); err != nil {
		err.Recovered = s.recovered
		return nil, err
	}
	o.At(PointOwned)
	see, err := s.observe(ctx)
	if err != nil {
		// Nothing was sent in this session: the record goes back as clean as it was.
		err = errors.Join(err, s.release())
		var r *refusal
		if errors.As(err, &r) {
			return nil, &OpenError{Reason: r.reason, Detail: r.detail, Hint: r.hint(), Err: err}
		}
		return nil, &OpenError{Reason: NotBound, Detail: "the client can't be read", Hint: "is the game running and in its world? use: profile check", Err: err}
	}
	s.user = see.State.Input.User
	o.At(PointOpened)
	return s, nil
}

// admit checks what can be checked without the game.
func (s *Session) admit() error {
	p := s.profile
	if err := CheckWorkspace(p.Workspace, p.CheckoutRoots); err != nil {
		return &OpenError{Reason: NotBound, Detail: err.Error(), Hint: "a workspace is a private folder outside every checkout", Err: err}
	}
	if !s.opt.Now().Before(p.Policy.Expires) {
		return &OpenError{Reason: Expired, Detail: "the game profile expired at " + p.Policy.Expires.Format(time.RFC3339), Hint: "use: profile new"}
	}
	if home := s.home(); noAI(home) {
		return &OpenError{Reason: Denied, Detail: "No AI is on for this game", Hint: "only its player can turn it off, in the game's settings"}
	}
	return nil
}

func (s *Session) home() string {
	if s.opt.GameHome != "" {
		return s.opt.GameHome
	}
	return GameHome()
}

// own reports lost runs and takes the client's record.
func (s *Session) own() *OpenError {
	var err error
	if s.recovered, err = Recover(s.opt.StateDir); err != nil {
		return &OpenError{Reason: NotBound, Detail: "the ownership records can't be read", Hint: "look into " + ownersDir(s.opt.StateDir), Err: err}
	}
	path, err := ownerFile(s.opt.StateDir, s.profile.Binding.Process)
	if err != nil {
		return &OpenError{Reason: NotBound, Detail: err.Error(), Hint: "is /proc mounted?", Err: err}
	}
	if s.owner, err = claimOwner(path, s.opt.Now); errors.Is(err, ErrOwned) {
		return &OpenError{Reason: Busy, Detail: "another session owns this client", Hint: "end the other session first", Err: err}
	} else if err != nil {
		return &OpenError{Reason: NotBound, Detail: "the ownership record can't be locked", Hint: "look into " + ownersDir(s.opt.StateDir), Err: err}
	}
	if h := s.owner.past; !h.clean() {
		err := s.owner.release()
		return &OpenError{Reason: Disarmed, Detail: fmt.Sprintf("an earlier session left this client %s", h.state()),
			Hint: "restart the game client, or look at it and use: blockworld-voice reconcile", Err: err}
	}
	self, err := procgroup.Self()
	if err == nil {
		err = s.owner.begin(s.id, s.profile.Workspace, self)
	}
	if err != nil {
		return &OpenError{Reason: NotBound, Detail: "the ownership record can't be written", Hint: "is the disk full?", Err: errors.Join(err, s.owner.release())}
	}
	return nil
}

// ID is the session's name.
func (s *Session) ID() string { return s.id }

// Profile is what was admitted.
func (s *Session) Profile() Profile { return s.profile }

// Recovered lists the runs of earlier programs that Open found lost. They are retired;
// the caller records them as unknown.
func (s *Session) Recovered() []Recovered { return s.recovered }

// Limits are what the policy leaves of the grammar.
type Limits struct {
	Permitted []grammar.Kind
	Min, Max  [3]grammar.Coord
}

// Limits says which commands can be admitted at all, for the automaton. Queries and stop always can.
func (s *Session) Limits() Limits { return s.profile.Limits() }

// Limits is Session.Limits before a session is open.
func (p Profile) Limits() Limits {
	l := Limits{Permitted: []grammar.Kind{grammar.KindState, grammar.KindStatus}, Min: p.Policy.Min, Max: p.Policy.Max}
	for _, k := range [...]struct {
		a Action
		k grammar.Kind
	}{{ActGoTo, grammar.KindGoTo}, {ActLookAt, grammar.KindLookAt}, {ActSay, grammar.KindSay}, {ActIdle, grammar.KindIdle}, {ActFollow, grammar.KindFollow}, {ActPlace, grammar.KindBuild}} {
		if p.Policy.Permits(k.a) {
			l.Permitted = append(l.Permitted, k.k)
		}
	}
	l.Permitted = append(l.Permitted, grammar.KindStop)
	return l
}

// Armed says whether the session can still send, and if not, why.
func (s *Session) Armed() (bool, string) {
	s.gate.Lock()
	defer s.gate.Unlock()
	return s.why == "", s.why
}

// disarm ends the authority to send for good. The first reason stays.
func (s *Session) disarm(why string) {
	s.gate.Lock()
	defer s.gate.Unlock()
	s.disarmLocked(why)
}

func (s *Session) disarmLocked(why string) {
	if s.why == "" {
		s.why = why
	}
}

// since is the time in the session, for events.
func (s *Session) since() int64 { return time.Since(s.epoch).Nanoseconds() }

// release closes what the session holds.
func (s *Session) release() error {
	s.asking.Lock()
	if s.query != nil {
		_ = s.query.Close()
		s.query = nil
	}
	s.asking.Unlock()
	if s.owner == nil {
		return nil
	}
	return s.owner.end()
}

// Close ends the session: what still runs is stopped first, and every stop that was begun
// is over (each is bounded by the binding's timeout). The ownership record is
// left clean unless something stayed unknown. It may be called more than once.
func (s *Session) Close() error {
	s.close.Do(func() {
		s.gate.Lock()
		running := s.live != nil
		s.disarmLocked("the session is closed")
		s.gate.Unlock()
		if running {
			ctx, cancel := context.WithTimeout(context.Background(), 2*s.profile.Binding.Timeout)
			defer cancel()
			s.Stop(ctx)
		}
		s.one <- struct{}{} // waits for a command that is being settled
		s.opt.At(PointClosing)
		// A stop that is still on its way would hit the next owner's action.
		s.gate.Lock()
		s.gone = true
		s.gate.Unlock()
		s.stops.Wait()
		s.ended = s.release()
	})
	return s.ended
}
