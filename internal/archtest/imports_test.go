package archtest

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "blockworld-voice"

// Layers, from the top. A package imports only packages of a lower layer, and the few edges below.
const (
	command = iota
	pipeline
	stage
	leaf
)

var stages = []string{"capture", "transcribe", "grammar", "game", "synth", "evidence", "models"}

// within are the edges between packages of one layer: a stage is one tree of packages, which may import each other
// from the root to the branches, and a command is what the game carries out.
func within(from, to string) bool {
	ft, tt := tree(from), tree(to)
	if ft == tt {
		return true
	}
	return ft == "game" && tt == "grammar"
}

func tree(pkg string) string { return strings.SplitN(pkg, "/", 2)[0] }

func layer(pkg string) (int, bool) {
	switch {
	case strings.HasPrefix(pkg, "cmd/"):
		return command, true
	case pkg == "internal/pipeline", pkg == "internal/qualify":
		return pipeline, true
	case strings.HasPrefix(pkg, "internal/"):
		return leaf, true
	case slices.Contains(stages, tree(pkg)):
		return stage, true
	case strings.HasPrefix(pkg, "scripts/"):
		return command, true // tools: they may use what a command may
	}
	return 0, false
}

func allowed(from, to string) bool {
	f, ok1 := layer(from)
	t, ok2 := layer(to)
	if !ok1 || !ok2 {
		return false
	}
	switch f {
	case command:
		return t > command
	case pipeline:
		return t > pipeline
	case stage:
		return t == leaf || t == stage && within(from, to)
	case leaf:
		return t == leaf
	}
	return false
}

type pkg struct {
	ImportPath string
	Dir        string
	Name       string
	GoFiles    []string
	CgoFiles   []string
	Imports    []string
}

func (p pkg) rel() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(filepath.Dir(dir))
}

func packages(t *testing.T) []pkg {
	t.Helper()
	c := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Name,GoFiles,CgoFiles,Imports", "./...")
	c.Dir = root(t)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var all []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("go list found %d packages only", len(all))
	}
	return all
}

func TestImportDirection(t *testing.T) {
	for _, p := range packages(t) {
		if _, ok := layer(p.rel()); !ok {
			t.Errorf("%s has no place in the architecture", p.rel())
			continue
		}
		for _, imp := range p.Imports {
			to, ours := strings.CutPrefix(imp, module+"/")
			if ours && !allowed(p.rel(), to) {
				t.Errorf("%s may not import %s", p.rel(), to)
			}
		}
	}
}

// The table itself: what it must allow and what it must not.
func TestImportTable(t *testing.T) {
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"cmd/blockworld-voice", "internal/pipeline", true},
		{"cmd/blockworld-voice", "grammar", true},
		{"internal/pipeline", "game", true},
		{"game", "grammar", true},
		{"game", "game/horizon", true},
		{"game/lab", "internal/procgroup", true},
		{"grammar", "internal/lang", true},
		{"grammar", "game", false},
		{"capture", "evidence", false},
		{"transcribe", "grammar", false},
		{"synth", "internal/pipeline", false},
		{"internal/lang", "grammar", false},
		{"internal/pipeline", "cmd/blockworld-voice", false},
		{"game/horizon", "capture", false},
	} {
		if got := allowed(c.from, c.to); got != c.ok {
			t.Errorf("allowed(%s, %s) = %v", c.from, c.to, got)
		}
	}
}

// The packages that may reach native code: one a library.
var native = []string{"internal/soxr", "internal/whispercpp"}

// The bindings of sound libraries, and who may import them: what uses them runs in a process of its own.
var sound = map[string]string{"github.com/gordonklaus/portaudio": "capture/mic", "github.com/ebitengine/oto": "synth/player"}

func TestNativeCodeIsKeptIn(t *testing.T) {
	var found []string
	for _, p := range packages(t) {
		if len(p.CgoFiles) > 0 {
			found = append(found, p.rel())
		}
		binding := slices.ContainsFunc(p.Imports, func(i string) bool { return strings.HasPrefix(i, "github.com/ggerganov/whisper.cpp") })
		if binding && p.rel() != "internal/whispercpp" {
			t.Errorf("%s imports the binding; only internal/whispercpp may", p.rel())
		}
	}
	for _, p := range packages(t) {
		for lib, only := range sound {
			if slices.ContainsFunc(p.Imports, func(i string) bool { return strings.HasPrefix(i, lib) }) && p.rel() != only {
				t.Errorf("%s imports %s; only %s may", p.rel(), lib, only)
			}
		}
	}
	slices.Sort(found)
	if !slices.Equal(found, native) {
		t.Errorf("packages with cgo: %v, want %v", found, native)
	}
}

// The grammar answers the same whenever and wherever it is asked, so it can't reach a clock, a file or the network.
func TestGrammarIsPure(t *testing.T) {
	impure := []string{"os", "net", "time", "unsafe", "C", "syscall", "io/fs", "os/exec", "math/rand", "math/rand/v2", "crypto/rand", "runtime"}
	for _, p := range packages(t) {
		if tree(p.rel()) != "grammar" {
			continue
		}
		for _, imp := range p.Imports {
			if slices.Contains(impure, imp) || strings.HasPrefix(imp, "net/") || strings.HasPrefix(imp, "golang.org/x/sys") {
				t.Errorf("%s imports %s", p.rel(), imp)
			}
		}
	}
}
