package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"blockworld-voice/game"
	"blockworld-voice/game/horizon"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/atomicfile"
	"blockworld-voice/internal/procgroup"
)

type profileCmd struct {
	New   profileNew   `cmd:"" help:"Write a profile for the client that runs now: short expiry, narrow bounds around where it stands."`
	Check profileCheck `cmd:"" help:"Check a profile, and that the pinned client is there and fits."`
}

type profileNew struct {
	Socket    string   `required:"" placeholder:"PATH" help:"The client's control socket, or tcp:127.0.0.1:PORT."`
	TokenFile string   `placeholder:"FILE" help:"The token's file, for a TCP endpoint."`
	Workspace string   `placeholder:"DIR" help:"Private folder for profile and evidence (default: a fresh one)."`
	Checkout  []string `placeholder:"DIR" help:"Checkouts that the workspace must not touch (default: the current folder)."`
	Minutes   int      `default:"60" placeholder:"N" help:"When it expires."`
	Reach     int      `default:"64" placeholder:"BLOCKS" help:"How far from here the companion may go."`
	Output    string   `placeholder:"FILE" help:"Where to write it, inside the workspace; without it, it is printed."`
}

const (
	askWait     = 6 * time.Second
	lowestBlock = -64
	topBlock    = 319
	farthest    = 30000
)

func (c *profileNew) Run(p *program) error {
	if c.Minutes < 1 || c.Minutes > 24*60 || c.Reach < 1 || c.Reach > 1024 {
		return usage("give --minutes 1 to 1440 and --reach 1 to 1024", "such a profile would be too wide or too short")
	}
	socket := c.Socket
	if !strings.HasPrefix(socket, "tcp:") {
		abs, err := filepath.Abs(socket)
		if err != nil {
			return err
		}
		socket = abs
	}
	endpoint, err := horizon.ParseEndpoint(socket, c.TokenFile)
	if err != nil {
		return usage("see: blockworld-voice profile new --help", "--socket: %v", err)
	}
	profile, err := c.pin(p, endpoint)
	if err != nil {
		return err
	}
	doc, err := profile.Document()
	if err != nil {
		return err
	}
	if c.Output == "" {
		_, err = p.out.Write(doc)
		return err
	}
	if err := game.CheckWorkspace(profile.Workspace, profile.CheckoutRoots); err != nil {
		return &problem{status: statusUsage, what: err.Error(), next: "name a private folder (chmod 700) outside every checkout with --workspace"}
	}
	if err := atomicfile.Write(c.Output, doc); err != nil {
		return err
	}
	if _, err := game.ReadProfile(c.Output); err != nil {
		return &problem{status: statusUsage, what: "the profile was written and can't be used there", next: "write it into the workspace " + profile.Workspace, err: err}
	}
	_, err = fmt.Fprintln(p.out, c.Output)
	return err
}

// pin asks the running client who it is and where it stands. It sends questions only.
func (c *profileNew) pin(p *program, endpoint horizon.Endpoint) (game.Profile, error) {
	fail := func(err error) (game.Profile, error) {
		return game.Profile{}, &problem{status: statusUnreachable, what: "the client can't be asked", next: "is the game running, and is this its control socket?", err: err}
	}
	ctx, cancel := context.WithTimeout(p.ctx, 5*askWait)
	defer cancel()
	client, err := horizon.Dial(ctx, endpoint, procgroup.ID{})
	if err != nil {
		return fail(err)
	}
	defer client.Close()
	owner, err := horizon.OwnerOf(client)
	if err != nil {
		return fail(err)
	}
	asked := []struct {
		what string
		err  error
	}{}
	ask := func(what string, err error) {
		asked = append(asked, struct {
			what string
			err  error
		}{what, err})
	}
	hello, err := client.Hello(ctx, askWait)
	ask("hello", err)
	state, err := client.State(ctx, askWait)
	ask("state", err)
	stateErr := err
	status, err := client.Status(ctx, askWait)
	ask("status", err)
	statusErr := err
	for _, a := range asked {
		if a.err != nil {
			fmt.Fprintf(p.err, "assumed form of %s: contradicted: %s\n", a.what, oneLine(a.err.Error()))
		} else {
			fmt.Fprintf(p.err, "assumed form of %s: confirmed\n", a.what)
		}
	}
	if hello.Game != "" {
		fmt.Fprintf(p.err, "client: %s %s\n", oneLine(hello.Game), oneLine(hello.Version))
	}
	if stateErr != nil {
		return fail(stateErr)
	}
	if statusErr != nil {
		return fail(statusErr)
	}
	workspace := c.Workspace
	if workspace == "" {
		if workspace, err = freshWorkspace(); err != nil {
			return fail(err)
		}
	}
	if workspace, err = filepath.Abs(workspace); err != nil {
		return fail(err)
	}
	roots, err := c.roots()
	if err != nil {
		return fail(err)
	}
	profile := game.Profile{
		Binding: game.Binding{Endpoint: endpoint, TokenFile: c.TokenFile, Process: owner, Name: state.Name, Dimension: state.Dimension,
			Mode: game.SinglePlayerLab, World: state.World, Timeout: askWait},
		Policy: game.Policy{Actions: []game.Action{game.ActGoTo, game.ActLookAt, game.ActSay}, MaxDistance: float64(c.Reach), ActionSeconds: 30, MaxActions: 200,
			Expires: time.Now().UTC().Add(time.Duration(c.Minutes) * time.Minute).Truncate(time.Second)},
		Workspace: workspace, CheckoutRoots: roots,
	}
	if status.Server != nil {
		profile.Binding.Mode, profile.Binding.Server = game.Remote, status.Server.Address
	}
	for i, at := range state.Pos {
		low, high := -farthest, farthest
		if i == 1 {
			low, high = lowestBlock, topBlock
		}
		profile.Policy.Min[i] = grammar.Blocks(max(low, int(math.Floor(at))-c.Reach))
		profile.Policy.Max[i] = grammar.Blocks(min(high, int(math.Ceil(at))+c.Reach))
	}
	return profile, nil
}

func (c *profileNew) roots() ([]string, error) {
	given := c.Checkout
	if len(given) == 0 {
		dir, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		given = []string{dir}
	}
	var out []string
	for _, dir := range given {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		out = append(out, abs)
	}
	return out, nil
}

type profileCheck struct {
	File string `arg:"" help:"A game profile."`
}

func (c *profileCheck) Run(p *program) error {
	profile, err := game.ReadProfile(c.File)
	if err != nil {
		return &problem{status: statusUsage, what: "the game profile can't be used", next: "write a fresh one with: blockworld-voice profile new", err: err}
	}
	session, err := game.Open(p.ctx, profile, game.Options{})
	if err != nil {
		return opening(err)
	}
	if err := session.Close(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "good until %s: %s, %s, up to %g blocks away, %d actions\n", profile.Policy.Expires.Format(time.RFC3339),
		profile.Binding.Mode, oneLine(profile.Binding.Name), profile.Policy.MaxDistance, profile.Policy.MaxActions)
	return err
}
