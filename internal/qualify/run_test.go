package qualify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/lang"
)

// machine measures the synthetic clips and remembers what it was asked for.
type machine struct {
	by    map[string]Clip
	asked []Place
	fail  string
}

func newMachine(clips []Clip) *machine {
	m := &machine{by: map[string]Clip{}}
	for _, c := range clips {
		m.by[c.File] = c
	}
	return m
}

func (m *machine) hear(_ context.Context, l Label, condition string) (digest.Digest, Figures, error) {
	m.asked = append(m.asked, Place{l.File, condition})
	if l.File == m.fail {
		return digest.Digest{}, Figures{}, errors.New("the machine broke")
	}
	return m.by[l.File].SHA256, m.by[l.File].Figures, nil
}

func planOf(clips []Clip, conditions ...string) Plan {
	p := Plan{Conditions: conditions, Digests: map[string]digest.Digest{}, Thresholds: limits()}
	for _, c := range clips {
		p.Labels = append(p.Labels, c.Label)
		p.Digests[c.File] = c.SHA256
	}
	return p
}

// A run that was stopped goes on where it was, and comes to the same as one that wasn't.
func TestResume(t *testing.T) {
	clips := synthetic()[:8]
	dir, settings := t.TempDir(), digest.Of([]byte("settings"))
	open := func(d digest.Digest, resume bool) (*Store, error) { return OpenStore(dir, d, resume) }

	whole := planOf(clips, "clean", "white-20")
	want, err := whole.Run(t.Context(), newMachine(clips).hear)
	if err != nil || len(want) != 16 {
		t.Fatalf("%d clips, %v", len(want), err)
	}

	plan, m := planOf(clips, "clean", "white-20"), newMachine(clips)
	if plan.Store, err = open(settings, false); err != nil {
		t.Fatal(err)
	}
	m.fail = clips[5].File
	if got, err := plan.Run(t.Context(), m.hear); err == nil || len(got) != 5 {
		t.Fatalf("%d clips, %v", len(got), err)
	}
	if err := plan.Store.Close(); err != nil {
		t.Fatal(err)
	}
	table := filepath.Join(dir, ClipsFile)
	f, err := os.OpenFile(table, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(clips[6].File + "\tclean\tcut in the mid"); err != nil { // the program was killed while it wrote
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}

	if _, err := open(settings, false); !errors.Is(err, ErrOccupied) {
		t.Fatalf("an earlier run would be lost: %v", err)
	}
	if plan.Store, err = open(settings, true); err != nil {
		t.Fatal(err)
	}
	plan.Digests[clips[2].File] = digest.Of([]byte("another recording")) // it changed in between
	again := newMachine(clips)
	var progress [][3]int
	plan.Progress = func(done, measured, total int) { progress = append(progress, [3]int{done, measured, total}) }
	got, err := plan.Run(t.Context(), again.hear)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("the figures are not those of a run at once")
	}
	if len(again.asked) != 12 || again.asked[0].File != clips[2].File || again.asked[1].File != clips[5].File {
		t.Errorf("measured: %v", again.asked)
	}
	if progress[0] != [3]int{1, 0, 16} || progress[15] != [3]int{16, 12, 16} {
		t.Errorf("progress %v", progress)
	}
	if err := plan.Store.Finish(got, plan.Thresholds); err != nil {
		t.Fatal(err)
	}
	if err := plan.Store.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if len(lines) != 17 || !strings.HasPrefix(lines[0], "file\tcondition\t") || !strings.HasPrefix(lines[9], clips[0].File+"\twhite-20\t") {
		t.Errorf("%d lines:\n%s", len(lines), data)
	}

	if other, err := open(digest.Of([]byte("other settings")), true); err != nil || len(other.Kept()) != 0 {
		t.Errorf("clips of other settings are kept: %v", err)
	} else if err := other.Close(); err != nil {
		t.Error(err)
	}
}

// A label that asks for something else needs other figures.
func TestKeptOf(t *testing.T) {
	c := synthetic()[0]
	row, err := rowOf(&c, limits(), digest.Of([]byte("s")))
	if err != nil {
		t.Fatal(err)
	}
	_, k, ok := readRow(strings.TrimSuffix(row, "\n"), digest.Of([]byte("s")))
	if !ok || !k.of(c.Label, c.SHA256) || !reflect.DeepEqual(k.Figures, c.Figures) {
		t.Fatalf("%v %+v", ok, k)
	}
	other := c.Label
	other.Task = Other // another label, decoded alike
	number, language := c.Label, c.Label
	number.Task, language.Language = Number, lang.SK
	if !k.of(other, c.SHA256) || k.of(number, c.SHA256) || k.of(language, c.SHA256) || k.of(c.Label, digest.Digest{}) {
		t.Error("kept for another question, or not for the same")
	}
}

func TestRunStops(t *testing.T) {
	clips := synthetic()[:3]
	ctx, cancel := context.WithCancel(t.Context())
	m := newMachine(clips)
	got, err := planOf(clips, "clean").Run(ctx, func(ctx context.Context, l Label, c string) (digest.Digest, Figures, error) {
		cancel()
		return m.hear(ctx, l, c)
	})
	if !errors.Is(err, context.Canceled) || len(got) != 1 {
		t.Errorf("%d clips, %v", len(got), err)
	}
}

func TestCorpusDigest(t *testing.T) {
	p := planOf(synthetic()[:3])
	d := CorpusDigest([]byte("m"), p.Labels, p.Digests)
	if d != CorpusDigest([]byte("m"), p.Labels, p.Digests) || d == CorpusDigest([]byte("n"), p.Labels, p.Digests) || d == CorpusDigest([]byte("m"), p.Labels[:2], p.Digests) {
		t.Error("equal corpora and others")
	}
	p.Digests[p.Labels[0].File] = digest.Of([]byte("x"))
	if d == CorpusDigest([]byte("m"), p.Labels, p.Digests) {
		t.Error("another clip, the same corpus")
	}
}
