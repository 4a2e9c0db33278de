package build

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"blockworld-voice/game"
	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/strictjson"
)

// Limits of every plan.
const (
	Material     = "minecraft:oak_planks"
	Support      = "minecraft:stone"
	Air          = "minecraft:air"
	MaxLife      = 60 * time.Second // from the moment at which it is accepted to its expiry
	ReadsPerCell = 8                // logical
	LinesPerCell = 26               // physical, of a cell that goes well and quickly
	// MinTimeout of the binding: the game's placement is a task of five seconds.
	MinTimeout = 6 * time.Second
)

// schema of a plan.
const schema = 1

// Mode is the game mode that a plan admits: how many items a placement uses up.
type Mode uint8

const (
	Survival Mode = iota + 1 // one
	Creative                 // none
)

var modeNames = [...]string{Survival: "survival", Creative: "creative"}

// String is the name in a plan.
func (m Mode) String() string {
	if m != 0 && int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("mode(%d)", uint8(m))
}

// ParseMode reads a name.
func ParseMode(s string) (Mode, bool) {
	for i, n := range modeNames {
		if n != "" && n == s {
			return Mode(i), true
		}
	}
	return 0, false
}

// used is how many items a placement takes.
func (m Mode) used() int {
	if m == Creative {
		return 0
	}
	return 1
}

// Plan is an immutable plan. Cells are built in their order.
type Plan struct {
	Plot      string
	Session   string // digest of the game profile under whose authority it stands
	Mode      Mode
	World     string
	Dimension string
	Server    string // "" in single player
	Cells     [][3]int32
	Expires   time.Time
	Digest    digest.Digest // of the canonical form without it
}

// doc is the document; pointers tell an absent key from a zero.
type doc struct {
	Schema     *int     `json:"schema"`
	Plot       *string  `json:"plot"`
	Session    *string  `json:"session"`
	Mode       *string  `json:"mode"`
	World      *string  `json:"world"`
	Dimension  *string  `json:"dimension"`
	Server     *string  `json:"server,omitempty"`
	Material   *string  `json:"material"`
	Cells      *[][]int `json:"cells"`
	Expires    *string  `json:"expires"`
	Placements *int     `json:"placements"`
	Reads      *int     `json:"reads"`
	Digest     *string  `json:"digest,omitempty"`
}

const digestPrefix = "sha256:"

// SessionOf names the authority of a profile as a plan pins it.
func SessionOf(p game.Profile) string { return digestPrefix + p.Digest.String() }

// Parse reads a plan strictly. It looks at nothing but the bytes. Every error says at which key.
func Parse(data []byte) (Plan, error) {
	var d doc
	if err := strictjson.Unmarshal(data, &d); err != nil {
		return Plan{}, err
	}
	for _, k := range [...]struct {
		key  string
		have bool
	}{{"schema", d.Schema != nil}, {"plot", d.Plot != nil}, {"session", d.Session != nil}, {"mode", d.Mode != nil}, {"world", d.World != nil},
		{"dimension", d.Dimension != nil}, {"material", d.Material != nil}, {"cells", d.Cells != nil}, {"expires", d.Expires != nil},
		{"placements", d.Placements != nil}, {"reads", d.Reads != nil}, {"digest", d.Digest != nil}} {
		if !k.have {
			return Plan{}, at(k.key, "the key is missing")
		}
	}
	if *d.Schema != schema {
		return Plan{}, at("schema", "schema %d isn't known, this program knows %d", *d.Schema, schema)
	}
	p := Plan{Plot: *d.Plot, Session: *d.Session, World: *d.World, Dimension: *d.Dimension}
	if d.Server != nil {
		p.Server = *d.Server
	}
	if err := p.texts(d); err != nil {
		return Plan{}, err
	}
	if err := p.cells(*d.Cells); err != nil {
		return Plan{}, err
	}
	if *d.Placements != len(p.Cells) {
		return Plan{}, at("placements", "it must be %d, one a cell", len(p.Cells))
	}
	if *d.Reads != ReadsPerCell*len(p.Cells) {
		return Plan{}, at("reads", "it must be %d, %d a cell", ReadsPerCell*len(p.Cells), ReadsPerCell)
	}
	var err error
	if p.Expires, err = time.Parse(time.RFC3339, *d.Expires); err != nil || p.Expires.Location() != time.UTC {
		return Plan{}, at("expires", "it must be a time like 2026-12-01T12:00:00Z")
	}
	if p.Digest, err = Digest(data); err != nil {
		return Plan{}, err
	}
	if want := digestPrefix + p.Digest.String(); *d.Digest != want {
		return Plan{}, at("digest", "the content has another digest: it was changed, or not yet given one (see: plan digest)")
	}
	return p, nil
}

func (p *Plan) texts(d doc) error {
	switch {
	case !plotName(p.Plot):
		return at("plot", "it must be a name of 1 to 32 small letters, digits and dashes")
	case !strings.HasPrefix(p.Session, digestPrefix):
		return at("session", "it must be %s and the digest of the game profile", digestPrefix)
	case *d.Material != Material:
		return at("material", "it must be %s", Material)
	}
	if _, err := digest.Parse(strings.TrimPrefix(p.Session, digestPrefix)); err != nil {
		return at("session", "%s", err)
	}
	var ok bool
	if p.Mode, ok = ParseMode(*d.Mode); !ok {
		return at("mode", "it must be survival or creative")
	}
	for _, t := range [...]struct{ key, text string }{{"world", p.World}, {"dimension", p.Dimension}, {"server", p.Server}} {
		if len(t.text) > 256 || strings.ContainsFunc(t.text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return at(t.key, "it must be at most 256 bytes without control characters")
		}
	}
	if _, _, known := game.Height(p.Dimension); !known {
		return at("dimension", "its height isn't known, so no cell in it can be checked")
	}
	return nil
}

func plotName(s string) bool {
	return s != "" && len(s) <= 32 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func (p *Plan) cells(list [][]int) error {
	if len(list) != 1 && len(list) != 3 {
		return at("cells", "it must be one cell or three")
	}
	low, high, _ := game.Height(p.Dimension)
	for i, c := range list {
		key := "cells/" + strconv.Itoa(i)
		if len(c) != 3 {
			return at(key, "it must be three whole numbers")
		}
		var cell [3]int32
		for j, v := range c {
			if v > math.MaxInt32 || v < math.MinInt32 {
				return at(key, "a coordinate is out of range")
			}
			cell[j] = int32(v)
		}
		// Its support must be in the world too.
		if cell[1] <= low || cell[1] > high {
			return at(key, "it must lie above %d and not above %d", low, high)
		}
		for _, other := range p.Cells {
			if other == cell {
				return at(key, "the cell is named twice")
			}
			if other[0] == cell[0] && other[2] == cell[2] && (other[1]-cell[1] == 1 || cell[1]-other[1] == 1) {
				return at(key, "a cell stands on stone, not on another one of the plan")
			}
		}
		p.Cells = append(p.Cells, cell)
	}
	return nil
}

func at(key, format string, args ...any) error {
	return &strictjson.Error{Path: "/" + key, Err: fmt.Errorf(format, args...)}
}

// Canonical is the form over which the digest goes: RFC 8785, without the digest itself.
func Canonical(data []byte) ([]byte, error) {
	var d doc
	if err := strictjson.Unmarshal(data, &d); err != nil { // the keys, and no two of a name
		return nil, err
	}
	var m map[string]jsontext.Value
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	delete(m, "digest")
	b, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	v := jsontext.Value(b)
	if err := v.Canonicalize(); err != nil {
		return nil, err
	}
	return v, nil
}

// Digest is the digest of a plan's content, whatever stands in its key "digest".
func Digest(data []byte) (digest.Digest, error) {
	b, err := Canonical(data)
	if err != nil {
		return digest.Digest{}, err
	}
	return digest.Of(b), nil
}

// Document writes a plan with its digest, in a form that Parse reads.
func (p Plan) Document() ([]byte, error) {
	one, mode, material, expires := schema, p.Mode.String(), Material, p.Expires.UTC().Format(time.RFC3339)
	n, reads := len(p.Cells), ReadsPerCell*len(p.Cells)
	cells := [][]int{}
	for _, c := range p.Cells {
		cells = append(cells, []int{int(c[0]), int(c[1]), int(c[2])})
	}
	d := doc{Schema: &one, Plot: &p.Plot, Session: &p.Session, Mode: &mode, World: &p.World, Dimension: &p.Dimension, Material: &material, Cells: &cells,
		Expires: &expires, Placements: &n, Reads: &reads}
	if p.Server != "" {
		d.Server = &p.Server
	}
	data, err := strictjson.Marshal(d)
	if err != nil {
		return nil, err
	}
	sum, err := Digest(data)
	if err != nil {
		return nil, err
	}
	text := digestPrefix + sum.String()
	d.Digest = &text
	if data, err = strictjson.Marshal(d); err != nil {
		return nil, err
	}
	if _, err := Parse(data); err != nil {
		return nil, fmt.Errorf("this would be no plan: %w", err)
	}
	return data, nil
}

// Fits says whether a plan stands under a profile's authority at a moment: session, labels, space, budget of time.
func (p Plan) Fits(profile game.Profile, now time.Time) error {
	b := profile.Binding
	switch {
	case p.Session != SessionOf(profile):
		return game.Refusal(game.NotPermitted, "the plan was approved for another session: it pins another game profile")
	case p.World != b.World || p.Dimension != b.Dimension || p.Server != b.Server:
		return game.Refusal(game.NotBound, "the plan is for another world, dimension or server than the profile's")
	case b.Timeout < MinTimeout:
		return game.Refusal(game.NotPermitted, "the binding's timeout is %g s, a placement needs at least %g", b.Timeout.Seconds(), MinTimeout.Seconds())
	case !profile.Policy.Permits(game.ActPlace):
		return game.Refusal(game.NotPermitted, "the policy doesn't permit place")
	case !now.Before(p.Expires):
		return game.Refusal(game.Expired, "the plan has expired")
	case p.Expires.After(now.Add(MaxLife)):
		return game.Refusal(game.NotPermitted, "the plan expires in more than %g s", MaxLife.Seconds())
	case p.Expires.After(profile.Policy.Expires):
		return game.Refusal(game.Expired, "the plan outlives the game profile")
	}
	for _, c := range p.Cells {
		if !profile.Policy.Holds([3]float64{float64(c[0]), float64(c[1]), float64(c[2])}) {
			return game.Refusal(game.OutOfBounds, "the cell %d %d %d lies outside the permitted space", c[0], c[1], c[2])
		}
	}
	return nil
}

// Read reads the plan at path, which must be a private file in the workspace.
func Read(path, workspace string) (Plan, error) {
	data, err := game.ReadWithin(path, workspace)
	if err != nil {
		return Plan{}, err
	}
	p, err := Parse(data)
	if err != nil {
		return Plan{}, fmt.Errorf("build plan %s: %w", path, err)
	}
	return p, nil
}

// ErrUsed says that a plan was accepted before.
var ErrUsed = errors.New("the plan was accepted before: a plan is built once")
