package synth

import (
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestTextKeepsAccents(t *testing.T) {
	for in, want := range map[string]string{
		"ř č ě ň ľ ť ď ž š ý á í é ú ů ô ä ĺ ŕ ó Ř Č Ě Ň Ľ Ť": "ř č ě ň ľ ť ď ž š ý á í é ú ů ô ä ĺ ŕ ó Ř Č Ě Ň Ľ Ť",
		"r\u030c c\u030c l\u030c": "ř č ľ",
		"  a\t\nb\u00a0\u2028c ":  "a b c",
		"a\x00b\x1b[31mc\u200bd":  "a b 31mcd",
		"[[bl@]] <voice> {x} a|b": "bl voice x ab",
		"päť, šesť; – iks…":       "päť, šesť; – iks…",
		"\xff\xfea":               "a",
	} {
		if got, err := Text(in); err != nil || got != want {
			t.Errorf("%q: %q, wanted %q (%v)", in, got, want, err)
		}
	}
	for _, in := range []string{"", " \n", "...", "\x00\x01", "[]{}", "\xff"} {
		if got, err := Text(in); !errors.Is(err, ErrNoText) {
			t.Errorf("%q: %q %v", in, got, err)
		}
	}
	if _, err := Text(strings.Repeat("ž", MaxText)); err != nil {
		t.Error(err)
	}
	if _, err := Text(strings.Repeat("ž", MaxText+1)); err == nil {
		t.Error("a text that is too long was accepted")
	}
}

func TestTextIsPlainWhateverComesIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		out, err := Text(in)
		if err != nil {
			return
		}
		if again, err := Text(out); err != nil || again != out {
			t.Fatalf("%q becomes %q, then %q (%v)", in, out, again, err)
		}
		if !utf8.ValidString(out) || !norm.NFC.IsNormalString(out) || utf8.RuneCountInString(out) > MaxText || strings.Contains(out, "  ") || out != strings.TrimSpace(out) {
			t.Fatalf("%q becomes %q", in, out)
		}
		if i := strings.IndexFunc(out, func(r rune) bool { return unicode.IsControl(r) || strings.ContainsRune("[]<>{}|\\/&*_", r) }); i >= 0 {
			t.Fatalf("%q keeps %q", in, out[i:])
		}
	})
}
