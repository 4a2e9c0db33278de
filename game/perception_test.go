package game

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"blockworld-voice/game/lab"
	"blockworld-voice/grammar"
)

// contract: Q1
func TestSampleIsBoundedAndKeepsTheUnknown(t *testing.T) {
	r := newRig(t, lab.Options{Private: canary, Planks: 3})
	s := r.open()
	p, err := s.Sample(t.Context(), [3]int32{0, 63, 0}, [3]int32{0, 64, 0}, [3]int32{0, 400, 0}, [3]int32{0, -65, 0}, [3]int32{9000, 64, 0})
	if err != nil {
		t.Fatal(err)
	}
	if p.ID != 1 || p.Session != s.ID() || p.Client != r.profile.Binding.Process || p.Began > p.Ended || p.Pose.Pos != [3]float64{0.5, 64, 0.5} || p.Health != 20 || !p.Idle || p.Held == nil || p.Held.Count != 3 {
		t.Fatalf("%+v", p)
	}
	for i, want := range []CellSample{{Known: true, Block: "minecraft:stone"}, {Known: true, Block: "minecraft:air"}, {}, {}, {}} {
		if got := p.Cells[i]; got.Known != want.Known || got.Block != want.Block && !strings.HasPrefix(got.Block, "minecraft:grass") {
			t.Errorf("cell %d: %+v, want %+v", i, got, want)
		}
	}
	b, err := json.Marshal(p)
	if err != nil || strings.Contains(string(b), canary) || strings.Contains(string(b), "Lab World") || strings.Contains(string(b), "companion") {
		t.Fatal(string(b), err)
	}
	if _, err := s.Sample(t.Context(), make([][3]int32, MaxCells+1)...); err == nil {
		t.Fatal("too many cells were read")
	}
	if _, _, ok := Height("somebody:else"); ok {
		t.Fatal("the height of an unknown dimension is known")
	}
	r.g.Travel("minecraft:the_end")
	if _, err := s.Sample(t.Context()); err == nil {
		t.Fatal("a sample of another dimension")
	}
}

// contract: Q2
func TestProposalGoesTheOperatorsWay(t *testing.T) {
	r := newRig(t, lab.Options{})
	s := r.open()
	doc := func(sample int, rest string) []byte {
		return []byte(fmt.Sprintf(`{"schema":1,"session":%q,"sample":%d,%s}`, s.ID(), sample, rest))
	}
	admit := func(b []byte) (grammar.Command, error) {
		t.Helper()
		p, err := ParseProposal(b)
		if err != nil {
			t.Fatal(err)
		}
		return s.Admit(p)
	}
	if _, err := admit(doc(1, `"kind":"goto","at":[4,64,0]`)); err == nil {
		t.Fatal("admitted without any sample")
	}
	if _, err := s.Sample(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := admit(doc(1, `"kind":"goto","at":[4.07,64,0]`))
	if err != nil || c.String() != "goto 4.07 64 0" || len(r.effects()) != 0 {
		t.Fatal(c, err)
	}
	wantKind(t, s.Do(t.Context(), c, r.rec), KindReported)
	for _, bad := range []string{`"kind":"goto","at":[4000,64,0]`, `"kind":"say","text":"/op me"`} {
		if _, err := admit(doc(1, bad)); err == nil {
			t.Errorf("%s was admitted", bad)
		}
	}
	if _, err := s.Sample(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"an older sample": doc(1, `"kind":"state"`), "a later sample": doc(3, `"kind":"state"`), "none": doc(0, `"kind":"state"`),
		"another session": []byte(`{"schema":1,"session":"x","sample":2,"kind":"state"}`)} {
		if _, err := admit(b); err == nil {
			t.Errorf("%s was admitted", name)
		}
	}
	s.epoch = s.epoch.Add(-MaxSampleAge - time.Second)
	if _, err := admit(doc(2, `"kind":"state"`)); err == nil {
		t.Error("a stale sample was admitted")
	}
	s.Stop(t.Context())
	if _, err := admit(doc(2, `"kind":"state"`)); err == nil {
		t.Error("admitted after a stop")
	}
}

// contract: Q2
func TestProposalShapes(t *testing.T) {
	for _, bad := range []string{`{}`, `{"schema":2,"session":"s","sample":1,"kind":"state"}`, `{"schema":1,"session":"s","sample":1,"kind":"stop"}`, `{"schema":1,"session":"s","sample":1,"kind":"follow"}`,
		`{"schema":1,"session":"s","sample":1,"kind":"build"}`, `{"schema":1,"session":"s","sample":1,"kind":"fill"}`, `{"schema":1,"session":"s","sample":1,"kind":"goto"}`, `{"schema":1,"session":"s","sample":1,"kind":"goto","at":[1,2]}`,
		`{"schema":1,"session":"s","sample":1,"kind":"goto","at":[1,2,3],"text":"x"}`, `{"schema":1,"session":"s","sample":1,"kind":"goto","at":[1e9,2,3]}`, `{"schema":1,"session":"s","sample":1,"kind":"goto","at":[0.001,2,3]}`,
		`{"schema":1,"session":"s","sample":1,"kind":"state","line":"stop"}`, `{"schema":1,"session":"s","sample":-1,"kind":"state"}`} {
		if p, err := ParseProposal([]byte(bad)); err == nil {
			t.Errorf("%s reads as %+v", bad, p)
		}
	}
}
