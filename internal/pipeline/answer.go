package pipeline

import (
	"path/filepath"

	"blockworld-voice/evidence"
	"blockworld-voice/internal/lang"
	"blockworld-voice/synth"
)

// replyDoc is 5-synth/reply.json.
type replyDoc struct {
	Schema   int           `json:"schema"`
	Language lang.Language `json:"language"`
	Phrase   synth.Phrase  `json:"phrase"`
	Text     string        `json:"text"`
	Voice    *synth.Facts  `json:"voice,omitzero"` // nil when no voice spoke it
}

// synth says what happened, in one fixed sentence. A reply that fails changes nothing about the outcome.
func (r *run) synth() {
	l := r.replyLanguage()
	p := r.phrase(l)
	words := synth.Words(l, p)
	reply := &Reply{Language: l, Text: words}
	switch {
	case r.ctx.Err() != nil:
		r.rec.Reply = reply
		r.skip(evidence.Synth, "the session was stopped")
		return
	case r.err != nil:
		r.rec.Reply = reply
		r.skip(evidence.Synth, unwritten)
		return
	}
	r.stage(evidence.Synth, func(st *step) ended {
		st.read(r.written(evidence.Grammar, evidence.DecisionFile), r.written(evidence.Game, evidence.OutcomeFile))
		r.rec.Reply = reply
		doc := replyDoc{Schema: 1, Language: l, Phrase: p, Text: words}
		if r.s.cfg.Voice == nil {
			st.putJSON(evidence.ReplyFile, doc)
			return ended{evidence.Skipped, "there is no voice"}
		}
		spoken, err := r.s.cfg.Voice.Speak(r.ctx, l, words)
		if err == nil {
			doc.Voice = &spoken.Facts
			if _, ok := st.put(evidence.ReplyWAVFile, spoken.Audio.WAV); ok {
				r.audio = spoken.Audio
				reply.WAV = filepath.Join(r.rec.Dir, evidence.Synth.Folder(), evidence.ReplyWAVFile)
			}
		}
		st.putJSON(evidence.ReplyFile, doc)
		switch {
		case err != nil && r.ctx.Err() != nil:
			return ended{evidence.Cancelled, "the session was stopped"}
		case err != nil:
			return ended{evidence.Failed, err.Error()}
		}
		return done
	})
}
