package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"blockworld-voice/capture/mic"
	"blockworld-voice/capture/recorder"
	"blockworld-voice/internal/procgroup"
	"blockworld-voice/synth/player"
)

// The processes that this program starts of itself. They hold what may hang or die: a sound device.
const (
	recorderProcess = "recorder-process"
	playerProcess   = "player-process"
)

type recorderCmd struct{}

// Run is the process with the microphone. It ends with its input, or at once with a signal.
func (*recorderCmd) Run(p *program) error {
	defer context.AfterFunc(p.ctx, func() { os.Exit(int(statusCancelled)) })()
	return recorder.Serve(p.in, p.out, mic.Version(), sounds)
}

// The devices. Tests have their own.
var (
	sounds      = mic.System
	loudspeaker = player.Device
)

type playerCmd struct{}

// Run is the process that plays one reply.
func (*playerCmd) Run(p *program) error {
	defer context.AfterFunc(p.ctx, func() { os.Exit(int(statusCancelled)) })()
	return player.Serve(p.in, p.out, loudspeaker)
}

// logs opens the file for the standard error of a process of that name: libraries of sound write noise there.
func logs(of string) (*os.File, error) {
	dir, err := stateDir()
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(dir, "log")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(filepath.Join(dir, of+".log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
}

// recorderStarter starts this program as the process with the microphone.
func recorderStarter(log *os.File) (procgroup.Starter, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("this program can't be found: %w", err)
	}
	return procgroup.Piped(procgroup.Spec{Path: exe, Args: []string{recorderProcess}, Stderr: log, Grace: recorderGrace}), nil
}
