package pipeline

import (
	"math"

	"blockworld-voice/evidence"
	"blockworld-voice/game"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/lang"
	"blockworld-voice/synth"
)

// phrase chooses the one sentence for what happened. It says no more than the record does.
func (r *run) phrase(l lang.Language) synth.Phrase {
	rec := r.rec
	say := func(k synth.PhraseKey) synth.Phrase { return synth.Phrase{Key: k} }
	switch {
	case r.err != nil:
		return say(synth.EvidenceFailed)
	case rec.Outcome != nil:
		c, _ := rec.Decision.(Command)
		return r.outcomePhrase(c.Command, rec.Outcome, l)
	case rec.BadSource != nil, rec.verdict(evidence.Capture) == evidence.Failed:
		return say(synth.CaptureFailed)
	case rec.verdict(evidence.Transcribe) == evidence.Failed:
		return say(synth.RecognitionFailed)
	case r.ctx.Err() != nil:
		return say(synth.CancelledBeforeSend)
	}
	if ref, ok := rec.Decision.(Refusal); ok {
		if k, ok := synth.RefusalKey(string(ref.Reason)); ok {
			return say(k)
		}
	}
	return say(synth.InternalFailed)
}

func (r *run) outcomePhrase(c grammar.Command, o game.Outcome, l lang.Language) synth.Phrase {
	say := func(k synth.PhraseKey) synth.Phrase { return synth.Phrase{Key: k} }
	switch o := o.(type) {
	case game.Refused:
		if o.Answered {
			return say(synth.GameError)
		}
		if k, ok := synth.RefusalKey(o.Reason.String()); ok {
			return say(k)
		}
	case game.Reported:
		return reportedPhrase(c, o, l)
	case game.Cancelled:
		if _, stop := c.(grammar.Stop); !stop && r.ctx.Err() == nil {
			return say(synth.GameError) // the client ended it on its own
		}
		return say(synth.StopObserved)
	case game.Unknown:
		if _, stop := c.(grammar.Stop); stop {
			return say(synth.StopUnknown)
		}
		return say(synth.EffectUnknown)
	}
	return say(synth.InternalFailed)
}

// moved is the least displacement that counts as movement, in blocks.
const moved = 0.05

func reportedPhrase(c grammar.Command, o game.Reported, l lang.Language) synth.Phrase {
	say := func(k synth.PhraseKey) synth.Phrase { return synth.Phrase{Key: k} }
	switch c.(type) {
	case grammar.StateQuery:
		if o.Observed == nil || o.Observed.State == nil {
			return say(synth.StateWithoutPosition)
		}
		p := synth.Phrase{Key: synth.StateReported}
		for _, v := range o.Observed.State.Pos {
			words, ok := spell(v, l)
			if !ok {
				return say(synth.StateWithoutPosition)
			}
			p.Args = append(p.Args, words)
		}
		return p
	case grammar.StatusQuery:
		return say(synth.StatusReported)
	case grammar.GoTo:
		switch {
		case o.Observed == nil || o.Observed.Before == nil || o.Observed.After == nil:
			return say(synth.GotoUnverified)
		case o.Observed.Moved >= moved:
			return say(synth.GotoMoved)
		}
		return say(synth.GotoStill)
	case grammar.LookAt:
		return say(synth.LookAtReported)
	case grammar.Say:
		return say(synth.SayReported)
	case grammar.Idle:
		return say(synth.IdleStarted)
	case grammar.Follow:
		return say(synth.FollowStarted)
	case grammar.Build:
		return say(synth.BuildStarted)
	case grammar.Stop:
		return say(synth.SessionEnded)
	}
	return say(synth.InternalFailed)
}

// spell says a coordinate in words, to a tenth of a block: more is not heard anyway.
func spell(v float64, l lang.Language) (string, bool) {
	tenths := math.Round(v * 10)
	if math.IsNaN(tenths) || math.Abs(tenths*10) > float64(grammar.MaxCoord) {
		return "", false
	}
	return grammar.Spell(grammar.Coord(int32(tenths)*10), l), true
}

// replyLanguage is the language that was asked for, else that of the instruction.
func (r *run) replyLanguage() lang.Language {
	if r.s.cfg.Reply != lang.None {
		return r.s.cfg.Reply
	}
	if t := r.rec.Transcript; t != nil && t.Used != lang.None {
		return t.Used
	}
	if c, ok := r.rec.Decision.(Command); ok && c.Language != lang.None {
		return c.Language
	}
	if len(r.rec.Asked) == 1 {
		return r.rec.Asked[0]
	}
	return lang.EN
}
