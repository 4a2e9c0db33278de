package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"blockworld-voice/capture/gesture"
	"blockworld-voice/capture/recorder"
	"blockworld-voice/internal/lang"
	"blockworld-voice/internal/pipeline"
	"blockworld-voice/synth/player"
)

// talkFlags are those of a push-to-talk session.
type talkFlags struct {
	Session       bool    `env:"-" help:"Push-to-talk session: hold or toggle a key, speak, and see the answer."`
	PlayReplies   bool    `help:"Play the replies; needs --reply-language."`
	AudioOutput   string  `placeholder:"alsa|pulse" help:"Where replies are played (default: alsa)."`
	Microphone    string  `placeholder:"NAME" help:"Microphone, as 'devices' lists it (default: that of the system)."`
	RecordSeconds float64 `placeholder:"N" help:"The longest take (default: 30)."`
	Confirm       string  `placeholder:"never|unsure|always" help:"Ask before sending (default: unsure in a session, else never)."`
	TalkKey       string  `placeholder:"KEY" help:"The key to speak (default: enter)."`
	Gesture       string  `placeholder:"auto|hold|toggle" help:"Hold the key while speaking, or press it twice (default: hold where releases are known)."`
	GlobalKey     string  `placeholder:"KEY" help:"Also this key, whatever window has the focus."`
	Plain         bool    `help:"Plain lines in place of the screen, for screen readers and logs."`
}

// talkSettings are the flags of a session over the speech profile over the defaults.
type talkSettings struct {
	device  string
	tail    time.Duration
	most    time.Duration
	play    bool
	output  player.Output
	confirm pipeline.Confirm
	key     gesture.Key
	mode    gestureMode
	global  *gesture.Key
	plain   bool
}

// gestureMode is how the talk key is used.
type gestureMode uint8

const (
	modeAuto gestureMode = iota // hold where the back end knows releases
	modeHold
	modeToggle
)

const recorderGrace = 300 * time.Millisecond

func (c *runCmd) talkSettings(set settings) (talkSettings, error) {
	f, r := c.Talk, set.recorder
	s := talkSettings{device: f.Microphone, tail: recorder.DefaultTail, most: recorder.DefaultMax, play: f.PlayReplies, confirm: pipeline.ConfirmUnsure, plain: f.Plain}
	if r != nil {
		if s.device == "" {
			s.device = r.Device
		}
		if r.TailMS != 0 {
			s.tail = time.Duration(r.TailMS) * time.Millisecond
		}
		if r.MaxSeconds != 0 {
			s.most = time.Duration(r.MaxSeconds * float64(time.Second))
		}
	}
	if f.RecordSeconds != 0 {
		s.most = time.Duration(f.RecordSeconds * float64(time.Second))
	}
	if s.most < time.Second || s.most > 120*time.Second || math.IsNaN(f.RecordSeconds) {
		return s, usage("give --record-seconds between 1 and 120", "a take of at most %v can't be made", s.most)
	}
	if s.tail < 0 || s.tail > 2*time.Second {
		return s, usage("give tail_ms between 0 and 2000", "a tail of %v can't be recorded", s.tail)
	}
	if f.PlayReplies && set.reply == lang.None {
		return s, usage("add --reply-language sk, cs or en", "--play-replies needs to know in which language")
	}
	if f.AudioOutput != "" {
		o, err := player.ParseOutput(f.AudioOutput)
		if err != nil {
			return s, usage("choose alsa or pulse", "--audio-output: %v", err)
		}
		s.output = o
	}
	if f.Confirm != "" {
		m, err := pipeline.ParseConfirm(f.Confirm)
		if err != nil {
			return s, usage("choose never, unsure or always", "--confirm: %v", err)
		}
		s.confirm = m
	}
	key := f.TalkKey
	if key == "" {
		key = gesture.DefaultKey
	}
	var err error
	if s.key, err = gesture.ParseKey(key); err != nil {
		return s, usage("choose one of those", "--talk-key: %v", err)
	}
	if !s.key.InTerminal() {
		return s, usage("name it with --global-key, and a key that terminals report with --talk-key", "--talk-key: no terminal reports %s", s.key)
	}
	switch f.Gesture {
	case "", "auto":
	case "hold":
		s.mode = modeHold
	case "toggle":
		s.mode = modeToggle
	default:
		return s, usage("choose auto, hold or toggle", "--gesture: there is no %q", f.Gesture)
	}
	if f.GlobalKey != "" {
		k, err := gesture.ParseKey(f.GlobalKey)
		if err != nil {
			return s, usage("choose one of those", "--global-key: %v", err)
		}
		s.global = &k
	}
	return s, nil
}

// talk runs a session until the person ends it.
func (c *runCmd) talk(p *program) error {
	set, err := c.settings()
	if err != nil {
		return err
	}
	ts, err := c.talkSettings(set)
	if err != nil {
		return err
	}
	log, err := logs("recorder")
	if err != nil {
		return &problem{status: statusFailed, what: "the log of the sound processes can't be written", next: "set XDG_STATE_HOME to a folder of yours", err: err}
	}
	defer log.Close()
	start, err := recorderStarter(log)
	if err != nil {
		return err
	}
	t := newTalk(p, ts)
	t.rec = recorder.New(recorder.Config{Start: start, Device: ts.device, Tail: ts.tail, Max: ts.most + time.Second})
	set.hook = t.boundary
	set.confirm, set.asker = ts.confirm, t
	if ts.play {
		r, done, err := playing(ts)
		if err != nil {
			return err
		}
		defer func() { _ = done() }() // the session has asked before: see run
		r.told = t.send
		t.replies, set.player = r, r
	}
	t.front = newFront(p, c, t, ts)
	a, err := assemble(p, set, true)
	if err != nil {
		return errors.Join(err, t.rec.Close())
	}
	t.adopt(a)
	err = t.run(p.ctx)
	if t.hung {
		// What hangs is not waited for: the outcome was told, and the kernel ends our processes with us.
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			_ = a.close() // an ownership record that isn't given back is found by the next session
		}()
		select {
		case <-closed:
		case <-time.After(3 * time.Second):
		}
		return err
	}
	if e := a.close(); err == nil {
		err = e
	}
	ended, e := a.tasks.done()
	p.status = p.status.and(ended)
	return errors.Join(err, e)
}

// playing returns what plays replies, and what ends it: an error says that a player can't be proved to have ended.
func playing(ts talkSettings) (*replies, func() error, error) {
	fail := func(err error) (*replies, func() error, error) {
		return nil, nil, &problem{status: statusUnreachable, what: "replies can't be played", next: "see: blockworld-voice devices; or leave --play-replies out", err: err}
	}
	exe, err := os.Executable()
	if err != nil {
		return fail(err)
	}
	log, err := logs("player")
	if err != nil {
		return fail(err)
	}
	pl, conf, err := player.Program(exe, []string{playerProcess}, ts.output, log)
	if err != nil {
		return fail(errors.Join(err, log.Close()))
	}
	return &replies{player: pl, told: func(any) {}}, func() error { return errors.Join(pl.Close(), conf.Close(), log.Close()) }, nil
}

// describe names the companion.
func describe(a *assembly) string {
	b := a.game.Profile().Binding
	name := b.Name
	if a.lab != nil {
		name = "embedded lab"
	}
	return fmt.Sprintf("%s, %s", name, b.Dimension)
}
