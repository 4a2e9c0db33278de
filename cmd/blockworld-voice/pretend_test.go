package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"time"

	"blockworld-voice/capture/mic"
	"blockworld-voice/internal/lang"
	"blockworld-voice/synth/player"
	"blockworld-voice/transcribe"
)

// pretended is what the program under test has in place of devices and of the recogniser: PRETEND in its environment.
type pretended struct {
	Hears  string  // the text; "" is the real recogniser
	Slow   float64 // seconds that it takes
	Unsure bool    // it is short of the margin
	Deaf   bool    // it hangs, and looks at no context

	Mic      bool
	First    float64 // seconds to the first block
	Vanish   int     // block after which callbacks stop
	Missing  bool    // there is no microphone
	HangOpen bool    // the sound system hangs when it is asked to open a device
	Stubborn bool    // its process takes no SIGTERM and hangs when it closes

	Player string // "" is the real one: clocked, busy
}

const pretendEnv = "PRETEND"

func (p pretended) env() string {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return pretendEnv + "=" + string(b)
}

func pretend() {
	text := os.Getenv(pretendEnv)
	if text == "" {
		return
	}
	var p pretended
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		panic(err)
	}
	if p.Hears != "" {
		ears = pretendedEars{p}
	}
	if p.Mic {
		sounds = func() (mic.Host, error) {
			if p.Missing {
				return mic.NewScripted(), nil
			}
			s := mic.Script{Device: mic.Device{Name: "desk", API: "scripted", Channels: 1, Rate: 16000, Default: true},
				First: time.Duration(p.First * float64(time.Second)), SilentAt: p.Vanish, Sound: voiceLike}
			if p.HangOpen {
				return hangs{mic.NewScripted(s)}, nil
			}
			if p.Stubborn {
				s.HangClose = make(chan struct{})
			}
			return mic.NewScripted(s), nil
		}
	}
	switch p.Player {
	case "clocked":
		loudspeaker = player.Clocked
	case "busy":
		loudspeaker = func(int, io.Reader) error { return errors.New("device or resource busy") }
	}
}

type hangs struct{ *mic.Scripted }

func (hangs) Open(mic.Device, int, func(mic.Block)) (mic.Stream, error) { select {} }

// voiceLike is a sound that the gate takes for a voice: pulses at a wavering pitch, in syllables.
func voiceLike(n, rate int) int16 {
	at := float64(n) / float64(rate)
	phase := 120*at + 20/(2*math.Pi*3)*(1-math.Cos(2*math.Pi*3*at))
	x := phase - math.Floor(phase)
	return int16(9000 * (1 - 2*x) * (0.6 + 0.4*math.Sin(2*math.Pi*4*at)))
}

// pretendedEars hear what they are told to.
type pretendedEars struct{ p pretended }

func (e pretendedEars) Transcribe(ctx context.Context, r transcribe.Request) (*transcribe.Transcript, error) {
	if e.p.Deaf {
		select {}
	}
	select {
	case <-time.After(time.Duration(e.p.Slow * float64(time.Second))):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	t := &transcribe.Transcript{Text: e.p.Hears, Model: "pretended", Used: r.Lexicons[0].Language}
	reading, ok := r.Judge(e.p.Hears)
	if !ok { // perhaps only yes or no is listened for
		t.Text = "yes"
		if reading, ok = r.Judge("yes"); !ok {
			return t, nil
		}
	}
	best := transcribe.Scored{Text: t.Text, Key: reading.Key, Class: reading.Class, Language: lang.EN, D: 1}
	t.Readings = []transcribe.Scored{best}
	if e.p.Unsure && t.Text == e.p.Hears {
		limit := transcribe.Provisional().Limit[reading.Class]
		t.Readings[0].D = limit.D - 0.05
	}
	t.Verdict, t.Confidence = transcribe.Provisional().Decide(t.Readings, nil, nil)
	return t, nil
}
