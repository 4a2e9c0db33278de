package pipeline

import (
	"blockworld-voice/evidence"
	"blockworld-voice/game"
)

// grammar decides what the utterance is, from the transcript or the typed text.
func (r *run) grammar() {
	typed, isTyped := r.rec.Source.(Typed)
	h, t := r.rec.Heard, r.rec.Transcript
	if r.ctx.Err() != nil {
		r.skip(evidence.Grammar, "the session was stopped")
		return
	}
	if !isTyped && t == nil && h != nil && h.Clip != nil && h.Gate.Speech {
		r.skip(evidence.Grammar, "there is no transcript")
		return
	}
	if r.rec.verdict(evidence.Capture) == evidence.Failed {
		r.skip(evidence.Grammar, "there is no recording")
		return
	}
	r.stage(evidence.Grammar, func(st *step) ended {
		text := ""
		switch {
		case isTyped:
			text = typed.Text
			r.rec.Decision = judge(text)
		case t != nil:
			st.read(r.written(evidence.Transcribe, evidence.TranscriptFile))
			text = t.Text
			r.rec.Decision = decideHeard(h.Gate, t)
		case r.rec.NoTake != 0:
			r.rec.Decision = noTake(r.rec.NoTake)
		case h == nil || h.Clip == nil:
			r.rec.Decision = Refusal{Reason: NoSpeech, Detail: short("the source is no sound that can be read: "+r.rec.why(evidence.Capture), maxReason)}
		default:
			st.read(r.written(evidence.Capture, speechFigures))
			r.rec.Decision = decideHeard(h.Gate, nil)
		}
		r.confirm(st)
		st.putJSON(evidence.DecisionFile, docOf(r.rec.Decision, text))
		return r.decided()
	})
}

// game has the companion carry the command out. From the moment an attempt is recorded, an outcome is too.
func (r *run) game() {
	cmd, ok := r.rec.Decision.(Command)
	switch {
	case !ok && r.ctx.Err() != nil:
		r.skip(evidence.Game, "the session was stopped")
		return
	case !ok:
		r.skip(evidence.Game, "there is no command")
		return
	case r.err != nil:
		r.skip(evidence.Game, unwritten)
		return
	}
	r.stage(evidence.Game, func(st *step) ended {
		st.read(r.written(evidence.Grammar, evidence.DecisionFile))
		k := &keeper{st: st}
		r.rec.Outcome = r.s.companion.Do(r.ctx, cmd.Command, k)
		r.s.at(evidence.Game, Settled)
		st.putJSON(evidence.OutcomeFile, game.Record(k.run, r.rec.Outcome))
		switch o := r.rec.Outcome.(type) {
		case game.Reported:
			return done
		case game.Refused:
			return ended{evidence.Refused, o.Reason.String() + ": " + o.Detail}
		case game.Cancelled:
			return ended{evidence.Cancelled, o.Detail}
		case game.Unknown:
			return ended{evidence.Failed, "unknown: " + o.Detail}
		}
		return ended{evidence.Failed, "no outcome"}
	})
}

// keeper keeps what the game session must not lose. The attempt is on the disk when Attempt returns nil.
type keeper struct {
	st  *step
	run game.RunID
	log *evidence.Log
}

func (k *keeper) Attempt(a game.Attempt) error {
	if k.st.r.err != nil {
		return k.st.r.err
	}
	k.run = a.Run
	if _, ok := k.st.putJSON(evidence.AttemptFile, a); !ok {
		return k.st.r.err
	}
	k.st.r.s.at(evidence.Game, Attempted)
	return nil
}

func (k *keeper) Event(e game.Event) error {
	r := k.st.r
	if r.err != nil {
		return r.err
	}
	if k.log == nil {
		log, err := r.u.OpenLog(evidence.Game, evidence.EventsFile)
		if !r.keep(err) {
			return err
		}
		k.log = log
	}
	err := k.log.Append(e)
	r.keep(err)
	return err
}
