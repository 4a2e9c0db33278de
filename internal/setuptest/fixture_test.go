package setuptest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fixture is a repository with the real scripts and a small tree that stands for whisper.cpp.
type fixture struct {
	t    *testing.T
	root string
	bin  string // stand-ins, first in PATH
	log  string // what the stand-ins were asked
	env  []string
}

const script = "#!/bin/bash\nset -eu\n"

func newFixture(t *testing.T) *fixture {
	t.Helper()
	dir := t.TempDir()
	f := &fixture{t: t, root: filepath.Join(dir, "repo"), bin: filepath.Join(dir, "bin"), log: filepath.Join(dir, "calls")}
	f.env = []string{"PATH=" + f.bin + ":" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"),
		"XDG_CACHE_HOME=" + filepath.Join(dir, "cache"), "XDG_DATA_HOME=" + filepath.Join(dir, "data"),
		"CC=gcc", "CXX=g++", "CALLS=" + f.log, "FIXTURE=" + dir}
	for _, d := range []string{f.root, f.bin} {
		f.must(os.MkdirAll(d, 0o700))
	}
	f.must(os.CopyFS(filepath.Join(f.root, "scripts"), os.DirFS("../../scripts")))
	f.write("repo/internal/whispercpp/native/bwv_whisper.cpp", "int a;\n")
	f.write("repo/internal/whispercpp/native/bwv_whisper.h", "int a;\n")
	f.write("repo/go.mod", "module blockworld-voice\n")

	for _, p := range strings.Fields("src/whisper.cpp include/whisper.h ggml/include/ggml.h cmake/x.cmake CMakeLists.txt") {
		f.write("source/"+p, p+"\n")
	}
	f.write("source/examples/cli/cli.cpp", "not built here\n")
	f.pin()
	f.tool("git", "exit 128")
	f.tool("npm", "exit 1")
	// cmake: configure leaves a mark in the build folder, build makes the archives there.
	f.tool("cmake", `
		if [ "$1" = --build ]; then
			[ -e "$2/configured" ] && [ ! -e "$FIXTURE/broken" ] || { echo 'make: *** [x] Error 1'; exit 2; }
			mkdir -p "$2/ggml/src"
			touch "$2"/ggml/src/libggml{,-base,-cpu}.a
		else
			while [ "$1" != -B ]; do shift; done
			touch "$2/configured"
		fi`)
	f.tool("g++", `
		case "$1" in --version) echo 'g++ 1.0'; exit ;; -dumpmachine) echo test; exit ;; esac
		while [ "$1" != -o ]; do shift; done
		echo object >"$2"`)
	f.tool("ar", `echo archive >"$2"`)
	return f
}

// pin writes the pin file for the tree in source.
func (f *fixture) pin() {
	f.t.Helper()
	out := f.output(exec.Command("bash", "-c", `cd "$1" && find src include ggml cmake CMakeLists.txt -name '.*' -prune -o -type f -print0 |
		LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum`, "-", f.path("source")))
	f.write("repo/scripts/native/pin", "tag v0.0.1\ngit https://git.invalid/x\nnpm x@1 package/cpp\ntree_sha256 "+
		out[:64]+" src include ggml cmake CMakeLists.txt\ncli_sha256 none examples/cli\n")
}

func (f *fixture) path(name string) string { return filepath.Join(filepath.Dir(f.root), name) }

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) write(name, content string) {
	f.t.Helper()
	f.must(os.MkdirAll(filepath.Dir(f.path(name)), 0o700))
	f.must(os.WriteFile(f.path(name), []byte(content), 0o700))
}

// tool puts a stand-in first into PATH. It records that it was called, but for questions
// about its version.
func (f *fixture) tool(name, body string) {
	f.write("bin/"+name, script+`case "${1-}" in --version|-dumpmachine) ;; *) echo "`+name+` $*" >>"$CALLS" ;; esac`+"\n"+body+"\n")
}

func (f *fixture) output(c *exec.Cmd) string {
	f.t.Helper()
	out, err := c.CombinedOutput()
	if err != nil {
		f.t.Fatalf("%v: %v\n%s", c.Args, err, out)
	}
	return string(out)
}

func (f *fixture) command(name string, env ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(f.root, "scripts", name))
	c.Env = append(f.env[:len(f.env):len(f.env)], env...)
	return c
}

// run runs a script and returns its status and all that it printed.
func (f *fixture) run(name string, env ...string) (int, string) {
	f.t.Helper()
	var out bytes.Buffer
	c := f.command(name, env...)
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		f.t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String()
}

// calls returns what the stand-ins were asked since the last time, one word each: their names.
func (f *fixture) calls() string {
	f.t.Helper()
	b, err := os.ReadFile(f.log)
	if err != nil && !os.IsNotExist(err) {
		f.t.Fatal(err)
	}
	os.Remove(f.log)
	var names []string
	for line := range strings.Lines(string(b)) {
		names = append(names, strings.Fields(line)[0])
	}
	return strings.Join(names, " ")
}

func (f *fixture) native() string {
	f.t.Helper()
	to, err := os.Readlink(filepath.Join(f.root, "build/native"))
	if err != nil {
		f.t.Fatal(err)
	}
	return to
}

func (f *fixture) ok(name string, env ...string) string {
	f.t.Helper()
	status, out := f.run(name, env...)
	if status != 0 {
		f.t.Fatalf("%s: status %d\n%s", name, status, out)
	}
	return out
}

func contains(t *testing.T, out string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(out, w) {
			t.Errorf("the output does not say %q:\n%s", w, out)
		}
	}
}
