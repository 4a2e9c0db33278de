package evidence

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// One changed byte in any file of a session is found, whether Verify looks at the store, or at the session. Every
// byte of the documents at the top and of the last manifest is tried, and of every other file the ends and the middle.
func TestEveryChangedByteIsFound(t *testing.T) {
	s := newStore(t)
	dir := writeSession(t, s, 1)
	flip := func(name string, pos int, x byte) {
		path := filepath.Join(dir, name)
		edit(t, path, func(b []byte) []byte { b[pos] ^= x; return b }, func() {
			rep := damaged(t, dir, fmt.Sprintf("%s, byte %d", name, pos))
			for _, p := range rep.Problems {
				if p.Kind.Interruption() {
					t.Errorf("%s, byte %d: taken for an interruption: %v", name, pos, p)
				}
			}
		})
	}
	for _, name := range filesBelow(t, dir) {
		size := len(must(os.ReadFile(filepath.Join(dir, name))))
		step := max(1, size/2)
		switch name {
		case sessionName, headName:
			step = 1
		case filepath.Join("u000001", manifestName):
			step = 7
		}
		for pos := 0; pos < size; pos += step {
			flip(name, pos, 1)
		}
		flip(name, size-1, 0x20)
	}
	clean(t, s.Root())
}

// The same for one utterance alone: its neighbours and head.json hold its manifest.
func TestEveryChangedByteOfAnUtteranceIsFoundInItself(t *testing.T) {
	dir := writeSession(t, newStore(t), 3)
	for _, u := range []string{"u000001", "u000002", "u000003"} {
		for _, name := range filesBelow(t, filepath.Join(dir, u)) {
			path := filepath.Join(dir, u, name)
			edit(t, path, func(b []byte) []byte { b[len(b)/2] ^= 1; return b }, func() {
				damaged(t, filepath.Join(dir, u), u+"/"+name)
			})
		}
		// A manifest that is well formed, and another one.
		path := filepath.Join(dir, u, manifestName)
		edit(t, path, func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"size": 10`), []byte(`"size": 11`), 1)
		}, func() {
			damaged(t, filepath.Join(dir, u), "changed manifest of "+u)
		})
		clean(t, filepath.Join(dir, u))
	}
}

func TestEveryRemovedOrRenamedFileIsFound(t *testing.T) {
	s := newStore(t)
	dir := writeSession(t, s, 2)
	for _, name := range filesBelow(t, dir) {
		path := filepath.Join(dir, name)
		move := func(to string, want Kind) {
			t.Helper()
			noError(t, os.Rename(path, to))
			rep := damaged(t, s.Root(), "moved "+name)
			if rep.Count(want) == 0 {
				t.Errorf("%s to %s: no %s among %v", name, to, want, rep.Problems)
			}
			noError(t, os.Rename(to, path))
		}
		move(filepath.Join(t.TempDir(), "away"), Missing)
		if strings.Count(name, "/") < 2 {
			move(path+"x", Missing)
			continue
		}
		move(filepath.Join(filepath.Dir(path), "zz.other"), Renamed)
		move(filepath.Join(filepath.Dir(path), ".hidden"), Renamed)
		move(filepath.Join(filepath.Dir(filepath.Dir(path)), "up"), Renamed)
	}
	for _, folder := range []string{"u000001", "u000002", "u000001/3-grammar", "u000002/6-playback"} {
		path := filepath.Join(dir, folder)
		for _, to := range []string{filepath.Join(t.TempDir(), "away"), filepath.Join(filepath.Dir(path), "x"), filepath.Join(dir, "u000003")} {
			noError(t, os.Rename(path, to))
			damaged(t, s.Root(), folder+" to "+to)
			noError(t, os.Rename(to, path))
		}
	}
	// The whole session under another name.
	other := filepath.Join(s.Root(), "20200101-000000-000000-00000000")
	noError(t, os.Rename(dir, other))
	if rep := damaged(t, s.Root(), "renamed session"); rep.Count(Renamed) == 0 {
		t.Errorf("problems %v", rep.Problems)
	}
	noError(t, os.Rename(other, dir))
	clean(t, s.Root())
}

func TestTwoSwappedUtterancesAreFound(t *testing.T) {
	dir := writeSession(t, newStore(t), 3)
	a, b, c := filepath.Join(dir, "u000001"), filepath.Join(dir, "u000002"), filepath.Join(t.TempDir(), "c")
	swap := func() {
		noError(t, os.Rename(a, c))
		noError(t, os.Rename(b, a))
		noError(t, os.Rename(c, b))
	}
	swap()
	damaged(t, dir, "swapped utterances")
	swap()
	clean(t, dir)
}

func TestAddedAndForeignThingsAreFound(t *testing.T) {
	s := newStore(t)
	dir := writeSession(t, s, 1)
	outside := filepath.Join(t.TempDir(), "outside")
	noError(t, os.WriteFile(outside, []byte("RIFF clip 0"), 0o600))
	file := func(p string) error { return os.WriteFile(p, []byte("x"), 0o600) }
	folder := func(p string) error { return os.Mkdir(p, 0o700) }
	link := func(p string) error { return os.Symlink(outside, p) }
	fifo := func(p string) error { return syscall.Mkfifo(p, 0o600) }
	rel := filepath.Base(dir)
	for _, c := range []struct {
		where string
		make  func(string) error
		want  Kind
	}{
		{"note.txt", file, Foreign}, {"folder", folder, Foreign}, {"link", link, Symlink}, {"pipe", fifo, Foreign}, {".dot", file, Foreign},
		{rel + "/note.txt", file, Foreign}, {rel + "/folder", folder, Foreign}, {rel + "/link", link, Symlink}, {rel + "/pipe", fifo, Foreign},
		{rel + "/u000002", folder, Added}, {rel + "/u000009", folder, Added}, {rel + "/u000002", file, Foreign}, {rel + "/u000002", link, Symlink},
		{rel + "/u000001/note", file, Added}, {rel + "/u000001/folder", folder, Foreign}, {rel + "/u000001/7-more", folder, Foreign},
		{rel + "/u000001/link", link, Symlink}, {rel + "/u000001/pipe", fifo, Foreign}, {rel + "/u000001/.tmp", file, Added},
		{rel + "/u000001/1-capture/more.wav", file, Added}, {rel + "/u000001/1-capture/UPPER", file, Added},
		{rel + "/u000001/1-capture/.clip.wav123", file, Added}, {rel + "/u000001/1-capture/1-capture", folder, Foreign},
		{rel + "/u000001/1-capture/link", link, Symlink}, {rel + "/u000001/1-capture/pipe", fifo, Foreign},
		{rel + "/u000001/4-game/started.json", file, Added}, {rel + "/u000001/4-game/attempt-2.json", file, Added},
	} {
		path := filepath.Join(s.Root(), filepath.FromSlash(c.where))
		noError(t, c.make(path))
		rep := damaged(t, s.Root(), c.where)
		if rep.Count(c.want) == 0 {
			t.Errorf("%s: no %s among %v", c.where, c.want, rep.Problems)
		}
		noError(t, os.RemoveAll(path))
	}
	clean(t, s.Root())
}

// A link in the place of a file or folder is never followed, even if what it points to has the right content.
func TestLinksInPlaceOfEvidenceAreNotFollowed(t *testing.T) {
	s := newStore(t)
	dir := writeSession(t, s, 2)
	for _, name := range []string{
		"", sessionName, headName, "u000001", "u000002", "u000001/manifest.json", "u000001/1-capture",
		"u000001/1-capture/clip.wav", "u000001/1-capture/receipt.json",
	} {
		path := filepath.Join(dir, name)
		away := filepath.Join(t.TempDir(), "away")
		noError(t, os.Rename(path, away))
		noError(t, os.Symlink(away, path))
		if rep := damaged(t, s.Root(), "link at "+name); rep.Count(Symlink) == 0 {
			t.Errorf("%s: %v", name, rep.Problems)
		}
		noError(t, os.Remove(path))
		noError(t, os.Rename(away, path))
	}
	link := filepath.Join(t.TempDir(), "link")
	noError(t, os.Symlink(s.Root(), link))
	if _, err := Verify(link); err == nil {
		t.Error("a link to a store was followed")
	}
	if _, err := Verify(filepath.Join(dir, sessionName)); err == nil {
		t.Error("a file was verified")
	}
	if _, err := Verify(filepath.Join(dir, "nothing")); err == nil {
		t.Error("nothing was verified")
	}
	clean(t, s.Root())
}

func TestWrongModesAreFound(t *testing.T) {
	s := newStore(t)
	dir := writeSession(t, s, 1)
	for _, name := range []string{"", "head.json", "session.json", "u000001", "u000001/manifest.json", "u000001/5-synth", "u000001/5-synth/reply.wav", ".."} {
		path := filepath.Join(dir, name)
		old := must(os.Lstat(path)).Mode().Perm()
		for _, mode := range []fs.FileMode{old | 0o040, old | 0o004} {
			noError(t, os.Chmod(path, mode))
			if rep := damaged(t, s.Root(), "mode of "+name); rep.Count(WrongMode) != 1 || len(rep.Problems) != 1 {
				t.Errorf("%s: %v", name, rep.Problems)
			}
		}
		noError(t, os.Chmod(path, old))
	}
	clean(t, s.Root())
}

// Special bits, another owner and another name of a file are found as such.
func TestWhatIsNotPrivateIsFound(t *testing.T) {
	s := newStore(t)
	dir := writeSession(t, s, 1)
	file := filepath.Join(dir, "u000001/4-game/outcome.json")
	want := func(what string, k Kind, n int) {
		t.Helper()
		if rep := damaged(t, s.Root(), what); rep.Count(k) != n || len(rep.Problems) != n {
			t.Errorf("%s: %v", what, rep.Problems)
		}
	}
	for name, bit := range map[string]fs.FileMode{"u000001/4-game/outcome.json": fs.ModeSetuid, "head.json": fs.ModeSticky, "u000001/manifest.json": fs.ModeSetgid, "u000001": fs.ModeSticky, "u000001/5-synth": fs.ModeSetuid} {
		path := filepath.Join(dir, name)
		old := must(os.Lstat(path)).Mode().Perm()
		noError(t, os.Chmod(path, old|bit))
		want("special bit of "+name, WrongMode, 1)
		noError(t, os.Chmod(path, old))
	}
	// A folder in a shared tree takes the group's bit from above.
	noError(t, os.Chmod(filepath.Join(dir, "u000001"), 0o700|fs.ModeSetgid))
	clean(t, s.Root())
	away := filepath.Join(t.TempDir(), "away")
	noError(t, os.Link(file, away))
	want("a hard link", HardLink, 1)
	noError(t, os.Remove(away))
	if os.Geteuid() == 0 { // nobody else can give files away
		noError(t, os.Chown(file, 65534, -1))
		want("another owner", ForeignOwner, 1)
		noError(t, os.Chown(file, 0, -1))
	}
	clean(t, s.Root())
}

// A session that was emptied is damaged: a folder gets a session's name when its documents are in it.
func TestEmptiedSessionIsFound(t *testing.T) {
	s := newStore(t)
	dir := writeSession(t, s, 1)
	noError(t, os.Rename(dir, filepath.Join(t.TempDir(), "away")))
	noError(t, os.Mkdir(dir, 0o700))
	for _, path := range []string{s.Root(), dir} {
		if rep := damaged(t, path, "an emptied session"); rep.Count(Missing) != 2 {
			t.Errorf("%v", rep.Problems)
		}
	}
	noError(t, os.Remove(dir))
	noError(t, os.Mkdir(filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)), 0o700))
	if rep := must(Verify(s.Root())); rep.Damaged() || rep.Count(Leftover) != 1 {
		t.Errorf("a session that never began: %v", rep.Problems)
	}
}

// A document of a later version is named as such, and a broken one as broken.
func TestDocumentsThatCannotBeRead(t *testing.T) {
	s := newStore(t)
	dir := writeSession(t, s, 1)
	for _, name := range []string{sessionName, headName, "u000001/manifest.json", "u000001/3-grammar/receipt.json"} {
		for what, c := range map[string]struct {
			change func([]byte) []byte
			want   Kind
		}{
			"newer":     {func(b []byte) []byte { return bytes.Replace(b, []byte(`"schema": 1`), []byte(`"schema": 2`), 1) }, NewerSchema},
			"newer key": {func([]byte) []byte { return []byte(`{"zeta":{"deep":[1]},"schema":7}`) }, NewerSchema},
			"empty":     {func([]byte) []byte { return nil }, BadDocument},
			"cut":       {func(b []byte) []byte { return b[:len(b)/2] }, BadDocument},
			"array":     {func([]byte) []byte { return []byte(`[]`) }, BadDocument},
			"unknown":   {func(b []byte) []byte { return bytes.Replace(b, []byte("{"), []byte(`{"x": 1,`), 1) }, BadDocument},
			"duplicate": {func(b []byte) []byte { return bytes.Replace(b, []byte("{"), []byte(`{"schema": 1,`), 1) }, BadDocument},
			"space":     {func(b []byte) []byte { return append(b, ' ') }, BadDocument},
			"null":      {func(b []byte) []byte { return bytes.Repeat([]byte{0}, len(b)) }, BadDocument},
			"huge":      {func(b []byte) []byte { return bytes.Repeat([]byte(" "), 1<<20) }, BadDocument},
			"zero":      {func(b []byte) []byte { return bytes.Replace(b, []byte(`"schema": 1`), []byte(`"schema": 0`), 1) }, BadDocument},
		} {
			edit(t, filepath.Join(dir, name), c.change, func() {
				rep := damaged(t, dir, name+" "+what)
				if rep.Count(c.want) == 0 && !(name == "u000001/manifest.json" && rep.Count(Unreadable) > 0) {
					t.Errorf("%s %s: no %s among %v", name, what, c.want, rep.Problems)
				}
			})
		}
	}
	clean(t, dir)
}

// A name in a manifest is never joined to a path before it was checked.
func TestAManifestCannotPointOutside(t *testing.T) {
	dir := writeSession(t, newStore(t), 1)
	for _, name := range []string{"../../../etc/passwd", "/etc/passwd", "1-capture/../../x", "manifest.json", "1-capture/A"} {
		edit(t, filepath.Join(dir, "u000001", manifestName), func(b []byte) []byte {
			return bytes.Replace(b, []byte("1-capture/clip.wav"), []byte(name), 1)
		}, func() {
			if rep := damaged(t, dir, name); rep.Count(BadDocument) == 0 {
				t.Errorf("%s: %v", name, rep.Problems)
			}
		})
	}
}

// contract: E2
func TestReceiptsThatContradictEachOtherAreFound(t *testing.T) {
	dir := writeSession(t, newStore(t), 1)
	a, b := filepath.Join(dir, "u000001/2-transcribe/receipt.json"), filepath.Join(dir, "u000001/3-grammar/receipt.json")
	x, y := must(os.ReadFile(a)), must(os.ReadFile(b))
	edit(t, a, func([]byte) []byte { return y }, func() {
		edit(t, b, func([]byte) []byte { return x }, func() {
			if rep := damaged(t, dir, "swapped receipts"); rep.Count(BadReceipt) == 0 {
				t.Errorf("problems %v", rep.Problems)
			}
		})
	})
}

func TestMissingUtterancesAreToldAsOneRange(t *testing.T) {
	dir := writeSession(t, newStore(t), 5)
	for _, n := range []string{"u000002", "u000003", "u000005"} {
		noError(t, os.RemoveAll(filepath.Join(dir, n)))
	}
	rep := damaged(t, dir, "missing utterances")
	var got []string
	for _, p := range rep.Problems {
		if p.Kind == Missing {
			got = append(got, p.String())
		}
	}
	if strings.Join(got, "; ") != "missing: u000002: and all to u000003; missing: u000005" {
		t.Errorf("missing %q", got)
	}
	if rep.Count(BrokenChain) == 0 {
		t.Error("head.json names a manifest that is gone, and nothing was said")
	}
	noError(t, os.RemoveAll(dir)) // so that the store is sound when the test ends
}

func TestProblemsAreBounded(t *testing.T) {
	s := newStore(t)
	for i := range maxProblems + 50 {
		noError(t, os.Mkdir(filepath.Join(s.Root(), fmt.Sprintf("x%d", i)), 0o700))
	}
	rep := damaged(t, s.Root(), "many foreign folders")
	if len(rep.Problems) != maxProblems || rep.Omitted != 50 {
		t.Errorf("%d problems, %d omitted", len(rep.Problems), rep.Omitted)
	}
	noError(t, os.RemoveAll(s.Root()))
	must(Open(s.Root()))
}

func TestHostileNamesAreMadeHarmless(t *testing.T) {
	p := Problem{Foreign, "a\x1b[2Jb\u202e", "x\ny"}
	if s := p.String(); strings.ContainsAny(s, "\x1b\n\u202e") {
		t.Errorf("%q", s)
	}
}

// Whatever utterances a session has, it verifies clean; and then any one change somewhere is found.
func TestRandomSessionsVerifyAndRandomChangesAreFound(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := must(Open(filepath.Join(root, "evidence")))
		s.disk = quickDisk{}
		e := newSession(t, s)
		for range rapid.IntRange(1, 3).Draw(t, "utterances") {
			randomUtterance(t, e)
		}
		if rapid.Bool().Draw(t, "close") {
			noError(t, e.Close())
		}
		clean(t, e.Dir())
		names := filesBelow(t, e.Dir())
		path := filepath.Join(e.Dir(), rapid.SampledFrom(names).Draw(t, "file"))
		old := must(os.ReadFile(path))
		switch rapid.SampledFrom([]string{"byte", "cut", "grow", "remove", "rename", "add"}).Draw(t, "change") {
		case "byte":
			if len(old) == 0 {
				break
			}
			b := bytes.Clone(old)
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "xor"))
			noError(t, os.WriteFile(path, b, 0o600))
			damaged(t, e.Dir(), "byte")
		case "cut":
			if len(old) == 0 {
				break
			}
			noError(t, os.Truncate(path, int64(rapid.IntRange(0, len(old)-1).Draw(t, "to"))))
			damaged(t, e.Dir(), "cut")
		case "grow":
			noError(t, os.WriteFile(path, append(bytes.Clone(old), rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(t, "more")...), 0o600))
			damaged(t, e.Dir(), "grow")
		case "remove":
			noError(t, os.Remove(path))
			damaged(t, e.Dir(), "remove")
		case "rename":
			to := filepath.Join(filepath.Dir(path), rapid.StringMatching(`[a-z0-9]{1,8}(\.json)?`).Draw(t, "to"))
			if _, err := os.Lstat(to); err == nil {
				break
			}
			noError(t, os.Rename(path, to))
			damaged(t, e.Dir(), "rename")
		case "add":
			to := path + rapid.StringMatching(`[a-z0-9.]{1,8}`).Draw(t, "suffix")
			noError(t, os.WriteFile(to, nil, 0o600))
			damaged(t, e.Dir(), "add")
		}
		_ = e.Close()
		noError(t, os.RemoveAll(e.Dir()))
	})
}

// randomUtterance writes a sealed utterance of any products, verdicts, inputs and times.
func randomUtterance(t *rapid.T, e *Session) {
	u := must(e.Begin())
	var outputs []Ref
	clock := int64(0)
	for _, s := range Stages() {
		must(u.BeginStage(s))
		for i := range rapid.IntRange(0, 3).Draw(t, "files") {
			f, err := u.Put(s, fmt.Sprintf("f%d", i), rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "data"))
			noError(t, err)
			outputs = append(outputs, f.Ref())
		}
		if rapid.Bool().Draw(t, "log") {
			l := must(u.OpenLog(s, EventsFile))
			for range rapid.IntRange(0, 3).Draw(t, "lines") {
				noError(t, l.Append(rapid.StringN(0, 20, -1).Draw(t, "line")))
			}
		}
		r := Receipt{Stage: s, Verdict: rapid.SampledFrom(Verdicts()).Draw(t, "verdict"), WallStart: e.Epoch()}
		r.Reason = rapid.StringMatching(`[a-z_]{1,20}`).Draw(t, "reason")
		r.StartNS = clock + rapid.Int64Range(0, 1e9).Draw(t, "wait")
		r.EndNS = r.StartNS + rapid.Int64Range(0, 1e9).Draw(t, "take")
		clock = r.EndNS
		if len(outputs) > 0 && s != Capture && rapid.Bool().Draw(t, "input") {
			in := rapid.SampledFrom(outputs).Draw(t, "which")
			if !strings.HasPrefix(in.Name, s.Folder()) {
				r.Inputs = []Ref{in}
			}
		}
		noError(t, u.PutReceipt(r))
	}
	must(u.Seal())
}
