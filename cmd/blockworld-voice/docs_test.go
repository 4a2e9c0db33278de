package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blockworld-voice/evidence"
	"blockworld-voice/game"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/pipeline"
)

func page(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The page that scripts rely on names every value of every closed set.
func TestExitStatusPage(t *testing.T) {
	text := page(t, "docs/exit-status.md")
	for _, s := range statuses {
		if !strings.Contains(text, fmt.Sprintf("| %d | ", s.status)) {
			t.Errorf("the page doesn't list the status %d", s.status)
		}
	}
	var names []string
	for _, r := range pipeline.Reasons() {
		names = append(names, string(r))
	}
	for _, r := range game.Reasons() {
		names = append(names, r.String())
	}
	for _, k := range grammar.Kinds() {
		names = append(names, k.String())
	}
	for _, v := range evidence.Verdicts() {
		names = append(names, v.String())
	}
	for k := game.KindRefused; k <= game.KindUnknown; k++ {
		names = append(names, k.String())
	}
	for _, n := range names {
		if !strings.Contains(text, "`"+n) {
			t.Errorf("the page doesn't name %s", n)
		}
	}
}

// Every link of a page to a file leads to one.
func TestPageLinks(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal(err, len(pages))
	}
	for _, path := range append(pages, filepath.Join("..", "..", "README.md")) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(data), "](")[1:] {
			target, _, _ := strings.Cut(part, ")")
			target, _, _ = strings.Cut(target, "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), target)); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}
