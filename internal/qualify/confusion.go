package qualify

import (
	"cmp"
	"slices"
	"strings"

	"blockworld-voice/grammar"
	"blockworld-voice/internal/lang"
	"blockworld-voice/transcribe"
)

// These stand where there is no command.
const (
	nothing     = "(nothing)"
	otherSpeech = "(other speech)"
)

// Confused is how often one command was heard for another, before rejection and after it. Equal names are right verbs.
type Confused struct {
	Said     string `json:"said"`
	Heard    string `json:"heard"`
	Heards   Rate   `json:"before_rejection"` // of those that were said
	Accepted Rate   `json:"accepted"`
}

func confusedCommands(clips []Clip, t transcribe.Thresholds) []Confused {
	type key struct{ said, heard string }
	n, accepted, of := map[key]int{}, map[key]int{}, map[string]int{}
	for i := range clips {
		c := &clips[i]
		if c.Task != Command && c.Task != Other {
			continue
		}
		k := key{intent(c.Key, c.Task), intent(c.Best(), c.Task)}
		if c.Task == Other {
			k.said = otherSpeech
		}
		if k.heard == "" {
			k.heard = nothing
		}
		of[k.said]++
		n[k]++
		if o, _ := c.Judge(t); o != Refused {
			accepted[k]++
		}
	}
	var out []Confused
	for k := range n {
		out = append(out, Confused{k.said, k.heard, RateOf(n[k], of[k.said]), RateOf(accepted[k], of[k.said])})
	}
	slices.SortFunc(out, func(a, b Confused) int { return cmp.Or(cmp.Compare(a.Said, b.Said), cmp.Compare(a.Heard, b.Heard)) })
	return out
}

// ConfusedWord is a number word that was heard as another one before rejection; "" is no word.
type ConfusedWord struct {
	Language lang.Language `json:"language"`
	Said     string        `json:"said"`
	Heard    string        `json:"heard"`
	Rate     Rate          `json:"rate"` // of the times that Said was said; of all words when Said is ""
}

// confusedWords compares what was said and heard in words of the numbers, coordinate by coordinate, most frequent first.
func confusedWords(clips []Clip) []ConfusedWord {
	type key struct {
		l           lang.Language
		said, heard string
	}
	n, of := map[key]int{}, map[key]int{}
	for i := range clips {
		c := &clips[i]
		said, heard := coordsOf(c.Key), coordsOf(c.Best())
		if len(said) == 0 || len(heard) != len(said) {
			continue
		}
		for j := range said {
			for _, p := range align(numberWords(said[j], c.Language), numberWords(heard[j], c.Language)) {
				if p.said != p.heard {
					n[key{c.Language, p.said, p.heard}]++
				}
				if p.said != "" {
					of[key{c.Language, p.said, ""}]++
					of[key{c.Language, "", ""}]++
				}
			}
		}
	}
	var out []ConfusedWord
	for k, count := range n {
		out = append(out, ConfusedWord{k.l, k.said, k.heard, RateOf(count, max(count, of[key{k.l, k.said, ""}]))})
	}
	slices.SortFunc(out, func(a, b ConfusedWord) int {
		return cmp.Or(cmp.Compare(b.Rate.K, a.Rate.K), cmp.Compare(a.Language, b.Language), cmp.Compare(a.Said, b.Said), cmp.Compare(a.Heard, b.Heard))
	})
	return out
}

// numberWords takes a number apart into the words of its sound: thousands, hundreds, tens and units, each spelled
// alone, whether the language writes them together or not.
func numberWords(c grammar.Coord, l lang.Language) []string {
	var out []string
	word := func(n int) { out = append(out, grammar.Spell(grammar.Blocks(n), l)) }
	v := int(c)
	if v < 0 {
		v = -v
		minus, _, _ := strings.Cut(grammar.Spell(grammar.Blocks(-1), l), " ")
		out = append(out, minus)
	}
	whole, part := v/100, v%100
	if th := whole / 1000; th > 0 {
		out = append(out, numberWords(grammar.Blocks(th), l)...)
		word(1000)
	}
	rest := whole % 1000
	if h := rest / 100; h > 0 {
		word(h * 100)
	}
	rest %= 100
	switch {
	case rest > 20 && rest%10 > 0:
		word(rest / 10 * 10)
		word(rest % 10)
	case rest > 0 || whole == 0:
		word(rest)
	}
	if part > 0 {
		out = append(out, ".")
		if part%10 == 0 {
			part /= 10
		} else if part < 10 {
			word(0)
		}
		out = append(out, numberWords(grammar.Blocks(part), l)...)
	}
	return out
}

// wordErrors is the word error rate of the best reading before rejection, by language, where the manifest has the
// words. Capitals, accents and punctuation don't count; joined words do. It can exceed 1: then the interval ends there.
func wordErrors(clips []Clip) []Named {
	k, n := map[string]int{}, map[string]int{}
	for i := range clips {
		c := &clips[i]
		if c.Task == Other || c.Text == "" {
			continue
		}
		heard := ""
		if len(c.Readings) > 0 {
			heard = c.Readings[0].Text
		}
		for _, p := range align(strings.Fields(grammar.FoldText(c.Text)), strings.Fields(grammar.FoldText(heard))) {
			if p.said != "" {
				n[c.Language.String()]++
			}
			if p.said != p.heard {
				k[c.Language.String()]++
			}
		}
	}
	var out []Named
	for _, l := range lang.All() {
		if name := l.String(); n[name] > 0 {
			out = append(out, Named{name, RateOf(min(k[name], n[name]), n[name])})
		}
	}
	return out
}
