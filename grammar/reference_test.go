package grammar

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write docs/grammar.md")

func TestReferenceIsFresh(t *testing.T) {
	const path = "../docs/grammar.md"
	if *update {
		if err := os.WriteFile(path, []byte(Reference()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != Reference() {
		t.Error("docs/grammar.md is stale: go test ./grammar -run Reference -update")
	}
}

func TestEveryReasonHasItsExample(t *testing.T) {
	for _, r := range Reasons() {
		e, ok := reasonTexts[r]
		if !ok {
			t.Errorf("%s is not explained", r)
			continue
		}
		if got, ok := Parse(e[1]).(Refusal); !ok || got.Reason != r {
			t.Errorf("%q is no example of %s: %v", e[1], r, got)
		}
		if back, ok := ParseReason(r.String()); !ok || back != r {
			t.Errorf("%s does not parse back", r)
		}
	}
	for _, k := range Kinds() {
		if back, ok := ParseKind(k.String()); !ok || back != k {
			t.Errorf("%s does not parse back", k)
		}
	}
}
