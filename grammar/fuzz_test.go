package grammar

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"blockworld-voice/internal/lang"

	"golang.org/x/text/unicode/norm"
)

// seed gives a fuzz target the sentences of the other tests.
func seed(f *testing.F) {
	for _, c := range decisions {
		f.Add(c.text)
	}
	for _, u := range utterances {
		f.Add(u)
	}
	for i, text := range refusals(f) {
		if i%7 == 0 {
			f.Add(text)
		}
	}
	for _, x := range lang.All() {
		s, err := NewSampler(x, 1)
		if err != nil {
			f.Fatal(err)
		}
		for range 30 {
			text, _ := s.Next()
			f.Add(text)
		}
	}
}

// Parse never panics, its spans lie inside the text, and a command's canonical form means the command.
// Follow and build are the exception: their canonical forms are names, and their phrases mean them.
func FuzzParse(f *testing.F) {
	seed(f)
	f.Fuzz(checkParse)
}

func checkParse(t *testing.T, text string) {
	switch d := Parse(text).(type) {
	case Refusal:
		if d.Span.Start < 0 || d.Span.End < d.Span.Start || d.Span.End > len(text) {
			t.Fatalf("span %v of a text of %d bytes", d.Span, len(text))
		}
		if reasonTexts[d.Reason][0] == "" {
			t.Fatalf("unknown reason %d", d.Reason)
		}
	case Accepted:
		again := d.Command.String()
		if k := d.Command.Kind(); k == KindFollow || k == KindBuild {
			refused(t, again)
			again = Phrase(d.Command, lang.CS)
		}
		if b, ok := Parse(again).(Accepted); !ok || b.Command != d.Command {
			t.Fatalf("%q means %q, which means %s", text, again, describe(Parse(again)))
		}
		if say, ok := d.Command.(Say); ok && CheckText(say.Text) != nil {
			t.Fatalf("%q says %q: %v", text, say.Text, CheckText(say.Text))
		}
	}
	if n, err := ParseNumber(text); err == nil {
		if m, err := ParseNumber(n.String()); err != nil || m != n {
			t.Fatalf("%s is read as %s, %v", n, m, err)
		}
	}
}

// The decision doesn't depend on composition, case, accents, the kind of space, or zero-width characters in words.
func FuzzNormalising(f *testing.F) {
	seed(f)
	f.Fuzz(checkNormalising)
}

func checkNormalising(t *testing.T, text string) {
	want := describe(Parse(text))
	same := func(what, other string) {
		if got := describe(Parse(other)); got != want {
			t.Fatalf("%s: %q: %s; %q: %s", what, text, want, other, got)
		}
	}
	same("NFC", norm.NFC.String(text))
	same("NFD", norm.NFD.String(text))
	if !utf8.ValidString(text) {
		return
	}
	same("non-breaking spaces", strings.ReplaceAll(text, " ", "\u00a0"))
	if strings.HasPrefix(want, "say ") || want == "! bad_text" {
		return
	}
	same("upper case", strings.Map(otherCase(unicode.ToUpper), text))
	same("lower case", strings.Map(otherCase(unicode.ToLower), text))
	if plain, ok := stripAccents(text); ok {
		same("without accents", plain)
	}
	for i := 1; i < len(text); i++ {
		if isASCIILetter(text[i-1]) && isASCIILetter(text[i]) {
			same("zero width", text[:i]+"\u200b"+text[i:])
			break
		}
	}
}

// otherCase changes the case of letters that have exactly two cases.
func otherCase(to func(rune) rune) func(rune) rune {
	return func(r rune) rune {
		if o := unicode.SimpleFold(r); o != r && unicode.SimpleFold(o) == r {
			return to(r)
		}
		return r
	}
}

// stripAccents replaces the letters of the alphabets by plain ones. It gives up where foreign accents
// would then attach to the plain letters.
func stripAccents(text string) (string, bool) {
	var b strings.Builder
	for _, r := range norm.NFC.String(text) {
		switch {
		case merged.marks[r]:
			return "", false
		case unicode.Is(unicode.M, r):
			return "", false
		case merged.foldRune(r) != 0:
			b.WriteByte(merged.foldRune(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String(), true
}

func isASCIILetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// What the automaton accepts, the parser accepts or refuses as ambiguous, or as bad text.
func FuzzAutomaton(f *testing.F) {
	seed(f)
	a, err := Compile(Unbounded(lang.All()...))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if a.Size() > 100_000 {
			a.Reset()
		}
		if !run(a, text) {
			return
		}
		if d, ok := Parse(text).(Refusal); ok && d.Reason != Ambiguous && d.Reason != BadText {
			t.Fatalf("the automaton accepts %q; the parser: %v", text, d)
		}
	})
}

// pieces are what texts are damaged with.
var pieces = []string{
	" ", "  ", ",", ", ", ".", ". ", ";", "/", "-", "−", "–", "—", "\u00a0", "\u200b", "\u2060", "\u00ad", "\u202e", "\u0301", "\u030c", "\u0323", "\u0308",
	"0", "1", "7", "10", "64", "000", "543", "1.5", "1,5", "x", "y ", "z", "a", " a ", " and ", "oh ", "sto ", "stě ", "set ", "tisíc ", "dva", "dva ", "päť ",
	"dvadsať", "dvacet ", "twenty ", "twenty-", "mínus ", "celá ", "point ", "choď ", "stop ", "say ", "povedz ", "\"", "“", "”", "'", "[x]", "(", ")", "*", "♪", "…", "\x00",
	"\xff", "\xc4", "ſ", "K", "Å", "ı", "İ", "ﬀ", "ö", "ß", "１", "：", ":", "=", "é", "ǆ", "§", "／", "\n", "\t",
}

// Sentences damaged at random keep the properties of the fuzz targets.
func TestDamagedSentences(t *testing.T) {
	for _, x := range lang.All() {
		s, err := NewSampler(x, 5)
		if err != nil {
			t.Fatal(err)
		}
		for range many(30_000) {
			text, _ := s.Next()
			if s.below(3) == 0 {
				text = decisions[s.below(len(decisions))].text
			}
			for range 1 + s.below(4) {
				at := s.below(len(text) + 1)
				end := min(len(text), at+s.below(3))
				text = text[:at] + pieces[s.below(len(pieces))] + text[end:]
			}
			checkParse(t, text)
			checkNormalising(t, text)
		}
	}
}
