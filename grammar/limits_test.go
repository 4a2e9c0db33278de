package grammar

import (
	"testing"

	"blockworld-voice/internal/lang"
)

// The scanner keeps so many tokens and items that no command of the grammar is cut off.
func TestLongestCommand(t *testing.T) {
	items, tokens, word := 0, 0, 0
	for _, x := range lang.All() {
		table := merged.tableOf(x)
		for n := 20989; n < 30000; n += 500 {
			for _, c := range []Coord{-Blocks(n), -Blocks(n) - 99, -Blocks(n) - 21} {
				spellingsOf(table, c, odometer{forms: 0, all: 2}, true, func(text []byte) {
					s := newScanner(merged, string(text))
					s.scan()
					if r := s.collect(0); r != nil {
						t.Fatalf("%q: %v", text, r)
					}
					items, tokens = max(items, len(s.items)), max(tokens, len(s.tokens))
					for _, k := range s.tokens {
						word = max(word, int(k.wordEnd-k.wordStart))
					}
					s.release()
				})
			}
		}
	}
	t.Logf("a number has up to %d words, of up to %d letters", items, word)
	if items > maxNumber || 3*items > maxItems || 3*(tokens+1)+4 > maxTokens || word > maxWord {
		t.Errorf("a number of %d words, %d tokens, %d letters does not fit", items, tokens, word)
	}
}

// The plan is carried out on one exact phrase a language; no phrase makes a coordinate or a material.
// contract: B1
func TestBuildIsOneExactPhrase(t *testing.T) {
	for _, text := range []string{"build approved plan", "Build approved plan.", "postav schválený plán", "POSTAV SCHVALENY PLAN"} {
		if a, ok := Parse(text).(Accepted); !ok || a.Command != (Build{}) {
			t.Errorf("%q: %s", text, describe(Parse(text)))
		}
	}
	for _, text := range []string{
		"build", "plan", "approved plan", "build plan", "build the approved plan", "build approved plans", "build approved plan 10 64 5",
		"build approved plan of stone", "build approved plan build approved plan", "postav plán", "postav schválený plán z kameňa",
		"postav schválený plan na 10 64 5", "postav schválené plány", "place 10 64 5", "build-approved-plan",
	} {
		refused(t, text)
	}
}

// Only a typed command comes out of a text: no part of the text does, but the text to say.
// contract: S2
func TestOnlyTypedCommandsComeOut(t *testing.T) {
	for _, k := range Kinds() {
		for _, x := range lang.All() {
			c := map[Kind]Command{
				KindState: StateQuery{}, KindStatus: StatusQuery{}, KindGoTo: GoTo{1050, 6400, -725}, KindLookAt: LookAt{0, -100, 3000000},
				KindSay: Say{"Ahoj, svet"}, KindIdle: Idle{}, KindFollow: Follow{}, KindBuild: Build{}, KindStop: Stop{},
			}[k]
			a, ok := Parse(Phrase(c, x)).(Accepted)
			if !ok || a.Command != c {
				t.Errorf("%s: %q: %s, want %s", x, Phrase(c, x), describe(Parse(Phrase(c, x))), c)
			}
		}
	}
}

func TestCompileRefusesBadOptions(t *testing.T) {
	good := Unbounded(lang.SK)
	for name, change := range map[string]func(*Options){
		"no language":   func(o *Options) { o.Languages = nil },
		"a strange one": func(o *Options) { o.Languages = []lang.Language{lang.None} },
		"one twice":     func(o *Options) { o.Languages = []lang.Language{lang.SK, lang.SK} },
		"nothing to do": func(o *Options) { o.Permitted = nil },
		"no coordinate": func(o *Options) { o.Min[1], o.Max[1] = 5, 4 },
		"out of range":  func(o *Options) { o.Min[2], o.Max[2] = MaxCoord+1, MaxCoord+2 },
		"another start": func(o *Options) { o.Start = 9 },
	} {
		o := good
		change(&o)
		if _, err := Compile(o); err == nil {
			t.Errorf("%s: compiled", name)
		}
	}
}

func TestAutomatonOptions(t *testing.T) {
	o := Unbounded(lang.EN)
	o.Permitted = []Kind{KindGoTo, KindStop}
	o.Min, o.Max = [3]Coord{Blocks(-10), Blocks(60), Blocks(-3000)}, [3]Coord{Blocks(10), Blocks(70), Blocks(3000)}
	a := compile(t, o)
	for text, want := range map[string]bool{
		"go to ten sixty-four minus five": true, " Go to ten, sixty four, minus five.": true, "goto zero seventy two thousand nine hundred": true,
		"go to eleven sixty-four minus five": false, "go to ten seventy-one five": false, "go to minus ten point five sixty-four five": false,
		"stop": true, "Stop.": true, "state": false, "say hello": false, "look at ten sixty-four five": false, "choď desať šesťdesiatštyri päť": false,
		"go to 10 64 5": false, "go to  ten sixty-four five": false, "go to ten sixty-four": false, "STOP": false, "": false, "stop..": false,
		"go to x ten y sixty-four z five": false, "go to three thousand": false,
	} {
		if got := run(a, text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	o.Min[0]--
	if b := compile(t, o); a.Fingerprint() == b.Fingerprint() {
		t.Error("other bounds have the same fingerprint")
	}
	if b := compile(t, a.options); a.Fingerprint() != b.Fingerprint() {
		t.Error("equal options have different fingerprints")
	}
	tail := compile(t, Unbounded(lang.All()...))
	s := tail.Start()
	for _, c := range []byte("say ") {
		if tail.FreeTail(s) {
			t.Error("free before the text begins")
		}
		s, _ = tail.Step(s, c)
	}
	if !tail.FreeTail(s) || tail.Accepting(s) {
		t.Error("after the verb the text is free, and must not be empty")
	}
	if _, ok := tail.Step(s, '/'); ok {
		t.Error("a slash may begin the text")
	}
	if s, _ = tail.Step(s, 'x'); !tail.FreeTail(s) || !tail.Accepting(s) {
		t.Error("one letter is a text")
	}
}
