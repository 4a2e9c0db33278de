package grammar

import (
	"strings"
	"testing"

	"blockworld-voice/internal/lang"
)

// Polish is not a language of the product. It shows that a fourth language is one table with its
// spelling functions: nothing else in the package knows of it.
const polish = lang.EN + 1

var tablePL = table{
	language: polish, code: "pl", name: "Polish", family: 2,
	letters: "ąćęłńóśźż",
	plain:   "acelnoszz",
	commands: []phrases{
		{KindState, []string{"stan"}},
		{KindStatus, []string{"status"}},
		{KindGoTo, []string{"idź do", "idź"}},
		{KindLookAt, []string{"spójrz na"}},
		{KindSay, []string{"powiedz"}},
		{KindIdle, []string{"czekaj"}},
		{KindFollow, []string{"chodź za mną"}},
		{KindBuild, []string{"zbuduj zatwierdzony plan"}},
		{KindStop, []string{"stop", "stój"}},
	},
	numerals: []numeral{
		{class: classZero, value: 0, forms: "zero"},
		{class: classUnit, value: 1, forms: "jeden jedna"}, {class: classUnit, value: 2, forms: "dwa dwie"},
		{class: classUnit, value: 3, forms: "trzy"}, {class: classUnit, value: 4, forms: "cztery"},
		{class: classUnit, value: 5, forms: "pięć"}, {class: classUnit, value: 6, forms: "sześć"},
		{class: classUnit, value: 7, forms: "siedem"}, {class: classUnit, value: 8, forms: "osiem"},
		{class: classUnit, value: 9, forms: "dziewięć"}, {class: classTeen, value: 10, forms: "dziesięć"},
		{class: classTeen, value: 11, forms: "jedenaście"}, {class: classTeen, value: 12, forms: "dwanaście"},
		{class: classTeen, value: 13, forms: "trzynaście"}, {class: classTeen, value: 14, forms: "czternaście"},
		{class: classTeen, value: 15, forms: "piętnaście"}, {class: classTeen, value: 16, forms: "szesnaście"},
		{class: classTeen, value: 17, forms: "siedemnaście"}, {class: classTeen, value: 18, forms: "osiemnaście"},
		{class: classTeen, value: 19, forms: "dziewiętnaście"},
		{class: classTens, value: 20, forms: "dwadzieścia"}, {class: classTens, value: 30, forms: "trzydzieści"},
		{class: classTens, value: 40, forms: "czterdzieści"}, {class: classTens, value: 50, forms: "pięćdziesiąt"},
		{class: classTens, value: 60, forms: "sześćdziesiąt"}, {class: classTens, value: 70, forms: "siedemdziesiąt"},
		{class: classTens, value: 80, forms: "osiemdziesiąt"}, {class: classTens, value: 90, forms: "dziewięćdziesiąt"},
		{class: classHundred, forms: "sto", roles: roleBare, after: "sto"}, // one hundred only: no unit stands before it
		{class: classHundreds, value: 200, forms: "dwieście"},
		{class: classHundreds, value: 300, forms: "trzysta"}, {class: classHundreds, value: 400, forms: "czterysta"},
		{class: classHundreds, value: 500, forms: "pięćset"}, {class: classHundreds, value: 600, forms: "sześćset"},
		{class: classHundreds, value: 700, forms: "siedemset"}, {class: classHundreds, value: 800, forms: "osiemset"},
		{class: classHundreds, value: 900, forms: "dziewięćset"},
		{class: classThousand, forms: "tysiąc", roles: roleBare}, {class: classThousand, forms: "tysiące tysięcy"},
		{class: classMinus, forms: "minus"}, {class: classPoint, forms: "przecinek"},
	},
	joints: [jointCount]joinBits{
		jointTensUnit: joinSpace, jointHundred: joinSpace, jointHundredRest: joinSpace,
		jointThousand: joinSpace, jointThousandRest: joinSpace, jointOther: joinSpace,
	},
	decimalComma: true,
	sayings:      []string{"cześć", "idę do domu"},
	spell:        spellPL,
	spellPoint:   func(w *writer, n int) { spellPL(w, n); w.put(" przecinek") },
}

func spellPL(w *writer, n int) {
	var parts []string
	word := func(c class, value int) { parts = append(parts, w.first(c, value)) }
	below := func(n int) {
		if n >= 200 {
			word(classHundreds, n/100*100)
		} else if n >= 100 {
			word(classHundred, 0)
		}
		n %= 100
		if n >= 20 {
			word(classTens, n/10*10)
			n %= 10
		}
		if n >= 10 {
			word(classTeen, n)
		} else if n > 0 {
			word(classUnit, n)
		}
	}
	switch k := n / 1000; {
	case n == 0:
		word(classZero, 0)
	case k == 1:
		parts = append(parts, "tysiąc")
	case k > 1:
		below(k)
		if k < 5 {
			parts = append(parts, "tysiące")
		} else {
			parts = append(parts, "tysięcy")
		}
	}
	below(n % 1000)
	w.put(strings.Join(parts, " "))
}

func TestAFourthLanguageIsOneTable(t *testing.T) {
	l := newLexicon(&tableSK, &tableCS, &tableEN, &tablePL)
	for _, p := range l.problem {
		t.Error(p)
	}
	for text, want := range map[string]string{
		"stan": "state",
		"Idź do dziesięć sześćdziesiąt cztery minus pięć":                        "goto 10 64 -5",
		"IDZ DO DZIESIEC SZESCDZIESIAT CZTERY MINUS PIEC":                        "goto 10 64 -5",
		"idź dwa tysiące trzysta czterdzieści pięć, siedem przecinek pięć, zero": "goto 2345 7.5 0",
		"spójrz na 1,5 64 -3":             "look-at 1.5 64 -3",
		"powiedz Idę do domu.":            "say Idę do domu",
		"chodź za mną":                    "follow",
		"chodź":                           "! not_a_whole_command",
		"zbuduj zatwierdzony plan":        "build",
		"stój":                            "stop",
		"idź dwadzieścia jeden dwa":       "! ambiguous",
		"jdi pětadvacet 64 -5":            "goto 25 64 -5",
		"go to ten sixty-four minus five": "goto 10 64 -5",
	} {
		if got := describe(l.parse(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	a, err := l.compile(Unbounded(polish))
	if err != nil {
		t.Fatal(err)
	}
	for n := -30000; n <= 30000; n += 7 {
		w := newWriter(&tablePL, nil)
		w.coord(Blocks(n))
		c, err := l.parseNumbers(string(w.text), 1)
		if err != nil || c[0] != Blocks(n) {
			t.Fatalf("%d %q: %s %v", n, w.text, c[0], err)
		}
		if sentence := "idź " + string(w.text) + ", zero, zero"; !run(a, sentence) {
			t.Fatalf("the automaton does not accept %q", sentence)
		}
	}
	s := &Sampler{lexicon: l, table: &tablePL}
	for range 2000 {
		text, c := s.Next()
		if d, ok := l.parse(text).(Accepted); !ok || d.Command != c {
			t.Fatalf("%q: %s, want %s", text, describe(l.parse(text)), c)
		}
	}
	if _, err := l.gbnf(Unbounded(polish)); err != nil {
		t.Error(err)
	}
}
