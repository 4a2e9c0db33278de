package main

import (
	"errors"
	"fmt"
	"os"

	"blockworld-voice/game"
	"blockworld-voice/game/lab"
	"blockworld-voice/internal/lang"
	"blockworld-voice/internal/whispercpp"
	"blockworld-voice/models"
	"blockworld-voice/synth"
)

type doctorCmd struct{}

// finding is one line of the doctor. next is empty when all is well.
type finding struct {
	what, is, next string
	needed         bool
}

func (*doctorCmd) Run(p *program) error {
	all := []finding{
		{what: "recogniser", is: whispercpp.Version()},
		modelFinding(),
	}
	voice := &synth.Espeak{}
	for _, l := range lang.All() {
		all = append(all, voiceFinding(p, voice, l))
	}
	all = append(all, soundFindings(p)...)
	all = append(all, stateFinding(), noAIFinding())
	missing := ""
	for _, f := range all {
		mark := "ok"
		if f.next != "" {
			mark = "-"
			if f.needed {
				mark, missing = "MISSING", f.what
			}
		}
		if _, err := fmt.Fprintf(p.out, "%-8s %-14s %s\n", mark, f.what, oneLine(f.is)); err != nil {
			return err
		}
		if f.next != "" {
			fmt.Fprintf(p.out, "         next: %s\n", oneLine(f.next))
		}
	}
	if missing != "" {
		return &problem{status: statusFailed, what: "something that every run needs is missing: " + missing, next: "do what the line under it says"}
	}
	return nil
}

func modelFinding() finding {
	f := finding{what: "speech model", needed: true}
	store, err := modelStore()
	if err == nil {
		var m models.Model
		if m, err = store.Resolve(models.Default); err == nil {
			f.is = fmt.Sprintf("%s, %d MB, sha256 %s", m.Name, megabytes(m.Size), m.SHA256.Short())
			return f
		}
	}
	f.is, f.next = err.Error(), hint(err)
	return f
}

func voiceFinding(p *program, v *synth.Espeak, l lang.Language) finding {
	f := finding{what: "voice " + l.String()}
	facts, err := v.Check(p.ctx, l)
	if err != nil {
		f.is, f.next = err.Error(), hint(err)
		return f
	}
	f.is = fmt.Sprintf("%s %s, voice %s", facts.Engine, facts.EngineVersion, facts.Voice)
	return f
}

func stateFinding() finding {
	f := finding{what: "state folder", needed: true}
	dir, err := stateDir()
	if err != nil {
		f.is, f.next = err.Error(), hint(err)
		return f
	}
	f.is = dir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		f.next = "make it writable, or set XDG_STATE_HOME: " + err.Error()
		return f
	}
	probe, err := os.CreateTemp(dir, ".doctor-")
	if err != nil {
		f.next = "make it writable, or set XDG_STATE_HOME: " + err.Error()
		return f
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		f.next = "look at the folder: " + err.Error()
	}
	return f
}

func noAIFinding() finding {
	f := finding{what: "No AI"}
	if lab.NoAI(game.GameHome()) {
		f.is, f.next = "it is on for this game", "only the game's player can turn it off, in the game's settings"
		return f
	}
	f.is = "not set for this game"
	return f
}
