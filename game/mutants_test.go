package game

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mutant is a one-line change that breaks a clause, and the test that must notice it.
type mutant struct {
	clause   string
	file     string
	old, new string
	test     string
}

var mutants = []mutant{
	{"A1", "profile.go", `c.need("", "policy", d.Policy != nil)`, `c.need("", "policy", true)`, "TestProfileFaults"},
	{"A1", "../internal/strictjson/strictjson.go", `json.RejectUnknownMembers(true)`, `json.RejectUnknownMembers(false)`, "TestProfileFaults"},
	{"A2", "horizon/peer.go", `if now != want {`, `if false && now != want {`, "TestOnlyThePinned"},
	{"A2", "horizon/client.go", `if want != (procgroup.ID{}) {`, `if false {`, "TestOnlyThePinned|TestReplaced"},
	{"A3", "observe.go", `if v.Status.Server != nil {`, `if false {`, "TestModes"},
	{"A3", "observe.go", `case srv.Address != b.Server:`, `case false:`, "TestModes"},
	{"A4", "order.go", `if v < p.Min[i] || v > p.Max[i] {`, `if false && (v < p.Min[i] || v > p.Max[i]) {`, "TestPolicy"},
	{"A4", "order.go", `case used >= p.MaxActions:`, `case false:`, "TestBudget"},
	{"A4", "order.go", `d > p.MaxDistance || math.IsNaN(d)`, `math.IsNaN(d)`, "TestPolicy"},
	{"A5", "workspace.go", `case st.Mode().Perm() != 0o700:`, `case false:`, "TestWorkspaceRules"},
	{"A5", "workspace.go", `if inside(dir, r) || inside(r, dir) || sameAbove(dir, r) || sameAbove(r, dir) {`, `if inside(dir, r) || sameAbove(dir, r) {`, "TestWorkspaceRules"},
	{"A5", "profile.go", `if !inside(abs, p.Workspace) {`, `if false && !inside(abs, p.Workspace) {`, "TestProfileFile"},
	{"A5", "workspace.go", `if dir == workspace || !inside(dir, workspace) {`, `if dir == workspace {`, "TestEvidenceLies"},
	{"A7", "horizon/client.go", `return errors.As(err, &bad) && bad.Kind == KindDenied`, `return errors.As(err, &bad) && bad.Kind == KindBusy`, "TestWrongTokenIsDenied"},
	{"A6", "observe.go", `case st.Input.User > s.user:`, `case false:`, "TestPersonsInputEnds"},
	{"A6", "attempt.go", `case err == nil && v.State.Input.User > s.user:`, `case false && v.State.Input.User > s.user:`, "TestPersonsInputDuring"},
	{"A7", "session.go", `if home := s.home(); noAI(home) {`, `if home := s.home(); false && noAI(home) {`, "TestNoAIRefuses"},
	{"A7", "attempt.go", `return answered(Denied,`, `return answered(Busy,`, "TestNoAIRefuses"},
	{"O1", "owner.go", `if errors.Is(err, unix.EWOULDBLOCK) {`, `if false {`, "TestSecondController|TestRace"},
	{"O1", "owner.go", `unix.LOCK_EX|unix.LOCK_NB`, `unix.LOCK_SH|unix.LOCK_NB`, "TestSecondController|TestRace"},
	{"O2", "session.go", `if h := s.owner.past; !h.clean() {`, `if h := s.owner.past; false && !h.clean() {`, "TestInterrupted|TestUnknownStays"},
	{"O2", "owner.go", `h.unknown = h.unknown || l.Kind == KindUnknown`, `h.unknown = h.unknown && l.Kind == KindUnknown`, "TestUnknownStays"},
	{"O3", "owner.go", `if _, twice := h.runs[l.Run]; twice {`, `if _, twice := h.runs[l.Run]; false && twice {`, "TestFencedRun"},
	{"S1", "do.go", `	default:
		return false
	}
}

func (s *Session) give()`, `	default:
		return true
	}
}

func (s *Session) give()`, "TestOneAction"},
	{"S2", "horizon/request.go", `case strings.HasPrefix(text, "/"):`, `case false:`, "TestSayNever"},
	{"S2", "horizon/request.go", `r != ' ' && !unicode.IsGraphic(r)`, `false`, "TestSayNever"},
	{"S3", "attempt.go", `	if s.why != "" {
		return nil, refuse(Disarmed, "%s", s.why)
	}
`, ``, "TestAuthority|TestStopWorksWhileTheRecorder"},
	{"S3", "attempt.go", `		err = s.fit(last.State)
`, `		err = nil
`, "TestAuthority"},
	{"S4", "attempt.go", `if err := rec.Attempt(s.paper(o, run, line)); err != nil {`, `if err := rec.Attempt(s.paper(o, run, line)); false && err != nil {`, "TestAttemptIsKept"},
	{"S4", "attempt.go", `if err := s.owner.fence(run); err != nil {`, `if err := s.owner.fence(run); false && err != nil {`, "TestNoFence"},
	{"S5", "attempt.go", `return Unknown{Detail: "the command was sent and no answer came that can be trusted"}`, `return Reported{Detail: "done"}`, "TestEveryFault"},
	{"S5", "recover.go", `if err := o.add(ownerLine{Op: opRecovered, Run: r}, true); err != nil {`, `if err := error(nil); err != nil {`, "TestFencedRun"},
	{"S6", "attempt.go", `case see.Moved < 0.05 && !see.Arrived:`, `case false:`, "TestOkWithout"},
	{"P1", "horizon/reply.go", `if err != nil || len(items) != len(out) {`, `if err != nil {`, "./horizon TestEveryLeaf"},
	{"P2", "horizon/projection.go", `if _, there := f.m["server"]; there {`, `if _, there := f.m["server"]; there && f.m["server"].Kind() == '{' {`, "./horizon TestMissingServer"},
	{"P3", "horizon/reply.go", `return Reply{}, &ReplyError{Kind: parseKind(kind)}`, `return Reply{}, fmt.Errorf("%w %s", &ReplyError{Kind: parseKind(kind)}, kind)`, "./horizon TestUnrecognised"},
	{"X1", "stop.go", `if err := c.Stop(ctx, s.profile.Binding.Timeout); err != nil {`, `if err := c.Close(); err != nil {`, "TestCancelStops"},
	{"X1", "stop.go", `case <-t.C:
		}`, `case <-t.C:
			return false
		}`, "TestStopIsSaidAgain"},
	{"X2", "stop.go", `if st.Action == "" {`, `if true || st.Action == "" {`, "TestStopOfAnother"},
	{"X2", "attempt.go", `if !halt.seen || !isReply {`, `if false {`, "TestStopThatCantBeSeen"},
	{"X3", "attempt.go", `return Cancelled{Detail: "the action was stopped; what was done before is not undone"`, `return Cancelled{Detail: "the action was stopped and undone"`, "TestCancelStops"},
	{"X2", "attempt.go", `f.standing() == stoodBy && !f.gaveUp {`, `f.standing() == stoodBy {`, "TestClientThatGivesUp"},
	{"X2", "session.go", `		s.stops.Wait()
`, ``, "TestCloseKeepsTheClientUntilEveryStopIsOver"},
	{"X4", "stop.go", `	s.disarmLocked("the session was stopped; a new one has to be opened")
`, ``, "TestStopEnds|TestStopWorksWhileTheRecorder"},
	{"Q1", "perception.go", `if !ok || at[1] < low || at[1] > high {`, `if !ok || low > high {`, "TestSample"},
	{"Q2", "perception.go", `case age > MaxSampleAge:`, `case age < 0:`, "TestProposal"},
}

// Each clause is broken by a change that its tests notice. The list is checked against the
// source always; MUTANTS=1 (make mutants) applies every change by an overlay and demands that the
// named test fails; MUTANTS=A1,X2 does so for some clauses.
func TestMutants(t *testing.T) {
	covered := map[string]bool{}
	for _, m := range slices.Concat(mutants, taskMutants) {
		covered[m.clause] = true
		b, err := os.ReadFile(m.file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(b), m.old); n != 1 {
			t.Errorf("%s: %s holds the line %d times: %q", m.clause, m.file, n, m.old)
			continue
		}
		if want := os.Getenv("MUTANTS"); want == "1" || strings.Contains(want, m.clause) {
			kill(t, m, strings.Replace(string(b), m.old, m.new, 1))
		}
	}
	for letter, n := range clauses {
		for i := 1; i <= n; i++ {
			if c := letter + string(rune('0'+i)); !covered[c] {
				t.Errorf("clause %s has no mutant", c)
			}
		}
	}
}

// kill runs the test on the changed source and demands a failure that is a test's and not the compiler's.
func kill(t *testing.T, m mutant, changed string) {
	t.Helper()
	dir := t.TempDir()
	file, err := filepath.Abs(m.file)
	if err != nil {
		t.Fatal(err)
	}
	src := filepath.Join(dir, "changed.go")
	if err := os.WriteFile(src, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{file: src}})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	pkg, name := ".", m.test
	if strings.HasPrefix(name, "./") {
		pkg, name, _ = strings.Cut(name, " ")
	}
	c := exec.Command("go", "test", "-overlay", list, "-vet=off", "-timeout", "60s", "-count", "1", "-run", name, pkg)
	c.Env = append(os.Environ(), "MUTANTS=")
	out, err := c.CombinedOutput()
	switch {
	case err == nil:
		t.Errorf("%s survives in %s: %q → %q", m.clause, m.file, m.old, m.new)
	case !strings.Contains(string(out), "--- FAIL") && !strings.Contains(string(out), "panic: test timed out"):
		t.Errorf("%s: no test failed: %s", m.clause, out)
	}
}
