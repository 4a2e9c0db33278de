package synth

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"blockworld-voice/internal/lang"
)

// The first words of each class, by which a listener tells it from the others.
var opening = map[lang.Language]map[Class][]string{
	lang.SK: {ClassRefused: {"Odmietnuté: "}, ClassProposed: {"Návrh: "}, ClassStarted: {"Úloha sa začala: "}, ClassReported: {"Hra hlási"},
		ClassEnded: {"Čakanie", "Nasledovanie", "Stavba", "Hlasová relácia"}, ClassCancelled: {"Zrušené: "}, ClassUnknown: {"Neznámy výsledok: "}, ClassFailed: {"Chyba: "}},
	lang.CS: {ClassRefused: {"Odmítnuto: "}, ClassProposed: {"Návrh: "}, ClassStarted: {"Úloha začala: "}, ClassReported: {"Hra hlásí"},
		ClassEnded: {"Čekání", "Následování", "Stavba", "Hlasová relace"}, ClassCancelled: {"Zrušeno: "}, ClassUnknown: {"Neznámý výsledek: "}, ClassFailed: {"Chyba: "}},
	lang.EN: {ClassRefused: {"Refused: "}, ClassProposed: {"Proposal: "}, ClassStarted: {"Task started: "}, ClassReported: {"The game reports "},
		ClassEnded: {"Waiting", "Following", "Building", "The voice session"}, ClassCancelled: {"Cancelled: "}, ClassUnknown: {"Unknown result: "}, ClassFailed: {"Failure: "}},
}

// Letters that a language writes beside a–z.
var accents = map[lang.Language]string{
	lang.SK: "áäčďéíĺľňóôŕšťúýž", lang.CS: "áčďéěíňóřšťúůýž", lang.EN: "",
}

// contract: V7
func TestEveryThingHasOneWordingInEachLanguage(t *testing.T) {
	seen := map[lang.Language]map[string]PhraseKey{lang.SK: {}, lang.CS: {}, lang.EN: {}}
	ws := Wordings()
	if len(ws) != 3*len(Keys()) || len(Keys()) < 45 {
		t.Fatalf("%d wordings of %d keys", len(ws), len(Keys()))
	}
	for _, w := range ws {
		name := w.Language.String() + " " + w.Key.String()
		if other, ok := seen[w.Language][w.Text]; ok {
			t.Errorf("%s says the same as %s", name, other)
		}
		seen[w.Language][w.Text] = w.Key
		if n := strings.Count(w.Text, placeholder); n != w.Key.Args() {
			t.Errorf("%s: %d places for %d arguments", name, n, w.Key.Args())
		}
		plain := strings.ReplaceAll(w.Text, placeholder, "x")
		if got, err := Text(plain); err != nil || got != plain {
			t.Errorf("%s: %q is spoken as %q (%v)", name, plain, got, err)
		}
		if len(w.Text) < 10 || len(w.Text) > 110 || !strings.HasSuffix(w.Text, ".") || !norm.NFC.IsNormalString(w.Text) {
			t.Errorf("%s: %q", name, w.Text)
		}
		for _, r := range strings.ToLower(plain) {
			if r > 127 && !strings.ContainsRune(accents[w.Language], r) {
				t.Errorf("%s: %q is no letter of the language", name, r)
			}
			if unicode.IsNumber(r) {
				t.Errorf("%s: a digit", name)
			}
		}
		for class, words := range opening[w.Language] {
			fits := slices.ContainsFunc(words, func(s string) bool { return strings.HasPrefix(w.Text, s) })
			if fits != (class == w.Key.Class()) {
				t.Errorf("%s: %q opens like class %d", name, w.Text, class)
			}
		}
	}
	for _, l := range lang.All() {
		for _, letter := range accents[l] {
			if strings.ContainsRune("äĺŕóďňôť", letter) {
				continue // too rare for so few words
			}
			if !slices.ContainsFunc(ws, func(w Wording) bool {
				return w.Language == l && strings.ContainsRune(strings.ToLower(w.Text), letter)
			}) {
				t.Errorf("no %s wording has %q: were the accents lost?", l, letter)
			}
		}
	}
}

// contract: V7
func TestEveryRefusalReasonHasAWording(t *testing.T) {
	for _, reason := range strings.Fields(`no_speech unknown_command ambiguous missing_coordinate extra_coordinate number_range bad_number bad_text
		not_a_whole_command not_understood not_confirmed not_permitted out_of_bounds too_far budget expired not_bound busy disarmed denied`) {
		k, ok := RefusalKey(reason)
		if !ok || k.String() != reason || k.Class() != ClassRefused {
			t.Errorf("%s: %v %v", reason, k, ok)
		}
	}
	for _, other := range []string{"", "effect_unknown", "goto_moved", "nonsense", "No_Speech"} {
		if k, ok := RefusalKey(other); ok {
			t.Errorf("%q is the refusal %v", other, k)
		}
	}
}

// A reply never says more than the record: nothing is said to be undone, or heard, or to be so without "reports".
// contract: X3
func TestNoWordingClaimsTooMuch(t *testing.T) {
	for _, w := range Wordings() {
		for _, stem := range []string{"undo", "undone", "revert", "restored", "vráten", "vrátil", "odvolan", "obnoven", "heard it", "počul", "slyšel"} {
			if strings.Contains(strings.ToLower(w.Text), stem) {
				t.Errorf("%s %s: %q", w.Language, w.Key, w.Text)
			}
		}
	}
	for _, l := range lang.All() {
		unknown := map[lang.Language]string{lang.SK: "nie je znám", lang.CS: "není znám", lang.EN: "not known"}[l]
		for _, k := range []PhraseKey{EffectUnknown, EarlierUnknown} {
			if s := Words(l, Phrase{Key: k}); !strings.Contains(s, unknown) {
				t.Errorf("%s: %q", k, s)
			}
		}
	}
}

func TestWordsIsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := lang.Language(rapid.Uint8Range(0, 5).Draw(t, "language"))
		p := Phrase{Key: PhraseKey(rapid.Uint8Range(0, uint8(endKeys)+3).Draw(t, "key"))}
		p.Args = rapid.SliceOfN(rapid.OneOf(rapid.StringMatching(`[a-zžťň]{1,9}( [a-z]{1,9})?`), rapid.String()), 0, 4).Draw(t, "args")
		s := Words(l, p)
		if s == "" || strings.Contains(s, placeholder) {
			t.Fatalf("%v: %q", p, s)
		}
		if text, err := Text(s); err != nil || text != s {
			t.Fatalf("%v: %q can't be spoken as it is: %v", p, s, err)
		}
		if p.Check() != nil {
			if s != wordings(l)[InternalFailed] {
				t.Fatalf("a wrong phrase says %q", s)
			}
			return
		}
		for _, a := range p.Args {
			if !strings.Contains(s, a) {
				t.Fatalf("%q doesn't say %q", s, a)
			}
		}
	})
}

func TestArgumentsMustBeWords(t *testing.T) {
	good := Phrase{StateReported, []string{"desať", "mínus šesťdesiatštyri", "päť celá päť"}}
	if got := Words(lang.SK, good); got != "Hra hlási polohu: iks desať, ypsilon mínus šesťdesiatštyri, zet päť celá päť." {
		t.Error(got)
	}
	for _, args := range [][]string{
		nil, {"a", "b"}, {"a", "b", "c", "d"}, {"a", "b", ""}, {"a", "b", " "}, {"a", "b", "12"}, {"a", "b", "½"}, {"a", "b", "c\nd"},
		{"a", "b", "[[x]]"}, {"a", "b", "{}"}, {"a", "b", strings.Repeat("ž", 121)}, {"a", "b", "\xff"}, {"a", "b", "c\u202e"},
	} {
		if (Phrase{StateReported, args}).Check() == nil {
			t.Errorf("%q was accepted", args)
		}
	}
	if (Phrase{Key: 0}).Check() == nil || (Phrase{Key: endKeys}).Check() == nil {
		t.Error("a key outside the set was accepted")
	}
}

func TestKeysRoundTrip(t *testing.T) {
	for _, k := range Keys() {
		b, err := k.MarshalText()
		if got, e := ParseKey(string(b)); err != nil || e != nil || got != k {
			t.Errorf("%v: %v %v %v", k, got, err, e)
		}
	}
	if _, err := endKeys.MarshalText(); err == nil {
		t.Error("a value outside the set was written")
	}
}
