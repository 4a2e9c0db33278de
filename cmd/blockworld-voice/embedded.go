package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"blockworld-voice/game"
	"blockworld-voice/game/lab"
	"blockworld-voice/internal/atomicfile"
)

// The embedded lab: its world runs faster than real time, so that a walk of some hundred blocks takes seconds, and
// its policy and its loaded chunks reach across the flat world.
const (
	labSpeed         = 40
	labDistance      = 1024
	labChunks        = 72
	labActionSeconds = 600
)

// startLab starts the lab as a child process. A workspace of "" is a fresh one in the state folder.
func startLab(ctx context.Context, workspace string) (*game.LabProcess, game.Profile, error) {
	fail := func(err error) (*game.LabProcess, game.Profile, error) {
		if ctx.Err() != nil {
			return nil, game.Profile{}, context.Cause(ctx)
		}
		var known *problem
		if errors.As(err, &known) {
			return nil, game.Profile{}, err
		}
		return nil, game.Profile{}, &problem{status: statusUnreachable, what: "the embedded lab could not be started", next: "see: blockworld-voice doctor", err: err}
	}
	if lab.NoAI(game.GameHome()) {
		return nil, game.Profile{}, &problem{status: statusDenied, what: "No AI is on for this game", next: "only the game's player can turn it off, in the game's settings"}
	}
	if workspace == "" {
		var err error
		if workspace, err = freshWorkspace(); err != nil {
			return fail(err)
		}
	}
	exe, err := os.Executable()
	if err != nil {
		return fail(err)
	}
	child, profile, err := game.StartLab(ctx, exe, workspace, "--speed", fmt.Sprint(labSpeed), "--chunks", fmt.Sprint(labChunks))
	if err != nil {
		return fail(err)
	}
	profile.Policy.MaxDistance, profile.Policy.ActionSeconds = labDistance, labActionSeconds
	path := filepath.Join(profile.Workspace, "profile.json")
	doc, err := profile.Document()
	if err == nil {
		err = atomicfile.Write(path, doc)
	}
	if err == nil {
		profile, err = game.ReadProfile(path)
	}
	if err != nil {
		return fail(errors.Join(err, child.Close()))
	}
	return child, profile, nil
}

// freshWorkspace makes a private folder below the state folder.
func freshWorkspace() (string, error) {
	base, err := stateDir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", err
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return "", err
	}
	return os.MkdirTemp(base, "lab-"+time.Now().UTC().Format("20060102-150405")+"-")
}
