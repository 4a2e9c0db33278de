package build_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"blockworld-voice/game"
	"blockworld-voice/game/build"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/strictjson"
)

func sample() build.Plan {
	return build.Plan{Plot: "garden", Session: "sha256:" + digest.Of([]byte("p")).String(), Mode: build.Survival, World: "Lab World", Dimension: "minecraft:overworld",
		Cells: [][3]int32{{2, 64, 0}, {2, 64, 1}, {2, 64, -1}}, Expires: time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)}
}

func document(t *testing.T, p build.Plan) string {
	t.Helper()
	b, err := p.Document()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A plan is what was approved, byte for byte of its content: every change to it is another plan.
//
// contract: B1
func TestPlanFaults(t *testing.T) {
	good := document(t, sample())
	if p, err := build.Parse([]byte(good)); err != nil || len(p.Cells) != 3 || p.Mode != build.Survival {
		t.Fatal(p, err)
	}
	for _, c := range []struct{ name, old, new, path string }{
		{"an unknown key", `"plot"`, `"tool": "axe", "plot"`, "/tool"},
		{"a key twice", `"plot": "garden"`, `"plot": "garden", "plot": "garden"`, ""},
		{"a key less", `"plot": "garden",`, ``, "/plot"},
		{"trailing data", "}\n", "}\n{}", ""},
		{"a changed cell", `64`, `65`, "/digest"},
		{"a changed expiry", `12:00:00Z`, `12:00:01Z`, "/digest"},
		{"another world", `Lab World`, `Lab Worlds`, "/digest"},
		{"no digest", `"digest"`, `"digests"`, "/digests"},
		{"another digest", `"digest": "sha256:`, `"digest": "sha256:0`, "/digest"},
		{"another material", `oak_planks`, `diamond_block`, "/material"},
		{"a mode that isn't there", `survival`, `spectator`, "/mode"},
		{"a number that is no number", `64`, `NaN`, ""},
		{"half a block", `64`, `64.5`, "/cells"},
		{"an expiry in another zone", `12:00:00Z`, `12:00:00+01:00`, "/expires"},
		{"more placements", `"placements": 3`, `"placements": 4`, "/placements"},
		{"more reads", `"reads": 24`, `"reads": 25`, "/reads"},
		{"another schema", `"schema": 1`, `"schema": 2`, "/schema"},
		{"an unknown dimension", `minecraft:overworld`, `minecraft:moon`, "/dimension"},
		{"a plot that is no name", `garden`, `the garden`, "/plot"},
		{"a session that is none", `"session": "sha256:`, `"session": "md5:`, "/session"},
		{"null", `"garden"`, `null`, "/plot"},
	} {
		bad := strings.Replace(good, c.old, c.new, 1)
		if bad == good {
			t.Fatalf("%s changes nothing in %s", c.name, good)
		}
		_, err := build.Parse([]byte(bad))
		var e *strictjson.Error
		if !errors.As(err, &e) || !strings.HasPrefix(e.Path, c.path) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := build.Parse([]byte(strings.Replace(good, "{", "{"+strings.Repeat(" ", strictjson.MaxSize), 1))); err == nil {
		t.Error("an oversized plan is read")
	}
}

// contract: B1
func TestPlanCells(t *testing.T) {
	for name, cells := range map[string][][3]int32{
		"none": {}, "two": {{1, 64, 0}, {2, 64, 0}}, "four": {{1, 64, 0}, {2, 64, 0}, {3, 64, 0}, {4, 64, 0}}, "twice": {{1, 64, 0}, {2, 64, 0}, {1, 64, 0}},
		"one on another": {{1, 64, 0}, {1, 65, 0}, {2, 64, 0}}, "one below another": {{1, 65, 0}, {1, 64, 0}, {2, 64, 0}},
		"above the world": {{1, 320, 0}}, "on the bottom": {{1, -64, 0}},
	} {
		p := sample()
		p.Cells = cells
		if b, err := p.Document(); err == nil {
			t.Errorf("%s: %s", name, b)
		}
	}
	for _, cells := range [][][3]int32{{{1, 319, 0}}, {{1, -63, 0}}, {{-1, 64, -1}, {1, 64, 1}, {0, 66, 0}}} {
		p := sample()
		p.Cells = cells
		if _, err := p.Document(); err != nil {
			t.Error(cells, err)
		}
	}
}

// The digest goes over the content alone: order of keys, spaces and the digest itself don't matter, everything else does.
//
// contract: B1
func TestDigestIsOfTheContent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := sample()
		p.Cells = [][3]int32{{rapid.Int32Range(-1000, 1000).Draw(t, "x"), rapid.Int32Range(-60, 300).Draw(t, "y"), rapid.Int32().Draw(t, "z")}}
		p.World = rapid.StringMatching(`[a-zA-Z ľščťžýáíé]{0,20}`).Draw(t, "world")
		b, err := p.Document()
		if err != nil {
			t.Fatal(err)
		}
		want, err := build.Digest(b)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		m["digest"] = "sha256:whatever"
		again, err := json.Marshal(m) // sorted, without spaces, with escapes
		if err != nil {
			t.Fatal(err)
		}
		if got, err := build.Digest(again); err != nil || got != want {
			t.Fatalf("%s %v", again, err)
		}
		q := p
		q.Cells = [][3]int32{{p.Cells[0][0] + 1, p.Cells[0][1], p.Cells[0][2]}}
		if b, err = q.Document(); err != nil {
			t.Fatal(err)
		}
		if got, _ := build.Digest(b); got == want {
			t.Fatal("another cell has the same digest")
		}
	})
	// The canonical form itself, so that another program can make the digest too.
	b, err := build.Canonical([]byte(`{"schema":1, "plot":"a","cells":[[1, 2,3]],"digest":"x"}`))
	if err != nil || string(b) != `{"cells":[[1,2,3]],"plot":"a","schema":1}` {
		t.Fatal(string(b), err)
	}
}

// The JSON Schema in docs says what the reader says.
func TestSchemaOfThePlan(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "build-plan.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		AdditionalProperties *bool                      `json:"additionalProperties"`
		Required             []string                   `json:"required"`
		Properties           map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(b, &s); err != nil || s.AdditionalProperties == nil || *s.AdditionalProperties {
		t.Fatal(err, s.AdditionalProperties)
	}
	p := sample()
	p.Server = "h:1"
	var doc map[string]json.RawMessage
	if err := json.Unmarshal([]byte(document(t, p)), &doc); err != nil {
		t.Fatal(err)
	}
	for key := range s.Properties {
		if _, ok := doc[key]; !ok {
			t.Errorf("the schema knows %q, a plan doesn't", key)
		}
	}
	for key := range doc {
		if _, ok := s.Properties[key]; !ok {
			t.Errorf("the schema doesn't know %q", key)
		}
		without := map[string]json.RawMessage{}
		for k, v := range doc {
			if k != key {
				without[k] = v
			}
		}
		b, err := json.Marshal(without)
		if err != nil {
			t.Fatal(err)
		}
		_, err = build.Parse(b)
		missing := err != nil && strings.Contains(err.Error(), "missing")
		if missing != slices.Contains(s.Required, key) {
			t.Errorf("%q: required in the schema %v, by the reader %v (%v)", key, slices.Contains(s.Required, key), missing, err)
		}
	}
	for key, want := range map[string]string{"material": `"` + build.Material + `"`, "mode": `"survival"`, "schema": `1`} {
		if !strings.Contains(string(s.Properties[key]), want) {
			t.Errorf("%s: %s", key, s.Properties[key])
		}
	}
}

// contract: B1
// contract: B2
// contract: B8
func TestWhatAPlanFits(t *testing.T) {
	p := sample()
	profile := game.Profile{Digest: digest.Of([]byte("p")), Binding: game.Binding{World: "Lab World", Dimension: "minecraft:overworld", Timeout: 6 * time.Second},
		Policy: game.Policy{Actions: []game.Action{game.ActPlace}, Min: [3]grammar.Coord{-6400, -6400, -6400}, Max: [3]grammar.Coord{6400, 31900, 6400}, Expires: p.Expires.Add(time.Hour)}}
	now := p.Expires.Add(-time.Minute)
	if err := p.Fits(profile, now); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*build.Plan, *game.Profile, *time.Time)
		reason game.Reason
	}{
		"another session":      {func(_ *build.Plan, g *game.Profile, _ *time.Time) { g.Digest[0]++ }, game.NotPermitted},
		"another world":        {func(_ *build.Plan, g *game.Profile, _ *time.Time) { g.Binding.World = "x" }, game.NotBound},
		"another dimension":    {func(_ *build.Plan, g *game.Profile, _ *time.Time) { g.Binding.Dimension = "minecraft:the_end" }, game.NotBound},
		"a server":             {func(_ *build.Plan, g *game.Profile, _ *time.Time) { g.Binding.Server = "h:1" }, game.NotBound},
		"a short timeout":      {func(_ *build.Plan, g *game.Profile, _ *time.Time) { g.Binding.Timeout = 6*time.Second - 1 }, game.NotPermitted},
		"place not permitted":  {func(_ *build.Plan, g *game.Profile, _ *time.Time) { g.Policy.Actions = []game.Action{game.ActGoTo} }, game.NotPermitted},
		"at its expiry":        {func(_ *build.Plan, _ *game.Profile, n *time.Time) { *n = p.Expires }, game.Expired},
		"more than a minute":   {func(_ *build.Plan, _ *game.Profile, n *time.Time) { *n = p.Expires.Add(-time.Minute - 1) }, game.NotPermitted},
		"outlives the profile": {func(_ *build.Plan, g *game.Profile, _ *time.Time) { g.Policy.Expires = p.Expires.Add(-1) }, game.Expired},
		"a cell out of bounds": {func(_ *build.Plan, g *game.Profile, _ *time.Time) { g.Policy.Max[0] = 199 }, game.OutOfBounds},
	} {
		q, g, n := p, profile, now
		c.change(&q, &g, &n)
		err := q.Fits(g, n)
		if err == nil || game.AsRefused(err).Reason != c.reason {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A plan is used up for good, and in every session.
//
// contract: B1
func TestClaim(t *testing.T) {
	dir := t.TempDir()
	d := digest.Of([]byte("a"))
	if err := build.Claim(dir, d, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := build.Claim(dir, d, time.Now()); !errors.Is(err, build.ErrUsed) {
		t.Fatal(err)
	}
	if err := build.Claim(dir, digest.Of([]byte("b")), time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := build.Claim(filepath.Join(dir, "gone"), d, time.Now()); err == nil || errors.Is(err, build.ErrUsed) {
		t.Fatal(err)
	}
}

// contract: B1
func TestPlanFile(t *testing.T) {
	ws := t.TempDir()
	if err := os.Chmod(ws, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(ws, "plan.json")
	write := func(path string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path, []byte(document(t, sample())), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(path, 0o600)
	if _, err := build.Read(path, ws); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := build.Read(path, ws); err == nil {
		t.Error("others can read it")
	}
	out := filepath.Join(t.TempDir(), "plan.json")
	write(out, 0o600)
	if _, err := build.Read(out, ws); err == nil {
		t.Error("it lies outside the workspace")
	}
	link := filepath.Join(ws, "link.json")
	if err := os.Symlink(out, link); err != nil {
		t.Fatal(err)
	}
	if _, err := build.Read(link, ws); err == nil {
		t.Error("it is a link")
	}
}
