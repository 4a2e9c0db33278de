package main

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"blockworld-voice/capture/gesture"
)

type pttCmd struct {
	Word string `arg:"" help:"press, release, toggle or stop."`
}

func (c *pttCmd) Run(p *program) error {
	word := gesture.Word("")
	for _, w := range gesture.Words() {
		if c.Word == string(w) {
			word = w
		}
	}
	if word == "" {
		return usage("say press, release, toggle or stop", "%q is not a word of ptt", c.Word)
	}
	path, err := controlPath()
	if err != nil {
		return err
	}
	answer, err := gesture.Send(p.ctx, path, word)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return &problem{status: statusUnreachable, what: "no session is running", next: "start one with: blockworld-voice --session", err: nil}
	}
	if err != nil {
		return &problem{status: statusUnreachable, what: "the session can't be reached", next: "is it of the same user? see docs/session.md", err: err}
	}
	_, err = fmt.Fprintln(p.out, oneLine(answer))
	return err
}

func controlPath() (string, error) {
	state, err := stateDir()
	if err != nil {
		return "", err
	}
	return gesture.ControlPath(state), nil
}
