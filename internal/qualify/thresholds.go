package qualify

import (
	"fmt"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/strictjson"
	"blockworld-voice/transcribe"
)

// ThresholdsFile is a fitted table: it is good for one model, and says what it was made of.
type ThresholdsFile struct {
	Schema   int           `json:"schema"`
	Name     string        `json:"name"`
	Model    string        `json:"model"`
	ModelSHA digest.Digest `json:"model_sha256"`
	Corpus   digest.Digest `json:"corpus_sha256"`
	Command  []string      `json:"command"`
	Clips    int           `json:"clips"`
	Speakers int           `json:"speakers"`
	InSample []Row         `json:"in_sample"`
	LeftOut  []Row         `json:"left_out"`
	Limits   limitsTable   `json:"limits"`
}

type limitsTable map[transcribe.Class]transcribe.Limits

// File is the fitted table with what it was made of.
func (f *Fit) File(m Made) ThresholdsFile {
	return ThresholdsFile{1, f.Thresholds.Name, m.Model, m.ModelSHA, m.Corpus, m.Command, f.Clips, f.Speakers, f.InSample, f.LeftOut, f.Thresholds.Limit}
}

// Thresholds are what the recogniser is given.
func (f ThresholdsFile) Thresholds() transcribe.Thresholds {
	return transcribe.Thresholds{Name: f.Name, Limit: f.Limits}
}

// ReadThresholds reads a fitted table. Every class has to be in it: a class without limits is never accepted.
func ReadThresholds(data []byte) (ThresholdsFile, error) {
	var f ThresholdsFile
	if err := strictjson.Unmarshal(data, &f); err != nil {
		return f, err
	}
	if f.Schema != 1 {
		return f, fmt.Errorf("/schema: %d is not known, 1 is", f.Schema)
	}
	for _, c := range classes {
		l, ok := f.Limits[c]
		if !ok {
			return f, fmt.Errorf("/limits: there are none for %s", c)
		}
		for name, v := range l.Named() {
			if v < -100 || v > 100 {
				return f, fmt.Errorf("/limits/%s/%s: it lies between -100 and 100", c, name)
			}
		}
	}
	return f, nil
}

var classes = []transcribe.Class{transcribe.Plain, transcribe.Coordinates, transcribe.Text}
