package game

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"blockworld-voice/game/horizon"
	"blockworld-voice/game/lab"
	"blockworld-voice/grammar"
)

// contract: A1
// contract: A2
func TestNewProfileDrivesTheClientItWasWrittenFor(t *testing.T) {
	r := newRig(t, lab.Options{})
	ws := filepath.Join(t.TempDir(), "ws")
	p, found, err := NewProfile(t.Context(), NewProfileOptions{Endpoint: r.srv.Endpoint(), Workspace: ws})
	if err != nil {
		t.Fatal(err)
	}
	if p.Binding.Process != r.profile.Binding.Process || p.Binding.World != "Lab World" || p.Binding.Mode != SinglePlayerLab || p.Policy.Permits(ActPlace) {
		t.Fatalf("%+v", p)
	}
	for _, f := range found {
		if f.Verdict == Contradicted || f.Name == "state-keys" && f.Verdict != Confirmed || f.Name == "stop-word" && f.Verdict != Unchecked {
			t.Errorf("%s: %s %s", f.Name, f.Verdict, f.Detail)
		}
	}
	if len(found) != len(horizon.Dialect()) || len(r.g.Journal()) != 0 {
		t.Fatal(len(found), r.g.Journal())
	}
	r.profile = p
	s := r.open()
	wantKind(t, s.Do(t.Context(), goTo(5, 64, 5), r.rec), KindReported)
	wantRefused(t, s.Do(t.Context(), goTo(40, 64, 0), r.rec), OutOfBounds)
	// A workspace inside the checkout that we stand in is refused.
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(here, "testdata-workspace")
	t.Cleanup(func() { _ = os.RemoveAll(inside) })
	if _, _, err := NewProfile(t.Context(), NewProfileOptions{Endpoint: r.srv.Endpoint(), Workspace: inside}); err == nil {
		t.Fatal("a workspace in the checkout was accepted")
	}
}

func TestNewProfileSaysWhatAClientContradicts(t *testing.T) {
	r := newRig(t, lab.Options{Faults: []lab.Fault{{Kind: lab.WrongType, Word: "inventory"}}})
	_, found, err := NewProfile(t.Context(), NewProfileOptions{Endpoint: r.srv.Endpoint(), Workspace: filepath.Join(t.TempDir(), "ws")})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.Name == "inventory-keys" && f.Verdict != Contradicted || f.Name == "status-keys" && f.Verdict != Confirmed {
			t.Errorf("%s: %s", f.Name, f.Verdict)
		}
	}
	r.g.Arm(lab.Fault{Kind: lab.NaN, Word: "state"})
	if _, _, err := NewProfile(t.Context(), NewProfileOptions{Endpoint: r.srv.Endpoint(), Workspace: filepath.Join(t.TempDir(), "ws")}); !errors.Is(err, horizon.ErrMalformed) {
		t.Fatal(err)
	}
}

func TestCheckProfileNamesWhatIsWrong(t *testing.T) {
	r := newRig(t, lab.Options{})
	bad := func() map[string]bool {
		out := map[string]bool{}
		checks, _ := CheckProfile(t.Context(), r.profile, r.opt)
		for _, c := range checks {
			if !c.OK {
				out[c.Name] = true
				if c.Hint == "" {
					t.Errorf("%s has no hint", c.Name)
				}
			}
		}
		return out
	}
	if b := bad(); len(b) != 0 {
		t.Fatal(b)
	}
	s := r.open()
	if b := bad(); !b["ownership"] || len(b) != 1 {
		t.Fatal(b)
	}
	wantKind(t, s.Do(t.Context(), grammar.Say{Text: "ahoj"}, r.rec), KindReported)
	abandon(t, s)
	if b := bad(); !b["ownership"] || len(b) != 1 {
		t.Fatal(b)
	}
	if _, err := Reconcile(r.opt.StateDir); err != nil {
		t.Fatal(err)
	}
	r.g.Rename("Other")
	if b := bad(); !b["binding"] || len(b) != 1 {
		t.Fatal(b)
	}
	r.srv.Close()
	if b := bad(); !b["endpoint"] || len(b) != 1 {
		t.Fatal(b)
	}
	r.profile.Binding.Process.StartTicks++
	if err := os.Chmod(r.profile.Workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	if b := bad(); !b["process"] || !b["workspace"] {
		t.Fatal(b)
	}
}
