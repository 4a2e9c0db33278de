package pipeline

import (
	"errors"
	"time"

	"blockworld-voice/evidence"
	"blockworld-voice/synth/player"
)

// playbackDoc is 6-playback/playback.json. Times count from the session's epoch.
type playbackDoc struct {
	Schema    int           `json:"schema"`
	State     PlaybackState `json:"state"`
	Detail    string        `json:"detail,omitzero"`
	Output    string        `json:"output,omitzero"`
	StartedNS int64         `json:"started_ns,omitzero"` // the device asked for the first sample
	EndedNS   int64         `json:"ended_ns,omitzero"`   // nothing of the player's process lived any more
}

// playback has the reply played when that was asked for. What becomes of it changes nothing about the outcome.
func (r *run) playback() {
	r.rec.Playback = &Playback{State: NotAttempted}
	why := ""
	switch {
	case r.s.cfg.Player == nil:
		why = "playback was not asked for"
	case r.ctx.Err() != nil:
		why = "the session was stopped"
	case r.audio == nil:
		why = "there is no reply to play"
	}
	r.stage(evidence.Playback, func(st *step) ended {
		if why != "" {
			st.putJSON(evidence.PlaybackFile, playbackDoc{Schema: 1, State: NotAttempted})
			return ended{evidence.Skipped, why}
		}
		st.read(r.written(evidence.Synth, evidence.ReplyWAVFile))
		facts, err := r.s.cfg.Player.Play(r.ctx, r.audio)
		p := &Playback{State: PlayerExited, Err: err, First: facts.Started}
		e := done
		var pe *player.Error
		switch {
		case err == nil && facts.Exited:
		case errors.As(err, &pe) && pe.Problem == player.Unretired:
			p.State, e = PlaybackUnknown, ended{evidence.Failed, err.Error()}
		case errors.As(err, &pe) && pe.Problem == player.Stopped:
			p.State, e = PlaybackFailed, ended{evidence.Cancelled, err.Error()}
		case err != nil:
			p.State, e = PlaybackFailed, ended{evidence.Failed, err.Error()}
		default:
			p.State, e = PlaybackUnknown, ended{evidence.Failed, "the player's end is not known"}
		}
		r.rec.Playback = p
		doc := playbackDoc{Schema: 1, State: p.State, Detail: short(plain(e.reason), maxReason), Output: facts.Output}
		at := func(x time.Time) int64 {
			if x.IsZero() {
				return 0
			}
			return int64(x.Sub(r.s.ev.Epoch()))
		}
		doc.StartedNS, doc.EndedNS = at(facts.Started), at(facts.Ended)
		st.putJSON(evidence.PlaybackFile, doc)
		return e
	})
}
