package capture

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The committed clips are what a newcomer hears of the project: the manifest and the files must
// agree, and the folder stays small.
func TestCommittedClips(t *testing.T) {
	const root = "../testdata/clips"
	b, err := os.ReadFile(filepath.Join(root, "manifest.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	if lines[0] != "file\tlanguage\texpect\ttext\tkind\tvoice\tlicense\tsource\trate\tseconds" {
		t.Fatalf("header: %q", lines[0])
	}
	var listed []string
	commands, refusals := map[string]int{}, map[string]int{}
	wide := false
	for _, line := range lines[1:] {
		c := strings.Split(line, "\t")
		if len(c) != 10 {
			t.Fatalf("%d columns: %q", len(c), line)
		}
		listed = append(listed, c[0])
		clip, err := ReadFile(filepath.Join(root, c[0]))
		if err != nil {
			t.Fatal(err)
		}
		if rate := fmt.Sprint(clip.Format.Rate); rate != c[8] {
			t.Errorf("%s: %s Hz, the manifest says %s", c[0], rate, c[8])
		}
		if s, err := strconv.ParseFloat(c[9], 64); err != nil || math.Abs(s-clip.Seconds) > 0.006 {
			t.Errorf("%s: %v s, the manifest says %s", c[0], clip.Seconds, c[9])
		}
		if len(clip.Marks) > 0 {
			t.Errorf("%s: marked %v", c[0], clip.Marks)
		}
		if c[2] == "refuse" {
			refusals[c[1]]++
		} else {
			commands[c[1]]++
		}
		if c[6] == "" || c[7] == "" {
			t.Errorf("%s: no licence or no source", c[0])
		}
		wide = wide || clip.Format.Rate == 44100 && clip.Format.Channels == 2 && clip.Format.Bits == 24
	}
	for _, l := range []string{"sk", "cs", "en"} {
		if commands[l] < 5 || refusals[l] < 2 {
			t.Errorf("%s: %d commands and %d refusals", l, commands[l], refusals[l])
		}
	}
	if !wide {
		t.Error("no clip of 44.1 kHz, stereo, 24 bits")
	}
	var size int64
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		size += info.Size()
		if rel, _ := filepath.Rel(root, path); strings.HasSuffix(path, ".wav") && !slices.Contains(listed, filepath.ToSlash(rel)) {
			t.Errorf("%s isn't in the manifest", rel)
		}
		return nil
	})
	if err != nil || size > 3_000_000 {
		t.Errorf("%d bytes, %v", size, err)
	}
}
