package lang

import (
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                          nil,
		" ,.":                       nil,
		"Choď na desať, MÍNUS tri.": {"choď", "na", "desať", "mínus", "tri"},
		"sixty-four 12 o'clock":     {"sixty", "four", "o", "clock"},
		"c\u030cakaj":               {"c\u030cakaj"}, // an accent by itself belongs to its letter
	} {
		if got := Words(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
