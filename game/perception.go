package game

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"blockworld-voice/game/horizon"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/procgroup"
	"blockworld-voice/internal/strictjson"
)

// SampleID names one perception sample of one session. Zero is no sample.
type SampleID uint64

// CellSample is one exactly queried cell. Where Known is false nothing may be concluded:
// it wasn't loaded, it lies outside the dimension's height, or the answer was missing.
type CellSample struct {
	At    [3]int32 `json:"at"`
	Known bool     `json:"known"`
	Block string   `json:"block,omitempty"`
}

// Sample is what a model may be given: bounded, typed, and tied to the client generation
// that it was read from. It holds no label, name, chat or other text of the world. State
// and cells were read one after the other between Began and Ended.
type Sample struct {
	Client  procgroup.ID   `json:"client"`
	Session string         `json:"session"`
	ID      SampleID       `json:"id"`
	Began   int64          `json:"began_ns"` // since the session was opened
	Ended   int64          `json:"ended_ns"`
	Pose    Pose           `json:"pose"`
	Health  float64        `json:"health"`
	Idle    bool           `json:"idle"`
	Held    *horizon.Stack `json:"held"` // nil is an empty hand
	Cells   []CellSample   `json:"cells,omitempty"`
}

// MaxCells is how many cells one sample may ask for.
const MaxCells = 16

// heights are the vertical bounds of the known dimensions, inclusive. The game's own
// answer knows chunks and not height.
var heights = map[string][2]int32{
	"minecraft:overworld":  {-64, 319},
	"minecraft:the_nether": {0, 255},
	"minecraft:the_end":    {0, 255},
}

// Height gives the vertical bounds of a dimension, and whether they are known.
func Height(dimension string) (low, high int32, ok bool) {
	h, ok := heights[dimension]
	return h[0], h[1], ok
}

// Sample reads one. The cells are asked for one by one; a cell that can't be known stays unknown.
func (s *Session) Sample(ctx context.Context, cells ...[3]int32) (Sample, error) {
	if len(cells) > MaxCells {
		return Sample{}, fmt.Errorf("at most %d cells are read for a sample", MaxCells)
	}
	if err := s.authority(); err != nil {
		return Sample{}, err
	}
	out := Sample{Client: s.profile.Binding.Process, Session: s.id, Began: s.since()}
	v, err := s.observe(ctx)
	if err != nil {
		return Sample{}, err
	}
	out.Pose, out.Health, out.Idle, out.Held = *poseOf(v.State), v.State.Health, v.State.Action == "", v.State.Held
	for _, at := range cells {
		c, err := s.Cell(ctx, v.State.Dimension, at)
		if err != nil {
			return Sample{}, err
		}
		out.Cells = append(out.Cells, c)
	}
	out.Ended = s.since()
	s.gate.Lock()
	defer s.gate.Unlock()
	s.samples++
	out.ID, s.sampled = s.samples, out.Ended
	return out, nil
}

// Cell reads one cell of the dimension that the client was seen in.
func (s *Session) Cell(ctx context.Context, dimension string, at [3]int32) (CellSample, error) {
	low, high, ok := Height(dimension)
	if !ok || at[1] < low || at[1] > high {
		return CellSample{At: at}, nil
	}
	var c horizon.Cell
	if err := s.ask(ctx, func(h *horizon.Client) (err error) {
		c, err = h.Block(ctx, horizon.Block{X: at[0], Y: at[1], Z: at[2]}, s.profile.Binding.Timeout)
		return err
	}); err != nil {
		return CellSample{}, err
	}
	return CellSample{At: at, Known: c.Loaded, Block: c.Block}, nil
}

// Inventory reads the slots.
func (s *Session) Inventory(ctx context.Context) (horizon.Bag, error) {
	var b horizon.Bag
	err := s.ask(ctx, func(h *horizon.Client) (err error) {
		b, err = h.Inventory(ctx, s.profile.Binding.Timeout)
		return err
	})
	return b, err
}

// Proposal is what a model may answer: one command, tied to the sample that it was made
// from. It reaches nothing: Admit turns it into a command that goes the operator's way.
type Proposal struct {
	Session string
	Sample  SampleID
	Command grammar.Command
}

// ParseProposal reads a proposal document. It establishes a shape and nothing else.
func ParseProposal(data []byte) (Proposal, error) {
	var d struct {
		Schema  int         `json:"schema"`
		Session string      `json:"session"`
		Sample  SampleID    `json:"sample"`
		Kind    string      `json:"kind"`
		At      *[3]float64 `json:"at,omitempty"`
		Text    *string     `json:"text,omitempty"`
	}
	if err := strictjson.Unmarshal(data, &d); err != nil {
		return Proposal{}, err
	}
	if d.Schema != schema {
		return Proposal{}, fmt.Errorf("schema %d isn't known", d.Schema)
	}
	p := Proposal{Session: d.Session, Sample: d.Sample}
	kind, ok := grammar.ParseKind(d.Kind)
	if !ok {
		return Proposal{}, errors.New("kind: there is no such command")
	}
	place := kind == grammar.KindGoTo || kind == grammar.KindLookAt
	if place != (d.At != nil) || (kind == grammar.KindSay) != (d.Text != nil) {
		return Proposal{}, errors.New("goto and look-at have a place, say has a text, and nothing else has either")
	}
	var at [3]grammar.Coord
	if place {
		for i, v := range d.At {
			h := math.Round(v * 100)
			if !(h >= float64(grammar.MinCoord) && h <= float64(grammar.MaxCoord)) || math.Abs(h-v*100) > 1e-6 {
				return Proposal{}, errors.New("at: it must be three coordinates in whole hundredths")
			}
			at[i] = grammar.Coord(h)
		}
	}
	switch kind {
	case grammar.KindState:
		p.Command = grammar.StateQuery{}
	case grammar.KindStatus:
		p.Command = grammar.StatusQuery{}
	case grammar.KindGoTo:
		p.Command = grammar.GoTo{X: at[0], Y: at[1], Z: at[2]}
	case grammar.KindLookAt:
		p.Command = grammar.LookAt{X: at[0], Y: at[1], Z: at[2]}
	case grammar.KindSay:
		p.Command = grammar.Say{Text: *d.Text}
	case grammar.KindIdle, grammar.KindFollow, grammar.KindBuild, grammar.KindStop:
		return Proposal{}, fmt.Errorf("kind: %s is an operator's decision", kind)
	}
	return p, nil
}

// MaxSampleAge is how old a sample may be when a proposal that was made from it is admitted.
const MaxSampleAge = 5 * time.Second

// Admit checks a proposal against the session's newest sample and the policy, without
// sending anything. What it returns goes to Do, which makes every check again.
func (s *Session) Admit(p Proposal) (grammar.Command, error) {
	if err := s.authority(); err != nil {
		return nil, err
	}
	s.gate.Lock()
	newest, taken, used := s.samples, s.sampled, s.used
	s.gate.Unlock()
	switch age := time.Duration(s.since() - taken); {
	case p.Session != s.id || p.Sample == 0 || p.Sample != newest:
		return nil, refuse(NotBound, "the proposal wasn't made from this session's newest sample")
	case age > MaxSampleAge:
		return nil, refuse(NotBound, "the proposal's sample is too old")
	}
	if ended, err := s.profile.Binding.Process.Ended(); err != nil || ended {
		return nil, refuse(NotBound, "the companion's process has ended")
	}
	var o Order
	switch c := p.Command.(type) {
	case grammar.StateQuery, grammar.StatusQuery:
		return p.Command, nil
	case grammar.GoTo:
		o = WalkOrder(ScoreAssist, c.X, c.Y, c.Z, 0)
	case grammar.LookAt:
		o = lookOrder(c)
	case grammar.Say:
		o = sayOrder(c)
	default:
		return nil, refuse(NotPermitted, "that is an operator's decision")
	}
	if err := s.profile.Policy.permit(o, s.opt.Now(), used); err != nil {
		return nil, err
	}
	if _, err := o.render(s.profile.Policy); err != nil {
		return nil, refuse(NotPermitted, "%s", err)
	}
	return p.Command, nil
}
