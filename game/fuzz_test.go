package game

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"blockworld-voice/grammar"
	"blockworld-voice/internal/strictjson"
)

// FuzzProfile: a document is refused with its place, or is a profile that survives being
// written and read again.
func FuzzProfile(f *testing.F) {
	f.Add([]byte(goodProfile))
	f.Add([]byte(strings.Replace(goodProfile, "[-512, -64, -512]", "[-0.07, 1e2, -512.005]", 1)))
	f.Fuzz(func(t *testing.T, doc []byte) {
		p, err := ParseProfile(doc)
		if err != nil {
			var at *strictjson.Error
			if !errors.As(err, &at) {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		out, err := p.Document()
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseProfile(out)
		if err != nil || again.BindingDigest != p.BindingDigest || again.Policy.Min != p.Policy.Min || again.Policy.Max != p.Policy.Max || again.Workspace != p.Workspace {
			t.Fatalf("%v\n%+v\n%+v", err, p, again)
		}
	})
}

// FuzzHistory: whatever stands in an ownership record, reading it never makes an unclean
// one clean by cutting its end off: a shorter record is never less careful about a run
// that it names.
func FuzzHistory(f *testing.F) {
	open := `{"schema":1,"op":"open","session":"s","workspace":"/w","at":"2026-01-01T00:00:00Z"}` + "\n"
	fence := `{"schema":1,"op":"fence","run":"r","at":"2026-01-01T00:00:00Z"}` + "\n"
	settle := `{"schema":1,"op":"settle","run":"r","kind":"reported","at":"2026-01-01T00:00:00Z"}` + "\n"
	f.Add([]byte(open + fence + settle))
	f.Add([]byte(open + fence + fence))
	f.Add([]byte(open + fence + `{"schema":1,"op":"recovered","run":"r","at":"2026-01-01T00:00:00Z"}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h := readHistory(data)
		if h.good < 0 || h.good > int64(len(data)) {
			t.Fatal(h.good)
		}
		again := readHistory(data[:h.good])
		if again.damaged || again.good != h.good || len(again.runs) != len(h.runs) {
			t.Fatalf("%+v\n%+v", h, again)
		}
		if (h.state() == "clean") != h.clean() {
			t.Fatalf("%s and clean %v: %+v", h.state(), h.clean(), h)
		}
	})
}

// Nothing outside the box, without permission, over the budget or after the expiry is permitted.
// contract: A4
func TestPolicyIsTotal(t *testing.T) {
	coord := rapid.Custom(func(t *rapid.T) grammar.Coord { return grammar.Coord(rapid.IntRange(-3000, 3000).Draw(t, "c")) })
	rapid.Check(t, func(t *rapid.T) {
		p := Policy{MaxDistance: 10, ActionSeconds: 1, MaxActions: rapid.IntRange(1, 3).Draw(t, "actions"), Expires: time.Unix(1000, 0)}
		for i := range p.Min {
			a, b := coord.Draw(t, "a"), coord.Draw(t, "b")
			p.Min[i], p.Max[i] = min(a, b), max(a, b)
		}
		if rapid.Bool().Draw(t, "permit") {
			p.Actions = []Action{ActGoTo}
		}
		x, y, z := coord.Draw(t, "x"), coord.Draw(t, "y"), coord.Draw(t, "z")
		used, now := rapid.IntRange(0, 4).Draw(t, "used"), time.Unix(int64(rapid.IntRange(998, 1002).Draw(t, "now")), 0)
		err := p.permit(WalkOrder(ScoreAssist, x, y, z, 0), now, used)
		good := p.Permits(ActGoTo) && used < p.MaxActions && now.Before(p.Expires) && x >= p.Min[0] && x <= p.Max[0] && y >= p.Min[1] && y <= p.Max[1] && z >= p.Min[2] && z <= p.Max[2]
		if (err == nil) != good {
			t.Fatalf("%v for %v %v %v in %+v", err, x, y, z, p)
		}
	})
}
