package game

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blockworld-voice/game/lab"
	"blockworld-voice/grammar"
)

// expect lists the outcomes that a fault may lead to.
type expect struct {
	walk, say []OutcomeKind
	effects   int // the most that may happen; -1 is none
}

var (
	reported  = []OutcomeKind{KindReported}
	refusedBy = []OutcomeKind{KindRefused}
	unknown   = []OutcomeKind{KindUnknown}
	stopped   = []OutcomeKind{KindCancelled}
	either    = []OutcomeKind{KindReported, KindCancelled, KindUnknown}
)

var faultTable = map[lab.Kind]expect{
	lab.NoReply: {unknown, unknown, 1}, lab.LateReply: {unknown, unknown, 1}, lab.HalfLine: {unknown, unknown, 1}, lab.ByteAtATime: {reported, reported, 1},
	lab.NUL: {unknown, unknown, 1}, lab.InvalidUTF8: {unknown, unknown, 1}, lab.HugeLine: {unknown, unknown, 1}, lab.DeepNesting: {unknown, unknown, 1},
	lab.WrongType: {unknown, unknown, 1}, lab.NaN: {unknown, unknown, 1}, lab.TwoReplies: {unknown, unknown, 1},
	lab.DisconnectBefore: {unknown, unknown, -1}, lab.DisconnectAfter: {unknown, unknown, 1},
	lab.NoDisplacement: {reported, reported, 1}, lab.NoBlock: {reported, reported, 1}, lab.BlockByOther: {reported, reported, 1}, lab.StopIgnored: {reported, reported, 1},
	lab.Busy: {refusedBy, refusedBy, -1}, lab.Denied: {refusedBy, refusedBy, -1}, lab.Death: {stopped, reported, 1}, lab.DimensionMove: {either, reported, 1}, lab.WorldMove: {either, reported, 1},
	lab.ClockJump: {reported, reported, 1}, lab.PersonInput: {either, reported, 1},
	// The next two end the process: see the test below.
	lab.Killed: {}, lab.Replaced: {},
}

// contract: S5
// contract: S4
func TestEveryFaultHasItsOutcome(t *testing.T) {
	for _, k := range lab.Kinds() {
		want, ok := faultTable[k]
		if !ok {
			t.Fatalf("no expectation for %s", k)
		}
		if want.walk == nil {
			continue
		}
		for name, c := range map[string]grammar.Command{"walk": goTo(8, 64, 0), "say": grammar.Say{Text: "ahoj"}} {
			t.Run(fmt.Sprintf("%s/%s", k, name), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, lab.Options{Speed: 6, Faults: []lab.Fault{{Kind: k}}})
				r.profile.Binding.Timeout, r.profile.Policy.ActionSeconds = brief, 3
				s := r.open()
				out := s.Do(t.Context(), c, r.rec)
				kinds, n := want.walk, len(r.effects())
				if name == "say" {
					kinds = want.say
				}
				if !slices.Contains(kinds, out.Kind()) || r.rec.count() != 1 {
					t.Fatalf("%T %+v, want one of %v; %d attempts", out, out, kinds, r.rec.count())
				}
				if n > max(want.effects, 0) || out.Kind() == KindRefused && n > 0 {
					t.Fatalf("%d effects: %+v", n, r.effects())
				}
				for _, e := range r.effects() {
					if e.Line != r.rec.attempts[0].LineSHA256.String() {
						t.Fatal("an effect that no attempt announced")
					}
				}
				next := s.Do(t.Context(), grammar.Say{Text: "znova"}, r.rec)
				if out.Kind() == KindUnknown {
					wantRefused(t, next, Disarmed)
				}
			})
		}
	}
}

// contract: A2
// contract: S5
func TestProcessThatDiesOrIsReplacedInTheMiddle(t *testing.T) {
	for _, fault := range []string{"killed@goto:1", "replaced@goto:1", "killed@chat:1", "replaced@chat:1"} {
		t.Run(fault, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "ws")
			l, p, err := StartLab(t.Context(), os.Args[0], dir, "--speed", "10", "--fault", fault)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			p.Binding.Timeout = brief
			s, err := Open(t.Context(), p, Options{StateDir: filepath.Join(t.TempDir(), "state"), GameHome: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var c grammar.Command = goTo(20, 64, 0)
			if strings.Contains(fault, "chat") {
				c = grammar.Say{Text: "ahoj"}
			}
			rec := &recorder{}
			wantKind(t, s.Do(t.Context(), c, rec), KindUnknown)
			wantRefused(t, s.Do(t.Context(), c, rec), Disarmed)
			b, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
			if err != nil || strings.Count(string(b), rec.attempts[0].LineSHA256.String()) > 2 || rec.count() != 1 { // a walk may have an end
				t.Fatalf("%s %v", b, err)
			}
		})
	}
}

// canary stands in every private place of the lab's replies.
const canary = "CANARY-private-4711"

// contract: P3
// contract: P1
func TestNothingPrivateLeavesTheProjection(t *testing.T) {
	r := newRig(t, lab.Options{Private: canary})
	s := r.open()
	secret := "tajomstvo-4711"
	outs := []Outcome{s.Do(t.Context(), grammar.StateQuery{}, r.rec), s.Do(t.Context(), grammar.StatusQuery{}, r.rec), s.Do(t.Context(), goTo(4, 64, 0), r.rec),
		s.Do(t.Context(), grammar.Say{Text: secret}, r.rec), s.Do(t.Context(), grammar.LookAt{X: 1}, r.rec)}
	r.g.Rename(canary) // a label of the peer's choosing: it isn't the pinned one
	outs = append(outs, s.Do(t.Context(), grammar.StateQuery{}, r.rec))
	wantRefused(t, outs[len(outs)-1], NotBound)
	var all strings.Builder
	for _, o := range outs {
		b, err := json.Marshal(Record("", o))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s %+v %s\n", b, o, o.Say())
	}
	b, err := json.Marshal(r.rec.events)
	if err != nil {
		t.Fatal(err)
	}
	all.Write(b)
	if b, err = json.Marshal(r.rec.attempts); err != nil {
		t.Fatal(err)
	}
	all.Write(b)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), r.profile, r.opt)
	fmt.Fprintf(&all, "%v %+v", err, err)
	checks, found := CheckProfile(t.Context(), r.profile, r.opt)
	fmt.Fprintf(&all, "%+v %+v", checks, found)
	owner, err := ownerFile(r.opt.StateDir, r.profile.Binding.Process)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = os.ReadFile(owner); err != nil {
		t.Fatal(err)
	}
	all.Write(b)
	for _, word := range []string{canary, secret, "clipboard", "sidebar", "name_tags", "keyboard"} {
		if i := strings.Index(all.String(), word); i >= 0 {
			t.Errorf("%q got out: …%s…", word, all.String()[max(0, i-60):min(all.Len(), i+60)])
		}
	}
}

// contract: P2
func TestStatusAndBindingUseOneProjection(t *testing.T) {
	for _, fault := range []lab.Fault{{Kind: lab.WrongType, Word: "status", N: 2}, {Kind: lab.NaN, Word: "state", N: 2}} {
		r := newRig(t, lab.Options{Faults: []lab.Fault{fault}})
		s := r.open()
		wantRefused(t, s.Do(t.Context(), grammar.StatusQuery{}, r.rec), NotBound)
		wantKind(t, s.Do(t.Context(), grammar.StatusQuery{}, r.rec), KindReported)
	}
}

// A question that meets a fault is refused, is asked again only by the person, and never
// makes an action of it.
// contract: S3
func TestFaultyQuestionsBeforeASend(t *testing.T) {
	for _, k := range []lab.Kind{lab.NoReply, lab.HalfLine, lab.NUL, lab.InvalidUTF8, lab.HugeLine, lab.DeepNesting, lab.WrongType, lab.NaN, lab.TwoReplies, lab.DisconnectAfter, lab.Busy} {
		for n := 2; n <= 3; n++ { // before the attempt, and between the fence and the send
			for _, word := range []string{"state", "status"} {
				t.Run(fmt.Sprintf("%s@%s:%d", k, word, n), func(t *testing.T) {
					t.Parallel()
					r := newRig(t, lab.Options{Faults: []lab.Fault{{Kind: k, Word: word, N: n}}})
					r.profile.Binding.Timeout = brief
					s := r.open()
					out := s.Do(t.Context(), grammar.Say{Text: "ahoj"}, r.rec)
					wantRefused(t, out, NotBound)
					if len(r.effects()) != 0 || r.rec.count() != n-2 {
						t.Fatalf("%d attempts, %+v", r.rec.count(), r.effects())
					}
					wantKind(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, r.rec), KindReported)
				})
			}
		}
	}
}
