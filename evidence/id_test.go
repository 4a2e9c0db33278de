package evidence

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestSessionIDsSortByTimeAndParseStrictly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(t, "a"))
		b := a.Add(time.Duration(rapid.Int64Range(1, 1e12).Draw(t, "later")) * time.Microsecond)
		x, y := newSessionID(a), newSessionID(b)
		if x.String() >= y.String() {
			t.Fatalf("%s is not before %s", x, y)
		}
		if got, err := ParseSessionID(x.String()); err != nil || got != x {
			t.Fatalf("%s: %v %v", x, got, err)
		}
		if filepath.Base(x.String()) != x.String() {
			t.Fatalf("%s is no file name", x)
		}
	})
	for _, bad := range []string{
		"", "20261130-184840-123456-9f3a21c", "20261130-184840-123456-9F3A21C4", "20261330-184840-123456-9f3a21c4",
		"20260230-184840-123456-9f3a21c4", "20261130-184860-123456-9f3a21c4", "20261130_184840-123456-9f3a21c4",
		"20261130-184840-12345--9f3a21c4", "20261130-184840-+12345-9f3a21c4", "20261130-184840-123456-9f3a21c4/", "../20261130-184840-123456-9f3",
	} {
		if id, err := ParseSessionID(bad); err == nil {
			t.Errorf("%q was taken for %s", bad, id)
		}
	}
}

func TestUtteranceIDsParseStrictly(t *testing.T) {
	for _, id := range []UtteranceID{1, 9, 10, 999, MaxUtterances} {
		if got, err := ParseUtteranceID(id.String()); err != nil || got != id {
			t.Errorf("%s: %v %v", id, got, err)
		}
	}
	for _, bad := range []string{"", "u", "u1", "u0000001", "u000000", "U000001", "u00000a", "u-00001", "u+00001", " u000001", "u000001\n"} {
		if id, err := ParseUtteranceID(bad); err == nil {
			t.Errorf("%q was taken for %s", bad, id)
		}
	}
}

func TestClosedSetsRoundTrip(t *testing.T) {
	for _, s := range Stages() {
		if got, err := ParseStage(s.String()); err != nil || got != s {
			t.Errorf("%v: %v %v", s, got, err)
		}
		if got, ok := stageOfFolder(s.Folder()); !ok || got != s {
			t.Errorf("%s", s.Folder())
		}
	}
	for _, v := range Verdicts() {
		if got, err := ParseVerdict(v.String()); err != nil || got != v {
			t.Errorf("%v: %v %v", v, got, err)
		}
	}
	for _, k := range Kinds() {
		var got Kind
		if err := got.UnmarshalText([]byte(k.String())); err != nil || got != k {
			t.Errorf("%v: %v %v", k, got, err)
		}
	}
	for _, zero := range []interface{ MarshalText() ([]byte, error) }{Stage(0), Stage(7), Verdict(0), Verdict(6)} {
		if b, err := zero.MarshalText(); err == nil {
			t.Errorf("a value outside its set was written as %q", b)
		}
	}
}

func TestArtefactNames(t *testing.T) {
	for _, good := range []string{"clip.wav", "a", "attempt-2.json", "x_y.jsonl", strings.Repeat("a", 64)} {
		if err := checkName(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", ".", "..", ".hidden", "a/b", `a\b`, "../x", "A.wav", "ř.wav", "a.", "-x", "a b", "a\x00", "receipt.json", "started.json", "manifest.json", strings.Repeat("a", 65)} {
		if err := checkName(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
