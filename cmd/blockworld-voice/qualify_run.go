package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"blockworld-voice/capture"
	"blockworld-voice/game"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/lang"
	"blockworld-voice/internal/pipeline"
	"blockworld-voice/internal/qualify"
	"blockworld-voice/models"
	"blockworld-voice/transcribe"
)

// measure takes every clip through the part of the course that is before the game, with nothing refused.
func (c *qualifyCmd) measure(p *program, co *corpus, m models.Model, made *qualify.Made, limits transcribe.Thresholds) (_ []qualify.Clip, _ *qualify.Store, err error) {
	box, err := readBox(c.Box)
	if err != nil {
		return nil, nil, err
	}
	plan := qualify.Plan{Labels: co.manifest.Labels, Conditions: made.Conditions, Digests: co.clips, Thresholds: limits}
	if c.Output != "" {
		switch plan.Store, err = qualify.OpenStore(c.Output, made.Settings, c.Resume); {
		case errors.Is(err, qualify.ErrOccupied):
			return nil, nil, usage("go on with --resume, or name another folder", "%s: %v", c.Output, err)
		case err != nil:
			return nil, nil, &problem{status: statusUnwritten, what: "the output folder can't be used", next: "name another one for --output", err: err}
		}
		defer func() { err = errors.Join(err, plan.Store.Close()) }()
	}
	engine, err := transcribe.New(transcribe.Config{
		Path: m.Path, Name: m.Name, SHA256: m.SHA256, Threads: c.Threads, Thresholds: qualify.Open(), Tempos: made.Tempos, CacheDir: silenceDir(),
	})
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = engine.Close() }() // a silence table that can't be kept is computed again next time
	bar, began := p.progress("qualify"), time.Now()
	plan.Progress = func(done, measured, total int) { bar.clips(done, measured, total, time.Since(began)) }
	listen := &listener{dir: co.dir, co: co, ear: pipeline.NewEar(engine), seed: c.Seed, language: c.Language, limits: box, engine: &made.Engine}
	clips, err := plan.Run(p.ctx, listen.hear)
	bar.end()
	if err != nil && plan.Store != nil {
		p.note(settings{}, fmt.Sprintf("%d of %d clips are measured; --resume goes on", len(clips), len(plan.Labels)*len(plan.Conditions)))
	}
	if made.Engine == "" {
		made.Engine = "not asked: every figure is of an earlier run"
	}
	return clips, plan.Store, err
}

type listener struct {
	dir      string
	co       *corpus
	ear      *pipeline.Ear
	seed     uint64
	language string
	limits   game.Limits
	engine   *string // its version, once it has answered
}

// hear measures one clip. A file that is no sound is a clip without speech, as in a run.
func (l *listener) hear(ctx context.Context, label qualify.Label, condition string) (digest.Digest, qualify.Figures, error) {
	clip, err := capture.ReadFile(filepath.Join(l.dir, filepath.FromSlash(label.File)))
	var bad *capture.Error
	switch {
	case errors.As(err, &bad) && l.co.clips[label.File] != digest.Digest{}:
		return l.co.clips[label.File], qualify.Figures{Gate: bad.Problem}, nil
	case err != nil:
		return digest.Digest{}, qualify.Figures{}, err
	case clip.SHA256 != l.co.clips[label.File]:
		return digest.Digest{}, qualify.Figures{}, &problem{status: statusFailed, what: label.File + " has changed during the run", next: "run again when nothing writes to the corpus"}
	}
	samples := clip.Samples
	for _, cond := range l.co.conditions {
		if cond.Name == condition {
			if samples, err = cond.Apply(samples, l.seed^binary.LittleEndian.Uint64(clip.SHA256[:])); err != nil {
				return digest.Digest{}, qualify.Figures{}, err
			}
		}
	}
	task := pipeline.Task{Languages: []lang.Language{label.Language}, Limits: l.limits, Start: label.Task.Start()}
	if l.language != "asked" {
		if task.Languages, err = languages(l.language); err != nil {
			return digest.Digest{}, qualify.Figures{}, err
		}
	}
	began := time.Now()
	h, err := l.ear.Hear(ctx, samples, task)
	if err != nil {
		return digest.Digest{}, qualify.Figures{}, err
	}
	f := qualify.Figures{TotalNS: time.Since(began).Nanoseconds()}
	if t := h.Transcript; t != nil {
		*l.engine = t.Engine
		f.Readings, f.Languages, f.Witnesses = t.Readings, t.Confidence.Languages, t.Confidence.Witnesses
		f.EncodeNS, f.DecodeNS = t.EncodeNS, t.DecodeNS
	} else {
		f.Gate = string(h.Gate.Reason)
	}
	return clip.SHA256, f, nil
}

// readBox reads the limits of --box; every command is permitted.
func readBox(s string) (game.Limits, error) {
	l := game.Limits{Permitted: grammar.Kinds()}
	cells := strings.Split(s, ",")
	bad := usage("give six whole numbers between -30000 and 30000: the least X,Y,Z, then the greatest", "--box can't be %q", s)
	if len(cells) != 6 {
		return l, bad
	}
	for i, cell := range cells {
		n, err := strconv.Atoi(strings.TrimSpace(cell))
		if err != nil || n < -30000 || n > 30000 {
			return l, bad
		}
		if i < 3 {
			l.Min[i] = grammar.Blocks(n)
		} else if l.Max[i-3] = grammar.Blocks(n); l.Max[i-3] < l.Min[i-3] {
			return l, bad
		}
	}
	return l, nil
}
