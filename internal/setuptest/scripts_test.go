package setuptest

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"blockworld-voice/models"
)

func TestScriptsParse(t *testing.T) {
	n := 0
	for _, dir := range []string{"../../scripts", "../../.ci"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil || !strings.HasPrefix(string(b), "#!") && !strings.HasSuffix(path, ".sh") && filepath.Base(path) != "env" {
				return err
			}
			n++
			if out, err := exec.Command("bash", "-n", path).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", path, err, out)
			}
			if st, err := d.Info(); err != nil || strings.HasPrefix(string(b), "#!") && (st.Mode()&0o111 == 0 || !strings.Contains(string(b), "set -euo pipefail")) {
				t.Errorf("%s: it must be executable and stop at errors (%v)", path, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 10 {
		t.Errorf("only %d scripts were found", n)
	}
}

func TestHelpNamesEveryTarget(t *testing.T) {
	out, err := exec.Command("make", "--no-print-directory", "-C", "../..", "help").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, target := range strings.Fields("help setup build demo test bench clean") {
		if !strings.Contains(string(out), "  make "+target+" ") {
			t.Errorf("make help does not explain %s:\n%s", target, out)
		}
	}
}

// The scripts know the default model by the same name, size and digest as the program.
func TestWeightsPinIsTheCatalogues(t *testing.T) {
	b, err := os.ReadFile("../../scripts/weights/pin")
	if err != nil {
		t.Fatal(err)
	}
	e, ok := models.Lookup(models.Default)
	if !ok {
		t.Fatal("the default model is not in the catalogue")
	}
	contains(t, string(b), fmt.Sprintf("\nmodel %s %d %s\n", e.Name, e.Size, e.SHA256))
}

func TestWeightsInPlaceAreLeftAlone(t *testing.T) {
	f := newFixture(t)
	e, ok := models.Lookup(models.Default)
	if !ok {
		t.Fatal("the default model is not in the catalogue")
	}
	store := "data/blockworld-voice/models/"
	f.write(store+"sha256-"+e.SHA256.String(), "")
	f.must(os.Truncate(f.path(store+"sha256-"+e.SHA256.String()), e.Size))
	f.write(store+"names.json", `{"schema":1,"models":[{"sha256":"`+e.SHA256.String()+`"}]}`)
	f.tool("go", "exit 1")
	if out := f.ok("weights/get"); out != "" || f.calls() != "" {
		t.Errorf("the warm run printed %q", out)
	}
	// Another size is no model.
	f.must(os.Truncate(f.path(store+"sha256-"+e.SHA256.String()), e.Size-1))
	if status, out := f.run("weights/get"); status == 0 || f.calls() != "go" {
		t.Errorf("a cut model was taken for one:\n%s", out)
	}
}

func TestModulesAreDownloadedOnce(t *testing.T) {
	f := newFixture(t)
	f.write("repo/go.sum", "a\n")
	f.tool("go", `case "$1" in env) echo "$FIXTURE/mod" ;; mod) mkdir -p "$FIXTURE/mod/cache/download" ;; esac`)
	f.ok("modules")
	if got := f.calls(); got != "go go" {
		t.Errorf("the first run called %s", got)
	}
	if out := f.ok("modules"); out != "" || f.calls() != "go" {
		t.Errorf("the warm run printed %q", out)
	}
	f.write("repo/go.sum", "b\n")
	f.ok("modules")
	if got := f.calls(); got != "go go" {
		t.Errorf("after a change of go.sum: %s", got)
	}
}

// Without the right to install, the missing packages are named and nothing is tried.
func TestMissingPackagesAreNamed(t *testing.T) {
	f := newFixture(t)
	if out := f.ok("packages"); out != "" {
		t.Errorf("with everything there it printed %q", out)
	}
	bare := f.path("bare")
	f.must(os.Mkdir(bare, 0o700))
	for _, name := range strings.Fields("bash dirname cat grep sed id mkdir flock awk pkg-config cmake make g++") {
		path, err := exec.LookPath(name)
		f.must(err)
		f.must(os.Symlink(path, filepath.Join(bare, name)))
	}
	status, out := f.run("packages", "PATH="+bare)
	if status == 0 {
		t.Error("espeak-ng is missing and nobody said so")
	}
	contains(t, out, "these system packages are missing: espeak-ng", "apt-get install espeak-ng")
}

func TestDemoRunsTheManifestInOrder(t *testing.T) {
	f := newFixture(t)
	f.write("repo/testdata/clips/manifest.tsv", "language\tfile\tnote\nsk\tsk/b.wav\tx\nen\ten/a.wav\ty\n")
	f.write("repo/bin/blockworld-voice", script+"echo \"$@\"\nexit ${STATUS-0}\n")
	clips := filepath.Join(f.root, "testdata/clips")
	if got, want := f.ok("demo"), fmt.Sprintf("--wav %s/sk/b.wav %s/en/a.wav\n", clips, clips); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// 3 says that a clip was refused, which the demo shows on purpose.
	for status, want := range map[string]int{"3": 0, "5": 5, "1": 1} {
		if got, out := f.run("demo", "STATUS="+status); got != want {
			t.Errorf("status %s became %d\n%s", status, got, out)
		}
	}
}
