package game

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"blockworld-voice/game/horizon"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/strictjson"
)

// checker collects the first fault of a document, with the place of its key.
type checker struct {
	data []byte
	err  error
}

func (c *checker) fault(path, text string) {
	if c.err == nil {
		line, _ := strictjson.Find(c.data, path)
		c.err = &strictjson.Error{Path: path, Line: line, Err: errors.New(text)}
	}
}

func (c *checker) need(at, key string, have bool) {
	if !have {
		c.fault(at+"/"+key, "the key is missing")
	}
}

func (c *checker) text(path, s string, needed bool) {
	switch {
	case needed && s == "":
		c.fault(path, "it must not be empty")
	case len(s) > maxText || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
		c.fault(path, fmt.Sprintf("it must be at most %d bytes without control characters", maxText))
	}
}

func (c *checker) seconds(path string, v, most float64) time.Duration {
	if !(v > 0) || v > most {
		c.fault(path, fmt.Sprintf("it must be above 0 and at most %v seconds", most))
		return 0
	}
	return time.Duration(v * float64(time.Second))
}

// corner rounds a corner of the box inwards to hundredths.
func (c *checker) corner(path string, v []float64, inwards func(float64) float64) [3]grammar.Coord {
	var out [3]grammar.Coord
	if len(v) != len(out) {
		c.fault(path, "it must be three numbers")
		return out
	}
	for i, n := range v {
		if math.Abs(n) > grammar.MaxCoord.Float() || math.IsNaN(n) {
			c.fault(fmt.Sprintf("%s/%d", path, i), fmt.Sprintf("it must be within %v blocks of the origin", grammar.MaxCoord.Float()))
			return out
		}
		h := n * 100
		if r := math.Round(h); math.Abs(h-r) < 1e-6 { // -0.07 * 100 is not quite -7
			h = r
		}
		out[i] = grammar.Coord(inwards(h))
	}
	return out
}

func cleanAbs(p string) bool {
	return filepath.IsAbs(p) && filepath.Clean(p) == p && !strings.ContainsRune(p, 0) && len(p) < 4096 && utf8.ValidString(p)
}

// inside says whether path is dir or lies below it.
func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func readLimited(f *os.File, path string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(f, strictjson.MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

// doc is the document form of a binding.
func (b Binding) doc() bindingDoc {
	endpoint, mode, timeout := b.Endpoint.String(), b.Mode.String(), b.Timeout.Seconds()
	d := bindingDoc{Endpoint: &endpoint, PID: &b.Process.PID, StartTicks: &b.Process.StartTicks, Name: &b.Name, Dimension: &b.Dimension, Mode: &mode, World: &b.World, Timeout: &timeout}
	if b.TokenFile != "" {
		d.TokenFile = &b.TokenFile
	}
	if b.Server != "" {
		d.Server = &b.Server
	}
	return d
}

func bindingDigest(b Binding) digest.Digest {
	line, err := strictjson.Line(b.doc())
	if err != nil { // texts were checked: can't be
		return digest.Digest{}
	}
	return digest.Of(line)
}

// Document writes the profile as a document that ParseProfile reads.
func (p Profile) Document() ([]byte, error) {
	b := p.Binding.doc()
	corner := func(c [3]grammar.Coord) *[]float64 {
		return &[]float64{c[0].Float(), c[1].Float(), c[2].Float()}
	}
	var names []string
	for _, a := range p.Policy.Actions {
		names = append(names, a.String())
	}
	expires := p.Policy.Expires.UTC().Format(time.RFC3339)
	return strictjson.Marshal(profileDoc{Binding: &b, Workspace: &p.Workspace, CheckoutRoots: &p.CheckoutRoots,
		Policy: &policyDoc{Actions: &names, Min: corner(p.Policy.Min), Max: corner(p.Policy.Max), MaxDistance: &p.Policy.MaxDistance,
			ActionSeconds: &p.Policy.ActionSeconds, MaxActions: &p.Policy.MaxActions, Expires: &expires}})
}

func centi(c grammar.Coord) horizon.Centi { return horizon.Centi(c) }
