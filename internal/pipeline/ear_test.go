package pipeline

import (
	"context"
	"testing"

	"blockworld-voice/grammar"
	"blockworld-voice/internal/lang"
	"blockworld-voice/transcribe"
)

func TestBareNumbers(t *testing.T) {
	for _, c := range []struct {
		langs []lang.Language
		text  string
		zeros string
		want  string // "" for no reading
	}{
		{[]lang.Language{lang.EN}, "minus twenty-nine", ", ", "-29"},
		{[]lang.Language{lang.SK}, "sto dvadsať päť", ", ", "125"},
		{[]lang.Language{lang.CS}, "Sedmdesát.", ", ", "70"},
		{lang.All(), "dva", ", ", "2"},
		{[]lang.Language{lang.EN}, "one two", ", ", ""},
		{[]lang.Language{lang.EN}, "stop", ", ", ""},
		{[]lang.Language{lang.EN}, "ten twenty minus five", "", "coords 10 20 -5"},
		{[]lang.Language{lang.SK}, "desať, dvadsať, mínus päť.", "", "coords 10 20 -5"},
		{[]lang.Language{lang.EN}, "ten twenty", "", ""},
	} {
		got, ok := bare(c.langs, c.zeros)(c.text)
		if ok != (c.want != "") || got.Key != c.want || ok && got.Class != transcribe.Coordinates {
			t.Errorf("%q: %+v %v, want %q", c.text, got, ok, c.want)
		}
	}
}

// answering gives every request with the reading of one text.
type answering struct {
	text  string
	asked []transcribe.Request
}

func (e *answering) Transcribe(_ context.Context, r transcribe.Request) (*transcribe.Transcript, error) {
	e.asked = append(e.asked, r)
	t := &transcribe.Transcript{Text: e.text}
	if reading, ok := r.Judge(e.text); ok {
		t.Verdict = transcribe.Understood
		t.Readings = []transcribe.Scored{{Text: e.text, Key: reading.Key, Class: reading.Class}}
	}
	return t, nil
}

func TestEarHears(t *testing.T) {
	e := &answering{text: "go to one two three"}
	ear := NewEar(e)
	task := Task{Languages: []lang.Language{lang.EN}, Limits: (&obeys{}).Limits()}
	h, err := ear.Hear(t.Context(), make([]float32, 16000), task)
	if ref, ok := h.Decision.(Refusal); err != nil || !ok || ref.Reason != NoSpeech || h.Transcript != nil || len(e.asked) > 0 {
		t.Fatalf("silence: %+v, %v", h, err)
	}
	tr, err := ear.understand(t.Context(), make([]float32, 16000), task, h.Gate)
	if err != nil {
		t.Fatal(err)
	}
	d := decideHeard(h.Gate, tr)
	if c, ok := d.(Command); !ok || c.Command.String() != "goto 1 2 3" {
		t.Errorf("a command: %+v", d)
	}
	e.text = "minus seven"
	task.Start = grammar.StartNumber
	if tr, err = ear.understand(t.Context(), make([]float32, 16000), task, h.Gate); err != nil || len(tr.Readings) != 1 || tr.Readings[0].Key != "-7" {
		t.Errorf("a number: %+v, %v", tr, err)
	}
	if e.asked[0].Lexicons[0].Automaton == e.asked[1].Lexicons[0].Automaton {
		t.Error("a number is decoded with the automaton of commands")
	}
}
