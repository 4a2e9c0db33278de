package main

import "blockworld-voice/game/lab"

type labCmd struct {
	Args []string `arg:"" optional:"" passthrough:"all" help:"Flags of the lab; see: blockworld-voice lab --help."`
}

func (c *labCmd) Run(p *program) error {
	p.status = status(lab.Main(c.Args, p.in, p.out, p.err))
	return nil
}
