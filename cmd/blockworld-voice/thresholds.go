package main

import (
	"embed"
	"fmt"
	"io/fs"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/qualify"
	"blockworld-voice/transcribe"
)

// fittedTables are thresholds that `qualify --fit` made, one file a model.
//
//go:embed thresholds/*.json
var fittedTables embed.FS

// thresholdsFor returns the limits for a model: the table that was fitted for these very
// weights, or the conservative one.
func thresholdsFor(model digest.Digest) (t transcribe.Thresholds, fitted bool, err error) {
	names, err := fs.Glob(fittedTables, "thresholds/*.json")
	if err != nil {
		return t, false, err
	}
	for _, name := range names {
		data, err := fittedTables.ReadFile(name)
		if err != nil {
			return t, false, err
		}
		f, err := qualify.ReadThresholds(data)
		if err != nil {
			return t, false, fmt.Errorf("%s: %w", name, err)
		}
		if f.ModelSHA == model {
			return f.Thresholds(), true, nil
		}
	}
	return transcribe.Conservative(), false, nil
}
