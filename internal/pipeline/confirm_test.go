package pipeline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blockworld-voice/grammar"
	"blockworld-voice/internal/lang"
	"blockworld-voice/synth"
	"blockworld-voice/transcribe"
)

// answers is a person.
type answers struct {
	with  Answered
	asked []Proposal
	first func()
}

func (a *answers) Ask(_ context.Context, p Proposal) Answer {
	a.asked = append(a.asked, p)
	if a.first != nil {
		a.first()
	}
	return Answer{Answered: a.with, By: "key", At: time.Now(), WAV: []byte("RIFF")}
}

// unsure is an engine whose best reading is short of the margin by some.
type unsure struct {
	text   string
	d, gap float64
}

func (e *unsure) Transcribe(_ context.Context, r transcribe.Request) (*transcribe.Transcript, error) {
	reading, ok := r.Judge(e.text)
	if !ok {
		return nil, errors.New("no reading")
	}
	t := &transcribe.Transcript{Text: e.text, Used: r.Lexicons[0].Language, Readings: []transcribe.Scored{
		{Text: e.text, Key: reading.Key, Class: reading.Class, Language: lang.EN, D: e.d, Sum: 0},
		{Text: "x", Key: "x", Class: reading.Class, Language: lang.EN, D: e.d - 1, Sum: -e.gap},
	}}
	t.Verdict, t.Confidence = transcribe.Provisional().Decide(t.Readings, nil, nil)
	return t, nil
}

func confirming(t *testing.T, mode Confirm, with Answered) (*bench, *answers) {
	b := newBench(t)
	a := &answers{with: with}
	b.session.cfg.Confirm, b.session.cfg.Asker = mode, a
	return b, a
}

func TestConfirmAlways(t *testing.T) {
	for text, asks := range map[string]bool{"go to 1 2 3": true, "state": false, "say hello": false, "look at 1 2 3": false} {
		for with, sent := range map[Answered]bool{AnsweredYes: true, AnsweredNo: false, AnsweredNothing: false} {
			b, a := confirming(t, ConfirmAlways, with)
			b.session.cfg.Player = &plays{}
			rec := b.do(t.Context(), Typed{text})
			if (len(a.asked) == 1) != asks {
				t.Fatalf("%s: asked %v", text, a.asked)
			}
			if want := sent || !asks; (len(b.companion.calls) == 1) != want {
				t.Errorf("%s, answered %v: sent %v", text, with, b.companion.calls)
			}
			if !asks {
				continue
			}
			d := readDoc[struct {
				Command, Mode, Words, By string
				Spoken                   bool
				Asked                    int64 `json:"asked_ns"`
				Gesture                  int64 `json:"gesture_ns"`
			}](t, rec, "3-grammar/confirm.json")
			if d.Command != "goto 1 2 3" || d.Mode != "always" || d.By != "key" || !d.Spoken || d.Gesture < d.Asked {
				t.Errorf("%+v", d)
			}
			for _, f := range []string{QuestionFile, AnswerFile} {
				if _, err := os.Stat(filepath.Join(rec.Dir, "3-grammar", f)); err != nil {
					t.Error(err)
				}
			}
			if !sent {
				l := rec.Line()
				want2 := "refusal not_confirmed refused"
				if got := l.Decision.Kind + " " + l.Decision.Reason + " " + l.Outcome.Kind; got != want2 {
					t.Errorf("%s", got)
				}
			}
		}
	}
}

func TestConfirmUnsure(t *testing.T) {
	limit := transcribe.Provisional().Limit[transcribe.Coordinates]
	for _, c := range []struct {
		name   string
		mode   Confirm
		d, gap float64
		asks   bool
	}{
		{"short of d", ConfirmUnsure, limit.D - 0.1, limit.Gap + 1, true},
		{"short of the gap", ConfirmUnsure, limit.D + 0.1, limit.Gap - 0.5, true},
		{"far from d", ConfirmUnsure, limit.D - 2, limit.Gap + 1, false},
		{"another command as near", ConfirmUnsure, limit.D + 0.1, 0.1, false},
		{"good", ConfirmUnsure, limit.D + 0.1, limit.Gap + 1, false},
		{"never", ConfirmNever, limit.D - 0.1, limit.Gap + 1, false},
	} {
		b, a := confirming(t, c.mode, AnsweredYes)
		b.session.ear = NewEar(&unsure{"go to 1 2 3", c.d, c.gap})
		rec := b.do(t.Context(), WAV{clip(t, 1.2, true)})
		if (len(a.asked) == 1) != c.asks {
			t.Errorf("%s: asked %v", c.name, a.asked)
		}
		if sent := len(b.companion.calls) == 1; sent != (c.asks || c.name == "good") {
			t.Errorf("%s: sent %v", c.name, sent)
		}
		if c.asks && !rec.Confirmed {
			t.Errorf("%s: the record doesn't say that it was confirmed", c.name)
		}
	}
}

// contract: X4
func TestStopWhileAsking(t *testing.T) {
	b, a := confirming(t, ConfirmAlways, AnsweredYes)
	ctx, cancel := context.WithCancel(t.Context())
	a.first = cancel
	rec := b.do(ctx, Typed{"go to 1 2 3"})
	want(t, "verdicts", verdicts(rec), "skipped skipped cancelled skipped skipped skipped")
	if len(b.companion.calls) != 0 {
		t.Error("a yes that came with a stop was sent")
	}
}

func TestQuestionsAreWhole(t *testing.T) {
	for _, l := range lang.All() {
		for _, text := range []string{"go to 1 2 3", "go to -12.5 300 400", "look at 1 2 3", "say hello 5", "state", "status", "idle", "follow me", "build approved plan", "stop"} {
			c, ok := judge(text).(Command)
			if !ok {
				t.Fatal(text)
			}
			p := synth.Phrase{Key: synth.Proposed, Args: []string{commandWords(c.Command, l)}}
			if err := p.Check(); err != nil {
				t.Errorf("%v %s: %v", l, text, err)
			}
			if q := synth.Words(l, p); !strings.Contains(q, p.Args[0]) {
				t.Errorf("%v %s: %s", l, text, q)
			}
		}
		for _, k := range grammar.Kinds() {
			if plainWords[k][0] == "" {
				t.Errorf("%v has no words", k)
			}
		}
	}
}
