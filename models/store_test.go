package models

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"blockworld-voice/internal/digest"
	"blockworld-voice/models/internal/weightstest"
)

func TestAddAndResolve(t *testing.T) {
	s, b := newStore(t), tinyGGML(t, 1)
	path := writeFile(t, "ggml-My.Tiny.bin", b)
	m, err := s.Add(context.Background(), path, "", none, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Model{Name: "my.tiny", Path: filepath.Join(s.Dir(), "sha256-"+digest.Of(b).String()), Size: int64(len(b)),
		SHA256: digest.Of(b), Origin: "file ggml-My.Tiny.bin", Trust: TrustLocal, Stored: true}
	if m != want {
		t.Errorf("Add gave %+v\nwant %+v", m, want)
	}
	for _, name := range []string{"my.tiny", digest.Of(b).String(), "sha256-" + digest.Of(b).String()} {
		if got, err := s.Resolve(name); err != nil || got != want {
			t.Errorf("Resolve(%q) = %+v, %v", name, got, err)
		}
	}
	got, err := s.Resolve(path)
	if err != nil || got.Stored || got.Path != path || got.SHA256 != want.SHA256 || got.Name != "ggml-My.Tiny.bin" {
		t.Errorf("Resolve(file) = %+v, %v", got, err)
	}
	intact(t, s, "my.tiny")
}

func TestResolveWhatIsNotThere(t *testing.T) {
	s := newStore(t)
	_, err := s.Resolve("base")
	wantError(t, err, ErrNotInstalled, "base")
	_, err = s.Resolve("small-sk")
	wantError(t, err, ErrNotInstalled, "small-sk")
	_, err = s.Resolve("nothing")
	wantError(t, err, ErrNotInstalled, "nothing")
	_, err = s.Resolve(writeFile(t, "x.bin", []byte("RIFF")))
	wantError(t, err, nil, "no ggml file")
	if _, err := s.Resolve("./gone.bin"); err == nil {
		t.Error("a file that is not there was resolved")
	}
	intact(t, s)
}

func TestAddRefusals(t *testing.T) {
	s, b := newStore(t), tinyGGML(t, 1)
	path := writeFile(t, "a.bin", b)
	ctx := context.Background()
	_, err := s.Add(ctx, writeFile(t, "cut.bin", b[:len(b)-1]), "", none, nil)
	wantError(t, err, nil, "cut")
	_, err = s.Add(ctx, path, "", digest.Of([]byte("other")), nil)
	wantError(t, err, ErrDigest, "has the digest "+digest.Of(b).String())
	_, err = s.Add(ctx, path, "base", none, nil)
	wantError(t, err, ErrDigest, "base")
	for _, name := range []string{"../x", "A", "-x", "sha256-x", "x y", "."} {
		_, err = s.Add(ctx, path, name, none, nil)
		wantError(t, err, nil, "name")
	}
	if _, err := s.Add(ctx, path, "a", digest.Of(b), nil); err != nil {
		t.Fatal(err)
	}
	_, err = s.Add(ctx, writeFile(t, "b.bin", tinyGGML(t, 2)), "a", none, nil)
	wantError(t, err, nil, "taken")
	_, err = s.Add(ctx, t.TempDir(), "d", none, nil)
	wantError(t, err, nil, "not a plain file")
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err = s.Add(cancelled, path, "c", none, nil)
	wantError(t, err, context.Canceled, "copied")
	intact(t, s, "a")
}

func TestRemove(t *testing.T) {
	s, b := newStore(t), tinyGGML(t, 1)
	path := writeFile(t, "a.bin", b)
	for _, name := range []string{"one", "two"} {
		if _, err := s.Add(context.Background(), path, name, none, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Remove("one"); err != nil {
		t.Fatal(err)
	}
	intact(t, s, "two") // two names, one file
	if err := s.Remove("two"); err != nil {
		t.Fatal(err)
	}
	intact(t, s)
	wantError(t, s.Remove("two"), ErrNotInstalled, "two")
}

func TestVerifyFindsDamage(t *testing.T) {
	s := newStore(t)
	ctx := context.Background()
	models := map[string]Model{}
	for i, name := range []string{"cut", "flipped", "gone", "sound"} {
		m, err := s.Add(ctx, writeFile(t, name+".bin", tinyGGML(t, uint64(i))), "", none, nil)
		if err != nil {
			t.Fatal(err)
		}
		models[name] = m
	}
	b, err := os.ReadFile(models["flipped"].Path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	for _, err := range []error{
		os.WriteFile(models["flipped"].Path, b, 0o600),
		os.Truncate(models["cut"].Path, 1000),
		os.Remove(models["gone"].Path),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.Verify(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, c := range all {
		got += fmt.Sprintf("%s %s\n", c.Model.Name, c.State)
		if (c.Detail == "") != (c.State == Sound) {
			t.Errorf("%s is %s with the detail %q", c.Model.Name, c.State, c.Detail)
		}
	}
	if want := "cut damaged\nflipped damaged\ngone missing\nsound sound\n"; got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	_, err = s.Resolve("cut")
	wantError(t, err, ErrDigest, "1000 bytes")
	_, err = s.Resolve("gone")
	wantError(t, err, ErrNotInstalled, "gone")
	_, err = s.Verify(ctx, nil, "sound", "never")
	wantError(t, err, ErrNotInstalled, "never")

	// Adding the same bytes again mends the store.
	for i, name := range []string{"cut", "flipped", "gone"} {
		if _, err := s.Add(ctx, writeFile(t, name+".bin", tinyGGML(t, uint64(i))), "", none, nil); err != nil {
			t.Fatal(err)
		}
	}
	intact(t, s, "cut", "flipped", "gone", "sound")
}

func TestSpoiledNameTable(t *testing.T) {
	s := newStore(t)
	for _, doc := range []string{"", "{", `{"schema":2,"models":[]}`, `{"schema":1,"models":[{"name":"../x","sha256":"","size":1,"origin":"","trust":"local"}]}`,
		`{"schema":1,"models":[{"name":"x","sha256":"","size":1,"origin":"","trust":"local"}]}`, `{"schema":1,"models":[{"name":"x","trust":"blind"}]}`} {
		if err := os.WriteFile(filepath.Join(s.dir, namesFile), []byte(doc), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := s.List()
		wantError(t, err, nil, namesFile)
		_, err = s.Add(context.Background(), writeFile(t, "a.bin", tinyGGML(t, 1)), "", none, nil)
		wantError(t, err, nil, namesFile)
	}
}

func TestManyAtOnce(t *testing.T) {
	s := newStore(t)
	var files []string
	for i := range 3 {
		files = append(files, writeFile(t, fmt.Sprintf("m%d.bin", i), tinyGGML(t, uint64(i))))
	}
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			if _, err := s.Add(context.Background(), files[i%3], "", none, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	intact(t, s, "m0", "m1", "m2")
}

func TestImportIntoTheStore(t *testing.T) {
	s, w := newStore(t), weightstest.Tiny(8)
	dir := filepath.Join(t.TempDir(), "Whisper-Tiny")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w.WriteCT2(t, dir, w.CT2(weightstest.F16))
	m, err := s.Import(context.Background(), dir, "", none, nil)
	if err != nil || m.Name != "whisper-tiny" || m.Trust != TrustLocal {
		t.Fatalf("Import = %+v, %v", m, err)
	}
	_, err = s.Import(context.Background(), dir, "base", none, nil)
	wantError(t, err, ErrDigest, "base")
	_, err = s.Import(context.Background(), t.TempDir(), "x", none, nil)
	wantError(t, err, nil, "neither model.bin")
	if err := os.Truncate(filepath.Join(dir, "model.bin"), 3000); err != nil {
		t.Fatal(err)
	}
	_, err = s.Import(context.Background(), dir, "x", none, nil)
	wantError(t, err, nil, "cut")
	intact(t, s, "whisper-tiny")
}

func TestSweepTakesOldRestsOnly(t *testing.T) {
	s := newStore(t)
	old, fresh := filepath.Join(s.dir, tempPrefix+"1.new"), filepath.Join(s.dir, tempPrefix+"2")
	for _, path := range []string{old, fresh} {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-2 * restsAge)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	if err := s.Sweep(restsAge); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("the old rest is there: %v", err)
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Errorf("the fresh rest is gone: %v", err)
	}
}

func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Catalogue() {
		if err := CheckName(e.Name); err != nil || seen[e.Name] {
			t.Errorf("%q: %v, twice: %v", e.Name, err, seen[e.Name])
		}
		seen[e.Name] = true
		if e.File == "" || e.Licence == "" || e.Languages == "" || e.Origin == "" || e.Memory == "" || e.Note == "" {
			t.Errorf("the entry of %s has a gap: %+v", e.Name, e)
		}
		if e.SHA256.IsZero() != (e.Size == 0) {
			t.Errorf("%s: digest and size must both be verified or both be missing", e.Name)
		}
	}
	if e, ok := Lookup(Default); !ok || e.SHA256.IsZero() || Catalogue()[0].Name != Default {
		t.Errorf("the default %q is not the first entry, with a digest", Default)
	}
}

func TestDefaultDir(t *testing.T) {
	t.Setenv("HOME", "/home/x")
	for data, want := range map[string]string{
		"/data":    "/data/blockworld-voice/models",
		"":         "/home/x/.local/share/blockworld-voice/models",
		"relative": "/home/x/.local/share/blockworld-voice/models",
	} {
		t.Setenv("XDG_DATA_HOME", data)
		if got, err := DefaultDir(); err != nil || got != want {
			t.Errorf("XDG_DATA_HOME=%q: %q, %v, want %q", data, got, err, want)
		}
	}
}
