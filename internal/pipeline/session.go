package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"blockworld-voice/evidence"
	"blockworld-voice/game"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/lang"
	"blockworld-voice/synth"
	"blockworld-voice/synth/player"
	"blockworld-voice/transcribe"
)

// Engine understands clips. It may still be loading: the first request then waits for it.
type Engine interface {
	Transcribe(context.Context, transcribe.Request) (*transcribe.Transcript, error)
}

// Companion is the bound game session.
type Companion interface {
	Limits() game.Limits
	Do(context.Context, grammar.Command, game.Recorder) game.Outcome
}

// Voice speaks a text.
type Voice interface {
	Speak(context.Context, lang.Language, string) (*synth.Reply, error)
}

// Player plays a spoken reply. When Play returned, nothing that it started runs any more, unless the error says so.
type Player interface {
	Play(context.Context, *synth.Audio) (player.Facts, error)
}

// Config is what a session runs on. The session owns none of it.
type Config struct {
	Store  *evidence.Store
	Engine Engine
	Voice  Voice  // nil: replies stay words
	Player Player // nil: replies are not played
	// Confirm says when Asker is asked before a command becomes an instruction.
	Confirm    Confirm
	Asker      Asker
	Thresholds transcribe.Thresholds // of the engine; zero is its default
	Languages  []lang.Language       // that may be heard; one, or several to choose from
	Reply      lang.Language         // None: the language of the command
	// Task, when it is set, is told what there is to tell of tasks, from a goroutine of its own.
	Task func(TaskLine)
	// At, when it is set, is called at every boundary. Tests end the process there.
	At func(evidence.Stage, Boundary)
}

// Boundary is a place in the course of a stage.
type Boundary uint8

const (
	Started   Boundary = iota // the started mark is on the disk
	Attempted                 // of the game stage: the attempt is on the disk, nothing was sent
	Settled                   // of the game stage: the outcome is known, and not on the disk yet
	Finished                  // all artefacts are on the disk, the receipt is not
	Receipted                 // the receipt is on the disk
	Sealed                    // the manifest is on the disk
)

var boundaryNames = [...]string{Started: "started", Attempted: "attempted", Settled: "settled", Finished: "finished", Receipted: "receipted", Sealed: "sealed"}

// String returns the name.
func (b Boundary) String() string { return boundaryNames[b] }

// Boundaries lists all of them.
func Boundaries() []Boundary {
	return []Boundary{Started, Attempted, Settled, Finished, Receipted, Sealed}
}

// Session runs utterances one after another and records them in one evidence session. One goroutine uses it.
type Session struct {
	cfg       Config
	companion Companion
	ev        *evidence.Session
	ear       *Ear
	yesNo     []transcribe.Lexicon // of answers, made at the first one
	failed    error
	now       atomic.Pointer[run] // the utterance under way
}

// Open begins an evidence session.
func Open(cfg Config) (*Session, error) {
	if len(cfg.Languages) == 0 {
		return nil, fmt.Errorf("pipeline: no language to listen for")
	}
	ev, err := cfg.Store.NewSession(time.Now())
	if err != nil {
		return nil, err
	}
	cfg.Languages = slices.Clone(cfg.Languages)
	return &Session{cfg: cfg, ev: ev, ear: NewEar(cfg.Engine)}, nil
}

// Bind gives the session its companion, which may know the session by its ID. It comes before the first Do.
func (s *Session) Bind(c Companion) { s.companion = c }

// ID returns the session's identity.
func (s *Session) ID() evidence.SessionID { return s.ev.ID() }

// Dir returns the session's evidence folder.
func (s *Session) Dir() string { return s.ev.Dir() }

// Close ends the evidence session. It may be called again.
func (s *Session) Close() error { return s.ev.Close() }

func (s *Session) elapsed() int64 { return s.ev.Elapsed() }

func (s *Session) at(st evidence.Stage, b Boundary) {
	if s.cfg.At != nil {
		s.cfg.At(st, b)
	}
}

// Do takes one utterance through all stages. The end of ctx stops it wherever it is; what was reached is recorded.
//
// The record is nil only when nothing could be begun. An error says that evidence could not be written, or that the
// record would have become untrue: the record then still holds what happened, and every further Do returns the error.
func (s *Session) Do(ctx context.Context, src Source) (*Record, error) {
	if s.failed != nil {
		return nil, s.failed
	}
	if s.companion == nil {
		return nil, errors.New("pipeline: no companion is bound")
	}
	u, err := s.ev.Begin()
	if err != nil {
		s.failed = err
		return nil, err
	}
	r := &run{s: s, ctx: ctx, u: u, rec: &Record{
		Session: s.ev.ID(), ID: u.ID(), Dir: u.Dir(), Source: src, Asked: s.cfg.Languages, Epoch: time.Now(),
	}}
	s.now.Store(r)
	defer s.now.Store(nil)
	r.capture()
	r.transcribe()
	r.rec.Timing.Transcribed = time.Now()
	r.grammar()
	r.rec.Timing.Decided = time.Now()
	r.game()
	r.synth()
	r.playback()
	r.rec.Halted = ctx.Err() != nil
	if r.err == nil {
		_, err := u.Seal()
		r.keep(err)
		s.at(evidence.Playback, Sealed)
	}
	s.failed = r.err
	return r.rec, r.err
}
