package transcribe

import (
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"blockworld-voice/internal/lang"
)

// pace returns the syllables of a text a second of sound, 0 when the time isn't known.
func pace(text string, l lang.Language, active time.Duration) float64 {
	if active <= 0 {
		return 0
	}
	return float64(syllables(text, l)) / active.Seconds()
}

// syllables counts the syllables of a text, roughly: groups of vowels, in Slovak and Czech
// also r and l between consonants and the diphthongs as one, in English without a final
// silent e. A word has at least one.
func syllables(text string, l lang.Language) int {
	n := 0
	for _, w := range lang.Words(text) {
		n += max(1, nuclei(unaccented(w), l))
	}
	return n
}

// unaccented takes the accents away.
func unaccented(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(word))
}

func nuclei(w string, l lang.Language) int {
	if l == lang.EN {
		if len(w) > 2 && strings.HasSuffix(w, "e") && !strings.HasSuffix(w, "ee") && !strings.HasSuffix(w, "le") {
			w = w[:len(w)-1]
		}
		n := 0
		for i := range len(w) {
			if vowel(w[i]) && (i == 0 || !vowel(w[i-1])) {
				n++
			}
		}
		return n
	}
	n := 0
	for i := 0; i < len(w); i++ {
		switch c := w[i]; {
		case vowel(c):
			n++
			if i+1 < len(w) && strings.Contains(" ia ie iu ou ", " "+w[i:i+2]+" ") {
				i++
			}
		case (c == 'r' || c == 'l') && i > 0 && !vowel(w[i-1]) && (i+1 == len(w) || !vowel(w[i+1])):
			n++
		}
	}
	return n
}

func vowel(c byte) bool { return strings.IndexByte("aeiouy", c) >= 0 }
