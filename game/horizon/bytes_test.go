package horizon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Bytes leave for the socket in two places: the rendered line, and the token of TCP. And
// only Render fills a Line.
// contract: S2
func TestOnlyOneFunctionMakesBytes(t *testing.T) {
	writes, lines := map[string]int{}, map[string]int{}
	for _, pattern := range []string{"*.go", "../*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(b), "conn.Write("); n > 0 {
				writes[name] = n
			}
			if n := strings.Count(string(b), "Line{s"); n > 0 {
				lines[name] = n
			}
		}
	}
	if len(writes) != 1 || writes["client.go"] != 2 {
		t.Errorf("bytes are written in %v", writes)
	}
	if len(lines) != 1 || lines["request.go"] != 1 {
		t.Errorf("lines are made in %v", lines)
	}
}
