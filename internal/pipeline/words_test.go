package pipeline

import (
	"strings"
	"testing"

	"blockworld-voice/grammar"
	"blockworld-voice/internal/lang"
	"blockworld-voice/synth"
	"blockworld-voice/transcribe"
)

// What the program says must never be taken for what a person says: a loudspeaker stands beside the microphone.
func TestNoReplyIsACommand(t *testing.T) {
	fill := map[lang.Language][]string{
		lang.SK: {"jeden", "choď na jeden dva tri", "stop"}, lang.CS: {"jedna", "jdi na jedna dva tři", "stop"}, lang.EN: {"one", "go to one two three", "stop"},
	}
	checked := 0
	for _, w := range synth.Wordings() {
		for _, arg := range fill[w.Language] {
			text := strings.ReplaceAll(w.Text, "{}", arg)
			for _, part := range append(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(".,:;", r) }), text) {
				if strings.TrimSpace(part) == arg {
					continue // what a person says is quoted; the whole sentence must not be
				}
				checked++
				if a, ok := grammar.Parse(part).(grammar.Accepted); ok {
					t.Errorf("%s %s: %q parses as %s", w.Language, w.Key, part, a.Command)
				}
			}
		}
	}
	if checked < 500 {
		t.Errorf("only %d texts were checked", checked)
	}
}

// Every reason of a refusal has its own sentence.
func TestEveryRefusalHasAReply(t *testing.T) {
	for _, r := range Reasons() {
		if _, ok := synth.RefusalKey(string(r)); !ok {
			t.Errorf("no reply for %s", r)
		}
	}
}

func TestReaderReadsWhatIsPermitted(t *testing.T) {
	limits := (&obeys{}).Limits()
	limits.Permitted = []grammar.Kind{grammar.KindGoTo, grammar.KindState, grammar.KindSay}
	read := reader(limits)
	for text, want := range map[string]transcribe.Reading{
		"go to ten sixty-four minus five":         {Key: "goto 10 64 -5", Class: transcribe.Coordinates},
		"choď na desať šesťdesiatštyri mínus päť": {Key: "goto 10 64 -5", Class: transcribe.Coordinates},
		"state":                      {Key: "state", Class: transcribe.Plain},
		"say hello":                  {Key: "say hello", Class: transcribe.Text},
		"Say good Morning, Everyone": {Key: "say good morning everyone", Class: transcribe.Text},
		"povedz dobré ráno":          {Key: "say dobre rano", Class: transcribe.Text},
	} {
		if got, ok := read(text); !ok || got != want {
			t.Errorf("%q: %v %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", "hello", "look at one two three", // not permitted
		"go to one two", "go to nine hundred sixty-four zero", // out of the box
		"sto dvadsať päť",
	} {
		if got, ok := read(text); ok {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

// The automata stay the same objects while the limits do: the recogniser keeps what it found out about each.
func TestLexiconsAreKept(t *testing.T) {
	var s spoken
	limits := (&obeys{}).Limits()
	first, err := s.lexiconsFor(lang.All(), limits)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.lexiconsFor(lang.All(), limits)
	if err != nil {
		t.Fatal(err)
	}
	limits.Max[0] = grammar.Blocks(100)
	other, err := s.lexiconsFor(lang.All(), limits)
	if err != nil {
		t.Fatal(err)
	}
	for i := range first {
		if first[i].Automaton != again[i].Automaton {
			t.Errorf("%s: made twice", first[i].Language)
		}
		if first[i].Automaton == other[i].Automaton {
			t.Errorf("%s: kept in spite of other limits", first[i].Language)
		}
		if first[i].Prompt == "" {
			t.Errorf("%s has no prompt", first[i].Language)
		}
	}
}

// What decoding may produce is what the parser reads: a walk through the automaton along a sentence.
func TestAutomatonTakesASentence(t *testing.T) {
	var s spoken
	lex, err := s.lexiconsFor([]lang.Language{lang.EN}, (&obeys{}).Limits())
	if err != nil {
		t.Fatal(err)
	}
	takes := func(text string) bool {
		a := lex[0].Automaton
		at := a.Start()
		for i := range len(text) {
			next, ok := a.Step(at, text[i])
			if !ok {
				return false
			}
			at = next
		}
		return a.Accepting(at)
	}
	for text, want := range map[string]bool{
		"go to ten sixty-four minus five": true, "Go to ten, sixty-four, minus five.": true, "say hello there": true,
		"go to 10 64 -5": false, "go to ten": false, "go to nine hundred sixty-four zero": false,
	} {
		if got := takes(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	for in, want := range map[string]int{"": 0, "abc": 3, strings.Repeat("a", 600): 512, strings.Repeat("ď", 300): 511} {
		got := short(in, maxReason)
		if len(got) != want {
			t.Errorf("short of %d bytes has %d, want %d", len(in), len(got), want)
		}
	}
}
