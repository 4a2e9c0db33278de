package pipeline

import (
	"os"
	"path/filepath"
	"testing"

	"blockworld-voice/capture"
	"blockworld-voice/internal/lang"
	"blockworld-voice/internal/pcm"
	"blockworld-voice/synth"
)

func TestYesNoWords(t *testing.T) {
	for _, l := range lang.All() {
		a := wordsOf(yesNoWords[l])
		says := func(s string) bool {
			at := a.Start()
			for i := range len(s) {
				var ok bool
				if at, ok = a.Step(at, s[i]); !ok {
					return false
				}
			}
			return a.Accepting(at)
		}
		judge := yesNoJudge([]lang.Language{l})
		yes, no := 0, 0
		for w, want := range yesNoWords[l] {
			if !says(w) || !says(w+".") || says(w+w) || says(w[:1]) {
				t.Errorf("%v: %s", l, w)
			}
			if r, ok := judge(" " + w + "."); !ok || r.Key != want.String() {
				t.Errorf("%v: %s reads %v", l, w, r)
			}
			if want == AnsweredYes {
				yes++
			} else {
				no++
			}
		}
		if yes != 1 || no != 1 || says("") || says("stop") {
			t.Errorf("%v: %d yes, %d no", l, yes, no)
		}
		if _, ok := judge("stop"); ok {
			t.Errorf("%v: stop is an answer", l)
		}
	}
}

// With the real recogniser a yes is a yes, and no command is one.
func TestSpokenAnswers(t *testing.T) {
	r := newReal(t, lang.EN)
	said, err := (&synth.Espeak{}).Speak(t.Context(), lang.EN, "Yes.")
	if err != nil {
		t.Fatal(err)
	}
	clip, err := capture.Decode("yes", said.Audio.WAV)
	if err != nil {
		t.Fatal(err)
	}
	quiet := make([]float32, capture.Rate/2) // what the gestures leave before and after
	padded := append(append(append([]float32{}, quiet...), clip.Samples...), quiet...)
	if a := r.session.YesOrNo(t.Context(), pcm.WAV(padded, capture.Rate)); a != AnsweredYes {
		t.Errorf("yes is %v", a)
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "clips", "en", "*.wav"))
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if a := r.session.YesOrNo(t.Context(), data); a == AnsweredYes {
			t.Errorf("%s is a yes", filepath.Base(f))
		}
	}
	r.end(t)
}
