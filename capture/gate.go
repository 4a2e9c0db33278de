package capture

import "blockworld-voice/internal/pcm"

// Speech is what the gate found in a clip and why it decided as it did. All figures are finite.
type Speech struct {
	Speech    bool       `json:"speech"`
	Reason    GateReason `json:"reason"`
	PeakDBFS  float64    `json:"peak_dbfs"`
	RMSDBFS   float64    `json:"rms_dbfs"`
	FloorDBFS float64    `json:"floor_dbfs"` // adaptive: the level of the quiet tenth, without digital silence
	LoudDBFS  float64    `json:"loud_dbfs"`  // the level of the loudest fiftieth
	ActiveMS  int        `json:"active_ms"`  // clearly over the floor
	VoicedMS  int        `json:"voiced_ms"`  // of that: with a voice's pitch
	TonalMS   int        `json:"tonal_ms"`   // one steady tone
	ZCR       float64    `json:"zcr"`        // mean zero crossings a sample while active
	ZCRSpread float64    `json:"zcr_spread"` // between the tenth and the ninetieth percentile
	StartMS   int        `json:"start_ms"`   // where sound begins and ends, with a margin; both 0 without speech
	EndMS     int        `json:"end_ms"`
}

// GateReason is why a clip was passed on or held back.
type GateReason string

// The reasons. The first two pass a clip on.
const (
	GateVoiced   GateReason = "voiced"       // a voice
	GateDoubtful GateReason = "doubtful"     // no voice, but varied sound: perhaps a whisper
	GateEmpty    GateReason = "empty"        // no samples
	GateSilence  GateReason = "silence"      // nothing over quiet
	GateSteady   GateReason = "steady_noise" // nothing over the noise floor
	GateTone     GateReason = "tone"         // a cue or a hum
	GateClicks   GateReason = "clicks"       // only bursts too short for speech
	GateNoVoice  GateReason = "no_voice"     // sound without a voice, such as breath
)

// Thresholds of the gate. They were set on the 580 clips of three languages at 0, −20 and −30 dB,
// clean and with noise at 15 dB, against the sounds in the tests, with room on the side of speech:
// an engine asked in vain costs a moment, a lost instruction costs the person's trust.
const (
	quietDBFS   = -72.0 // a frame under this is no speech at any gain that a microphone gives
	digitalDBFS = -95.0 // a frame under this is digital silence and says nothing of the noise floor
	activeOver  = 6.0   // dB over the floor that make a frame active
	variedOver  = 10.0  // the same for speech without a voice
	voicedAt    = 0.35  // repetition of a voiced frame
	surelyAt    = 0.40  // repetition that noise never keeps up

	maxFall    = 4.0 // dB from a frame to the next in a voice; the ring of a click falls faster
	minBurst   = 6   // active frames in a row; a key click has 5
	minVoiced  = 4   // voiced frames in such a row
	minSurely  = 6   // surely voiced frames within surelySpan, whatever the floor is
	surelySpan = 30  // frames

	minVariedRun    = 12   // frames in a row
	minVaried       = 25   // frames in all
	minVariedSpread = 0.15 // of zero crossings; a breath has under 0.1

	boundMargin = 15 // frames
)

// Gate decides from 16 kHz samples whether there is speech at all, before a recogniser is asked. It
// is pure. Doubtful sound passes.
func Gate(samples []float32) Speech {
	s := Speech{PeakDBFS: pcm.DBFS(pcm.Peak(samples)), RMSDBFS: pcm.DBFS(pcm.RMS(samples)), FloorDBFS: pcm.Quietest, LoudDBFS: pcm.Quietest}
	fs := frames(samples, quietDBFS)
	s.Reason = s.decide(fs)
	switch s.Reason {
	case GateVoiced, GateDoubtful:
		s.Speech = true
		s.bounds(fs, len(samples))
	case GateEmpty, GateSilence, GateSteady, GateTone, GateClicks, GateNoVoice:
	}
	return s
}

func (s *Speech) decide(fs []frame) GateReason {
	if len(fs) == 0 {
		return GateEmpty
	}
	var levels []float64
	audible := 0
	for _, f := range fs {
		if f.level > digitalDBFS {
			levels = append(levels, f.level)
		}
		if f.level >= quietDBFS {
			audible++
		}
	}
	if len(levels) > 0 {
		s.FloorDBFS, s.LoudDBFS = quantile(levels, 0.10), quantile(levels, 0.98)
	}
	if audible == 0 {
		return GateSilence
	}
	m := s.measure(fs)
	sound := m.active // what a tone is compared with; a tone in digital silence is its own floor
	if sound == 0 {
		sound = audible
	}
	switch {
	case m.voiceBurst || m.surely >= minSurely:
		return GateVoiced
	case m.variedRun >= minVariedRun && m.varied >= minVaried && s.ZCRSpread >= minVariedSpread:
		return GateDoubtful
	case 2*m.tonal > sound:
		return GateTone
	case m.active == 0:
		return GateSteady
	case m.burst < minBurst:
		return GateClicks
	}
	return GateNoVoice
}

// measures are the counts that decide, in frames.
type measures struct {
	active     int
	burst      int  // longest active row
	voiceBurst bool // a row long enough, with enough voice in it
	surely     int  // most surely voiced frames within surelySpan
	tonal      int
	varied     int
	variedRun  int
}

func (s *Speech) measure(fs []frame) measures {
	var m measures
	var zcrs []float64
	run, voicedInRun, gap, variedRun := 0, 0, 0, 0
	surely := make([]bool, len(fs))
	inSpan, voiced := 0, 0
	for i, f := range fs {
		audible := f.level >= quietDBFS
		if audible && f.repeat >= voicedAt && f.tonal() {
			m.tonal++
		}
		isVoiced := audible && f.repeat >= voicedAt && !f.tonal() && (i == 0 || f.level > fs[i-1].level-maxFall)
		surely[i] = isVoiced && f.repeat >= surelyAt
		if surely[i] {
			inSpan++
		}
		if i >= surelySpan && surely[i-surelySpan] {
			inSpan--
		}
		m.surely = max(m.surely, inSpan)

		if audible && f.level >= s.FloorDBFS+activeOver {
			m.active++
			run, gap = run+1, 0
			if isVoiced {
				voiced++
				voicedInRun++
			}
			zcrs = append(zcrs, f.zcr)
			s.ZCR += f.zcr
		} else if gap++; gap > 1 { // one frame under the threshold doesn't end a row
			run, voicedInRun = 0, 0
		}
		m.burst = max(m.burst, run)
		m.voiceBurst = m.voiceBurst || run >= minBurst && voicedInRun >= minVoiced

		if audible && f.level >= s.FloorDBFS+variedOver {
			m.varied++
			variedRun++
			m.variedRun = max(m.variedRun, variedRun)
		} else {
			variedRun = 0
		}
	}
	s.ActiveMS, s.VoicedMS, s.TonalMS = m.active*hopMS, voiced*hopMS, m.tonal*hopMS
	if len(zcrs) > 0 {
		s.ZCR /= float64(len(zcrs))
		s.ZCRSpread = quantile(zcrs, 0.9) - quantile(zcrs, 0.1)
	}
	return m
}

// bounds sets where the sound begins and ends: the first and the last three frames in a row that
// are active or surely voiced, and the whole clip if there are none. They are wide on purpose: a
// weak first or last consonant may lie under the threshold.
func (s *Speech) bounds(fs []frame, samples int) {
	total := 1000 * samples / Rate
	first, last, run := -1, -1, 0
	for i, f := range fs {
		if f.level < quietDBFS || f.level < s.FloorDBFS+activeOver && f.repeat < surelyAt {
			run = 0
			continue
		}
		if run++; run < 3 {
			continue
		}
		if first < 0 {
			first = i - 2
		}
		last = i
	}
	if first < 0 {
		s.StartMS, s.EndMS = 0, total
		return
	}
	s.StartMS = max(0, first-boundMargin) * hopMS
	s.EndMS = min(total, (last+1+boundMargin)*hopMS)
}
