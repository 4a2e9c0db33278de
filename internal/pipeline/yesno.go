package pipeline

import (
	"context"
	"strings"

	"blockworld-voice/capture"
	"blockworld-voice/internal/lang"
	"blockworld-voice/transcribe"
)

// The words of an answer. Nothing else is listened for.
var yesNoWords = map[lang.Language]map[string]Answered{
	lang.SK: {"áno": AnsweredYes, "nie": AnsweredNo},
	lang.CS: {"ano": AnsweredYes, "ne": AnsweredNo},
	lang.EN: {"yes": AnsweredYes, "no": AnsweredNo},
}

// fewWords is an automaton over a few sentences: a state is a node of their tree. The recogniser remembers what it
// found out about an automaton by its pointer.
type fewWords struct {
	next   []map[byte]int32
	accept []bool
}

// wordsOf makes the automaton. The first letter may be a capital, and a full stop may stand at the end.
func wordsOf(words map[string]Answered) *fewWords {
	f := &fewWords{next: []map[byte]int32{{}}, accept: []bool{false}}
	add := func(s string) {
		at := int32(0)
		for i := range len(s) {
			to, ok := f.next[at][s[i]]
			if !ok {
				to = int32(len(f.next))
				f.next[at][s[i]] = to
				f.next, f.accept = append(f.next, map[byte]int32{}), append(f.accept, false)
			}
			at = to
		}
		f.accept[at] = true
	}
	for w := range words {
		first := []rune(w)[:1]
		for _, s := range []string{w, strings.ToUpper(string(first)) + strings.TrimPrefix(w, string(first))} {
			add(s)
			add(s + ".")
		}
	}
	return f
}

func (f *fewWords) Start() int32 { return 0 }
func (f *fewWords) Step(s int32, b byte) (int32, bool) {
	to, ok := f.next[s][b]
	return to, ok
}
func (f *fewWords) Accepting(s int32) bool { return f.accept[s] }
func (f *fewWords) FreeTail(int32) bool    { return false }

// yesNoJudge reads an answer.
func yesNoJudge(langs []lang.Language) transcribe.Judge {
	return func(text string) (transcribe.Reading, bool) {
		word := strings.ToLower(strings.TrimSuffix(strings.TrimSpace(text), "."))
		for _, l := range langs {
			if a, ok := yesNoWords[l][word]; ok {
				return transcribe.Reading{Key: a.String(), Class: transcribe.Plain}, true
			}
		}
		return transcribe.Reading{}, false
	}
}

// YesOrNo listens to a recording for yes or no alone. What is not clearly one of them is no answer. It is called from
// an Asker only.
func (s *Session) YesOrNo(ctx context.Context, wav []byte) Answered {
	clip, err := capture.Decode("answer", wav)
	if err != nil || !capture.Gate(clip.Samples).Speech {
		return AnsweredNothing
	}
	if s.yesNo == nil {
		for _, l := range s.cfg.Languages {
			s.yesNo = append(s.yesNo, transcribe.Lexicon{Language: l, Automaton: wordsOf(yesNoWords[l]), Prompt: prompt(l)})
		}
	}
	t, err := s.cfg.Engine.Transcribe(ctx, transcribe.Request{Samples: clip.Samples, Lexicons: s.yesNo, Judge: yesNoJudge(s.cfg.Languages)})
	if err != nil || t.Verdict != transcribe.Understood || len(t.Readings) == 0 {
		return AnsweredNothing
	}
	for _, a := range []Answered{AnsweredYes, AnsweredNo} {
		if t.Readings[0].Key == a.String() {
			return a
		}
	}
	return AnsweredNothing
}
