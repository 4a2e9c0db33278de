package archtest

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each package says what it is in exactly one file.
func TestOnePackageDoc(t *testing.T) {
	for _, p := range packages(t) {
		var with []string
		for _, name := range append(append([]string{}, p.GoFiles...), p.CgoFiles...) {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				t.Fatal(err)
			}
			if f.Doc == nil || strings.TrimSpace(f.Doc.Text()) == "" {
				continue
			}
			with = append(with, name)
			want := "Package " + p.Name + " "
			if p.Name == "main" {
				want = "Command "
			}
			if !strings.HasPrefix(f.Doc.Text(), want) {
				t.Errorf("%s/%s: the package comment begins with %q, not %q", p.rel(), name, first(f.Doc.Text()), want)
			}
		}
		if len(p.GoFiles)+len(p.CgoFiles) > 0 && len(with) != 1 {
			t.Errorf("%s has %d package comments (%v), want one", p.rel(), len(with), with)
		}
	}
}

func first(s string) string { return strings.SplitN(s, "\n", 2)[0] }

// tracked lists the files under version control, or all files of a tree that was unpacked without it.
func tracked(t *testing.T) []string {
	t.Helper()
	dir := root(t)
	c := exec.Command("git", "ls-files", "-z")
	c.Dir = dir
	if out, err := c.Output(); err == nil {
		return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
	}
	var names []string
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if e.IsDir() && (rel == "build" || rel == ".git") {
			return filepath.SkipDir
		}
		if e.Type().IsRegular() {
			names = append(names, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func text(t *testing.T, name string) ([]byte, bool) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root(t), name))
	if os.IsNotExist(err) {
		return nil, false // removed in the working tree, not yet in the index
	}
	if err != nil {
		t.Fatal(err)
	}
	return data, !bytes.ContainsRune(data, 0)
}

// A file that a person can't hold in the head is split.
func TestFileLength(t *testing.T) {
	const most = 500
	for _, name := range tracked(t) {
		switch filepath.Ext(name) {
		case ".go", ".sh", ".cpp", ".h", ".py":
		default:
			continue
		}
		if data, ok := text(t, name); ok {
			if n := bytes.Count(data, []byte("\n")); n > most {
				t.Errorf("%s has %d lines, more than %d", name, n, most)
			}
		}
	}
}

// Nothing in the repository depends on one machine's folders or on where its packages come from: those are
// the tool chain's settings. The patterns are built so that this file doesn't match itself.
func TestNoMachineNoRegistry(t *testing.T) {
	var parts = []string{
		`(registry\.npm` + `js\.org|registry\.yarn` + `pkg\.com)`,
		`(files\.python` + `hosted\.org|pypi\.` + `org)`,
		`proxy\.gol` + `ang\.org|sum\.gol` + `ang\.org`,
		`(^|[\s"'=(:])/` + `work/(main|shared|\.library)`,
		`(^|[\s"'=(:])/tmp` + `/(plan|x)/`,
		`(^|[\s"'=(:])/root` + `/`,
	}
	bad := regexp.MustCompile(`(?m)` + strings.Join(parts, "|"))
	for _, name := range tracked(t) {
		if name == "go.sum" {
			continue
		}
		data, ok := text(t, name)
		if !ok {
			continue
		}
		for _, m := range bad.FindAllIndex(data, 3) {
			line := 1 + bytes.Count(data[:m[0]], []byte("\n"))
			t.Errorf("%s:%d names %q", name, line, bytes.TrimSpace(data[m[0]:m[1]]))
		}
	}
}
