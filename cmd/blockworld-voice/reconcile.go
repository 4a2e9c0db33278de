package main

import (
	"fmt"

	"blockworld-voice/game"
)

type reconcileCmd struct{}

func (*reconcileCmd) Run(p *program) error {
	dir, err := game.StateDir()
	if err != nil {
		return err
	}
	left, err := game.Reconcile(dir)
	for _, l := range left {
		state := "may still run"
		if l.Ended {
			state = "has ended"
		}
		fmt.Fprintf(p.out, "client %s, which %s: session %s had left it %s; a new session may take it\n", l.Client, state, l.Session, l.State)
	}
	if err != nil {
		return err
	}
	if len(left) == 0 {
		fmt.Fprintln(p.out, "nothing to reconcile")
	}
	return nil
}
