package pipeline

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blockworld-voice/evidence"
	"blockworld-voice/game"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/lang"
	"blockworld-voice/internal/testmodel"
	"blockworld-voice/synth"
	"blockworld-voice/transcribe"
)

// labelled is one clip of a corpus.
type labelled struct {
	file, voice string
	language    lang.Language
	expect      string // a canonical command, or "refuse"
}

// corpus reads the whole commands and the other speech of a folder's manifest. Bare numbers are left out: the
// program never accepts them.
func corpus(t testing.TB, dir string) []labelled {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "manifest.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	column := map[string]int{}
	var out []labelled
	for in.Scan() {
		cells := strings.Split(in.Text(), "\t")
		if len(column) == 0 {
			for i, name := range cells {
				column[name] = i
			}
			continue
		}
		l, err := lang.Parse(cells[column["language"]])
		if err != nil {
			t.Fatal(err)
		}
		c := labelled{filepath.Join(dir, cells[column["file"]]), cells[column["voice"]], l, cells[column["expect"]]}
		verb, _, _ := strings.Cut(c.expect, " ")
		if _, ok := grammar.ParseKind(verb); ok || c.expect == "refuse" {
			out = append(out, c)
		}
	}
	if in.Err() != nil || len(out) == 0 {
		t.Fatalf("%s: %v, %d clips", dir, in.Err(), len(out))
	}
	return out
}

// real is a session on real parts: the base weights, espeak-ng, and a lab in a process of its own.
type real struct {
	session *Session
	store   *evidence.Store
}

func newReal(t testing.TB, langs ...lang.Language) *real {
	t.Helper()
	dir := t.TempDir()
	cache, err := os.UserCacheDir() // the program's own: a table that was made once serves the next run too
	if err != nil {
		t.Fatal(err)
	}
	engine, err := transcribe.New(transcribe.Config{
		Path: testmodel.Base(t), Name: "base", SHA256: testmodel.Digest(t), CacheDir: filepath.Join(cache, "blockworld-voice", "silence"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	child, profile, err := game.StartLab(t.Context(), os.Args[0], filepath.Join(dir, "lab"), "--speed", "200", "--chunks", "72")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := child.Close(); err != nil {
			t.Error(err)
		}
	})
	profile.Policy.MaxDistance, profile.Policy.ActionSeconds, profile.Policy.MaxActions = 1024, 600, 10_000
	store, err := evidence.Open(filepath.Join(profile.Workspace, "evidence"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(Config{Store: store, Engine: engine, Voice: &synth.Espeak{}, Languages: langs})
	if err != nil {
		t.Fatal(err)
	}
	g, err := game.Open(t.Context(), profile, game.Options{SessionID: s.ID().String(), StateDir: filepath.Join(dir, "state"), GameHome: filepath.Join(dir, "home")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	s.Bind(g)
	return &real{s, store}
}

// end closes the session and wants its evidence whole.
func (r *real) end(t testing.TB) {
	t.Helper()
	if err := r.session.Close(); err != nil {
		t.Error(err)
	}
	rep, err := evidence.Verify(r.store.Root())
	if err != nil {
		t.Fatal(err)
	}
	if !rep.OK() {
		t.Errorf("the evidence doesn't verify: %v", rep.Problems)
	}
}

// tally counts what became of a corpus.
type tally struct{ right, refused, wrong, falsely, clips int }

func (c tally) String() string {
	return fmt.Sprintf("%d clips: %d right, %d refused, %d wrong, %d falsely accepted", c.clips, c.right, c.refused, c.wrong, c.falsely)
}

// runCorpus takes the clips through a session a language, as a person would ask for it.
func runCorpus(t *testing.T, clips []labelled) (all tally, byLanguage map[lang.Language]tally) {
	byLanguage = map[lang.Language]tally{}
	for _, l := range lang.All() {
		var mine []labelled
		for _, c := range clips {
			if c.language == l && c.expect != "stop" { // a stop ends the session: those come last
				mine = append(mine, c)
			}
		}
		stops := slices.DeleteFunc(slices.Clone(clips), func(c labelled) bool { return c.language != l || c.expect != "stop" })
		mine = append(mine, stops...)
		if len(mine) == 0 {
			continue
		}
		r := newReal(t, l)
		n := byLanguage[l]
		for _, c := range mine {
			rec, err := r.session.Do(t.Context(), WAV{c.file})
			if err != nil {
				t.Fatal(err)
			}
			if err := rec.Check(); err != nil {
				t.Errorf("%s: %v", c.file, err)
			}
			n.add(t, c, rec)
		}
		r.end(t)
		byLanguage[l] = n
	}
	for n := range maps.Values(byLanguage) {
		all.right, all.refused, all.wrong, all.falsely, all.clips = all.right+n.right, all.refused+n.refused, all.wrong+n.wrong, all.falsely+n.falsely, all.clips+n.clips
	}
	return all, byLanguage
}

func (n *tally) add(t *testing.T, c labelled, rec *Record) {
	n.clips++
	cmd, ok := rec.Decision.(Command)
	switch {
	case !ok:
		if c.expect != "refuse" {
			n.refused++
			t.Logf("%s (%s) was refused: %s, best %v", c.file, c.voice, rec.Line().Decision.Reason, rec.Line().Decision.Readings)
		} else {
			n.right++
		}
	case cmd.Command.String() == c.expect:
		n.right++
	case c.expect == "refuse":
		n.falsely++
		t.Logf("%s (%s) was taken for %s, and is no command", c.file, c.voice, cmd.Command)
	default:
		n.wrong++
		t.Logf("%s (%s) was taken for %s, and is %s", c.file, c.voice, cmd.Command, c.expect)
	}
	if !ok && rec.Outcome != nil {
		t.Errorf("%s: an outcome without a command", c.file)
	}
}

// The committed clips: each is right or refused, and what is no command is refused.
func TestCorpus(t *testing.T) {
	all, by := runCorpus(t, corpus(t, filepath.Join("..", "..", "testdata", "clips")))
	t.Log(all, by)
	if all.wrong > 0 || all.falsely > 0 {
		t.Error(all)
	}
	for _, l := range lang.All() {
		if by[l].right == 0 {
			t.Errorf("nothing in %s was understood: %v", l, by[l])
		}
	}
}

// A command under another language than its own is right or refused.
func TestCorpusUnderAnotherLanguage(t *testing.T) {
	other := map[lang.Language]lang.Language{lang.SK: lang.CS, lang.CS: lang.EN, lang.EN: lang.SK}
	var clips []labelled
	taken := map[lang.Language]int{}
	for _, c := range corpus(t, filepath.Join("..", "..", "testdata", "clips")) {
		if classed, ok := judge(c.expect).(Command); ok && classOf(classed.Command) == transcribe.Coordinates && taken[c.language] < 2 {
			taken[c.language]++
			c.language = other[c.language]
			clips = append(clips, c)
		}
	}
	all, _ := runCorpus(t, clips)
	t.Log(all)
	if all.clips < 6 || all.wrong > 0 {
		t.Error(all)
	}
}

// The wider corpus, where the environment names its folder. Without one there is nothing to test, and no claim is made.
func TestWiderCorpus(t *testing.T) {
	dir := os.Getenv("BLOCKWORLD_SPEECH")
	if dir == "" {
		t.Log("BLOCKWORLD_SPEECH names no folder: nothing was tested")
		return
	}
	all, by := runCorpus(t, corpus(t, dir))
	t.Log(all, by)
	if all.wrong*100 > all.clips || all.falsely > 0 {
		t.Error(all)
	}
}
