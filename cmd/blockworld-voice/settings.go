package main

import (
	"blockworld-voice/evidence"
	"blockworld-voice/internal/lang"
	"blockworld-voice/internal/pipeline"
	"blockworld-voice/internal/strictjson"
	"blockworld-voice/transcribe"
)

// settings is what a run works with: flags over the speech profile over the defaults.
type settings struct {
	profile    string // game profile; "" is the embedded lab
	workspace  string // that the speech profile names; "" without one
	model      string
	languages  []lang.Language
	reply      lang.Language
	thresholds transcribe.Thresholds // where the speech profile names limits; otherwise they are the model's
	ownLimits  bool
	voices     map[lang.Language]string
	evidence   string
	threads    int
	quiet      bool
	behave     behaviourFlags

	// of a session
	recorder *recorderSettings
	hook     func(evidence.Stage, pipeline.Boundary)
	player   pipeline.Player
	confirm  pipeline.Confirm
	asker    pipeline.Asker
}

// speechProfile is the document of --speech-profile.
type speechProfile struct {
	Workspace     string            `json:"workspace"`
	Model         string            `json:"model,omitzero"`
	Languages     []lang.Language   `json:"languages,omitzero"`
	ReplyLanguage lang.Language     `json:"reply_language,omitzero"`
	Recognition   recognition       `json:"recognition,omitzero"`
	Recorder      *recorderSettings `json:"recorder,omitzero"`
	Voices        *voiceSettings    `json:"voices,omitzero"`
}

// recognition is the thresholds by class of commands. A document names those that it changes: what it leaves out
// stays as it was before it was read.
type recognition struct {
	Plain       transcribe.Limits `json:"plain,omitzero"`
	Coordinates transcribe.Limits `json:"coordinates,omitzero"`
	Text        transcribe.Limits `json:"text,omitzero"`
}

// provisional is the thresholds without a speech profile.
func provisional() recognition {
	l := transcribe.Provisional().Limit
	return recognition{l[transcribe.Plain], l[transcribe.Coordinates], l[transcribe.Text]}
}

func (r recognition) limits() map[transcribe.Class]transcribe.Limits {
	return map[transcribe.Class]transcribe.Limits{transcribe.Plain: r.Plain, transcribe.Coordinates: r.Coordinates, transcribe.Text: r.Text}
}

// recorderSettings are read so that a profile with them is good; files and text need no recorder.
type recorderSettings struct {
	Device     string  `json:"device,omitzero"`
	MaxSeconds float64 `json:"max_seconds,omitzero"`
	TailMS     int     `json:"tail_ms,omitzero"`
}

type voiceSettings struct {
	SK string `json:"sk,omitzero"`
	CS string `json:"cs,omitzero"`
	EN string `json:"en,omitzero"`
}

func readSpeechProfile(path string) (speechProfile, error) {
	d := speechProfile{Recognition: provisional()}
	bad := func(err error) (speechProfile, error) {
		return d, &problem{status: statusUsage, what: "speech profile " + path, next: "see the keys in docs/profiles.md", err: err}
	}
	data, err := readFile(path, strictjson.MaxSize)
	if err != nil {
		return bad(err)
	}
	if err := strictjson.Unmarshal(data, &d); err != nil {
		return bad(err)
	}
	if err := d.check(data); err != nil {
		return bad(err)
	}
	return d, nil
}

// apply sets what a speech profile says.
func (s *settings) apply(d speechProfile) {
	s.workspace = d.Workspace
	if d.Model != "" {
		s.model = d.Model
	}
	if len(d.Languages) > 0 {
		s.languages = d.Languages
	}
	s.reply = d.ReplyLanguage
	s.recorder = d.Recorder
	if d.Recognition != provisional() {
		s.ownLimits = true
		s.thresholds = transcribe.Thresholds{Name: "speech profile over " + s.thresholds.Name, Limit: d.Recognition.limits()}
	}
	if v := d.Voices; v != nil {
		s.voices = map[lang.Language]string{}
		for l, name := range map[lang.Language]string{lang.SK: v.SK, lang.CS: v.CS, lang.EN: v.EN} {
			if name != "" {
				s.voices[l] = name
			}
		}
	}
}

// settings joins flags, speech profile and defaults.
func (c *runCmd) settings() (settings, error) {
	s := settings{model: "base", languages: lang.All(), thresholds: transcribe.Provisional(), profile: c.Profile, evidence: c.Evidence, quiet: c.Quiet}
	if c.SpeechProfile != "" {
		d, err := readSpeechProfile(c.SpeechProfile)
		if err != nil {
			return s, err
		}
		s.apply(d)
	}
	if c.Model != "" {
		s.model = c.Model
	}
	if c.Language != "" {
		langs, err := languages(c.Language)
		if err != nil {
			return s, err
		}
		s.languages = langs
	}
	if c.ReplyLanguage != "" {
		l, err := lang.Parse(c.ReplyLanguage)
		if err != nil {
			return s, usage("choose sk, cs or en", "--reply-language: %v", err)
		}
		s.reply = l
	}
	s.behave = c.behaviourFlags
	if err := s.behave.check(); err != nil {
		return s, err
	}
	s.threads = c.Threads
	if s.threads < 0 || s.threads > 64 {
		return s, usage("give --threads between 1 and 64", "%d threads can't be used", s.threads)
	}
	return s, nil
}
