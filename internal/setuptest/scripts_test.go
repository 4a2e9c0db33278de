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
	status, out := f.run("packages", "PATH="+f.bare())
	if status == 0 {
		t.Error("espeak-ng is missing and nobody said so")
	}
	contains(t, out, "these system packages are missing: espeak-ng", "apt-get install espeak-ng")
}

// bare is a PATH with all that is needed but espeak-ng and a package manager.
func (f *fixture) bare() string {
	f.t.Helper()
	bare := f.path("bare")
	f.must(os.Mkdir(bare, 0o700))
	for _, name := range strings.Fields("bash dirname cat grep sed id mkdir flock awk env sleep tail tr touch pkg-config cmake make g++ pulseaudio pacat dbus-daemon") {
		path, err := exec.LookPath(name)
		f.must(err)
		f.must(os.Symlink(path, filepath.Join(bare, name)))
	}
	return bare
}

func TestMissingPackagesAreInstalledWhereTheyMayBe(t *testing.T) {
	f := newFixture(t)
	bare := f.bare()
	f.must(os.Remove(filepath.Join(bare, "id")))
	f.write("bare/id", script+"echo 0\n")
	// A package manager whose list is old: the first try to install fails.
	f.write("bare/apt-get", script+`echo "$*" >>"$CALLS"
		case "$*" in
		*" update") touch "$FIXTURE/fresh" ;;
		*" install "*espeak-ng) [ -e "$FIXTURE/fresh" ] || { echo 'E: 404'; exit 100; }; touch "$FIXTURE/bare/espeak-ng"; chmod +x "$FIXTURE/bare/espeak-ng" ;;
		esac`)
	chmod, err := exec.LookPath("chmod")
	f.must(err)
	f.must(os.Symlink(chmod, filepath.Join(bare, "chmod")))
	contains(t, f.ok("packages", "PATH="+bare), "installing system packages: espeak-ng")
	if out := f.ok("packages", "PATH="+bare); out != "" {
		t.Errorf("the warm run printed %q", out)
	}

	// A manager that says it is done and is not.
	f.must(os.Remove(filepath.Join(bare, "espeak-ng")))
	f.write("bare/apt-get", script)
	status, out := f.run("packages", "PATH="+bare)
	if status == 0 {
		t.Error("a package that did not come was not missed")
	}
	contains(t, out, "still missing", "espeak-ng")
}

func TestDemoRunsTheManifestALanguageAtATime(t *testing.T) {
	f := newFixture(t)
	f.write("repo/testdata/clips/manifest.tsv", "file\tlanguage\texpect\n"+
		"sk/stop.wav\tsk\tstop\ncs/a.wav\tcs\tstate\nsk/b.wav\tsk\tgoto 1 2 3\nen/a.wav\ten\tidle\nsk/a.wav\tsk\tidle\n")
	f.write("repo/bin/blockworld-voice", script+"echo \"$@\"\nexit ${STATUS-0}\n")
	clips := filepath.Join(f.root, "testdata/clips")
	want := strings.ReplaceAll("--language sk --wav C/sk/b.wav C/sk/a.wav C/sk/stop.wav\n--language cs --wav C/cs/a.wav\n--language en --wav C/en/a.wav\n", "C/", clips+"/")
	if got := f.ok("demo"); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	// A refusal and a stop are shown on purpose; every other failure is one.
	for status, want := range map[string]int{"3": 0, "6": 0, "5": 5, "1": 1} {
		if got, out := f.run("demo", "STATUS="+status); got != want {
			t.Errorf("status %s became %d\n%s", status, got, out)
		}
	}
}
