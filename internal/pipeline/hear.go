package pipeline

import (
	"errors"
	"fmt"
	"path/filepath"

	"blockworld-voice/capture"
	"blockworld-voice/evidence"
	"blockworld-voice/internal/digest"
	"blockworld-voice/transcribe"
)

// maxKept is the largest source that an evidence folder takes.
const maxKept = 64 << 20

// speechFigures is the gate's verdict on a clip, beside what is unusual in the clip.
const speechFigures = "speech.json"

// speechDoc is 1-capture/speech.json.
type speechDoc struct {
	Schema  int            `json:"schema"`
	Name    string         `json:"name"`
	Format  capture.Format `json:"format"`
	Frames  int            `json:"frames"`
	Seconds float64        `json:"seconds"`
	Marks   []capture.Mark `json:"marks,omitempty"`
	Clipped int            `json:"clipped,omitzero"`
	Gate    capture.Speech `json:"gate"`
}

// capture keeps the source as it is, decodes it and asks whether somebody speaks in it.
func (r *run) capture() {
	if src, ok := r.rec.Source.(Live); ok {
		r.live(src)
		return
	}
	wav, ok := r.rec.Source.(WAV)
	if !ok {
		r.skip(evidence.Capture, "the instruction was typed")
		return
	}
	r.stage(evidence.Capture, func(st *step) ended {
		if e, stop := st.cancelled(); stop {
			return e
		}
		h := &Heard{}
		r.rec.Heard = h
		name := filepath.Base(wav.Path) // evidence doesn't hold the folders of the operator
		data, err := capture.ReadSource(wav.Path)
		if err != nil {
			return st.refuseSource(wav, err)
		}
		h.SHA256 = digest.Of(data)
		if len(data) > maxKept {
			return st.refuseSource(wav, &capture.Error{
				Name: name, Kind: capture.TooBig, Offset: capture.NoOffset, Hint: "Cut the one instruction out of it.",
				Problem: fmt.Sprintf("the file has %d MiB, at most %d can be kept as evidence", len(data)>>20, maxKept>>20),
			})
		}
		st.put(evidence.ClipFile, data)
		clip, err := capture.Decode(name, data)
		if err != nil {
			return st.refuseSource(wav, err)
		}
		st.hear(clip)
		return done
	})
}

// hear keeps a clip as the recogniser gets it, and asks whether somebody speaks in it.
func (st *step) hear(clip *capture.Clip) {
	h := st.r.rec.Heard
	h.Clip = clip
	st.put(evidence.SpeechFile, clip.SpeechWAV())
	h.Gate = capture.Gate(clip.Samples)
	st.putJSON(speechFigures, speechDoc{
		Schema: 1, Name: plain(clip.Name), Format: clip.Format, Frames: clip.Frames, Seconds: clip.Seconds,
		Marks: clip.Marks, Clipped: clip.Clipped, Gate: h.Gate,
	})
}

// refuseSource ends capture for a source that is no clip. The operator is told the path, the evidence the name.
func (st *step) refuseSource(wav WAV, err error) ended {
	var e *capture.Error
	if !errors.As(err, &e) {
		st.r.rec.BadSource = err
		return ended{evidence.Refused, err.Error()}
	}
	told, kept := *e, *e
	told.Name, kept.Name = wav.Path, filepath.Base(wav.Path)
	st.r.rec.BadSource = &told
	return ended{evidence.Refused, plain(kept.Error())}
}

// transcribe asks the recogniser for one reading among what may be said now.
func (r *run) transcribe() {
	h := r.rec.Heard
	switch {
	case h == nil && r.ctx.Err() == nil:
		r.skip(evidence.Transcribe, "the instruction was typed")
		return
	case h == nil || r.ctx.Err() != nil:
		r.skip(evidence.Transcribe, "the session was stopped")
		return
	case h.Clip == nil:
		r.skip(evidence.Transcribe, "there is no clip")
		return
	case !h.Gate.Speech:
		r.skip(evidence.Transcribe, string(NoSpeech)+": "+string(h.Gate.Reason))
		return
	case r.err != nil:
		r.skip(evidence.Transcribe, unwritten)
		return
	}
	r.stage(evidence.Transcribe, func(st *step) ended {
		st.read(r.written(evidence.Capture, evidence.SpeechFile))
		t, err := r.s.ear.understand(r.ctx, h.Clip.Samples, Task{Languages: r.rec.Asked, Limits: r.s.companion.Limits(), FreeText: true}, h.Gate)
		switch {
		case err != nil && r.ctx.Err() != nil:
			return ended{evidence.Cancelled, "the session was stopped"}
		case err != nil:
			r.rec.Fault = err
			return ended{evidence.Failed, err.Error()}
		}
		r.rec.Transcript = t
		st.putJSON(evidence.TranscriptFile, transcriptDoc{Schema: 1, WAVSHA256: h.SHA256, Transcript: *t})
		if t.Verdict != transcribe.Understood {
			return ended{evidence.Refused, string(NotUnderstood) + ": " + t.Confidence.Why}
		}
		return done
	})
}

// transcriptDoc is 2-transcribe/transcript.json.
type transcriptDoc struct {
	Schema    int           `json:"schema"`
	WAVSHA256 digest.Digest `json:"wav_sha256"` // of the clip as it was captured
	transcribe.Transcript
}

// written returns the reference of an artefact of an earlier stage, or an empty one.
func (r *run) written(s evidence.Stage, name string) evidence.Ref {
	for _, rc := range r.rec.Trail {
		if rc.Stage != s {
			continue
		}
		for _, o := range rc.Outputs {
			if o.Name == s.Folder()+"/"+name {
				return o
			}
		}
	}
	return evidence.Ref{}
}

// cancelled ends a stage when the operator has stopped the session.
func (st *step) cancelled() (ended, bool) {
	if st.r.ctx.Err() == nil {
		return ended{}, false
	}
	return ended{evidence.Cancelled, "the session was stopped"}, true
}

const unwritten = "the evidence could not be written"
