package grammar

import (
	"fmt"
	"slices"
	"strings"
)

// Reference returns the reference page of the grammar in Markdown. docs/grammar.md is this text.
func Reference() string { return merged.reference() }

type page struct{ strings.Builder }

func (p *page) line(parts ...string) {
	for _, s := range parts {
		p.WriteString(s)
	}
	p.WriteByte('\n')
}

// row writes a table row.
func (p *page) row(cells ...string) { p.line("| ", strings.Join(cells, " | "), " |") }

func (l *lexicon) reference() string {
	p := &page{}
	p.line("# The grammar")
	p.line()
	p.line("This page is generated from the grammar's own tables (`blockworld-voice grammar > docs/grammar.md`); a test fails when it is stale.")
	p.line("The decisions in its examples are what the parser answered while the page was written.")
	p.line()
	p.line("A text is either exactly one command or one refusal. Case, accents, typographic quotes and punctuation don't matter, nor do")
	p.line("zero-width characters inside words and leading tags such as `[BLANK_AUDIO]`. Nothing is guessed and there is no edit distance.")
	l.commandsPage(p)
	l.numbersPage(p)
	p.WriteString(readingsText)
	l.examples(p, readingExamples)
	p.WriteString(writtenText)
	l.examples(p, writtenExamples)
	p.WriteString(sayText)
	l.examples(p, sayExamples)
	p.line()
	p.line("## Refusals")
	p.line()
	p.row("reason", "meaning", "example")
	p.row("---", "---", "---")
	for _, r := range Reasons() {
		e := reasonTexts[r]
		p.row("`"+r.String()+"`", e[0], "`"+e[1]+"`")
	}
	p.WriteString(decodingText)
	return p.String()
}

func (l *lexicon) commandsPage(p *page) {
	p.line()
	p.line("## Commands")
	p.line()
	head, rule := []string{"command", "canonical form"}, []string{"---", "---"}
	for _, t := range l.tables {
		head, rule = append(head, t.name), append(rule, "---")
	}
	p.row(head...)
	p.row(rule...)
	for _, k := range Kinds() {
		form := k.String()
		switch k {
		case KindGoTo, KindLookAt:
			form += " X Y Z"
		case KindSay:
			form += " TEXT"
		case KindState, KindStatus, KindIdle, KindFollow, KindBuild, KindStop:
		}
		row := []string{k.String(), "`" + form + "`"}
		for _, t := range l.tables {
			cell := "–"
			for _, c := range t.commands {
				if c.kind == k {
					cell = strings.Join(c.words, " · ")
				}
			}
			row = append(row, cell)
		}
		p.row(row...)
	}
	p.line()
	p.line("All languages are heard at once. `follow` and `build` alone are names for records, not phrases: they refuse. A stop is the whole")
	p.line("utterance or no stop. A second command in one utterance makes it ambiguous.")
}

var classTitles = map[class]string{
	classZero: "zero", classOh: "zero as a digit", classUnit: "1 – 9", classTeen: "10 – 19", classTens: "tens", classHundred: "hundred",
	classHundreds: "hundreds", classThousand: "thousand", classAnd: "and", classA: "link or article", classMinus: "minus", classPoint: "point",
}

func (l *lexicon) numbersPage(p *page) {
	p.line()
	p.line("## Number words")
	p.line()
	p.line("−30 000 … 30 000 with up to two decimals. Forms after a semicolon are read but never proposed in decoding.")
	for _, t := range l.tables {
		p.line()
		p.line("**", t.name, "**")
		p.line()
		for _, c := range []class{classZero, classOh, classUnit, classTeen, classTens, classHundreds, classHundred, classThousand, classAnd, classA, classMinus, classPoint} {
			var cells []string
			for _, n := range t.numerals {
				if n.class != c {
					continue
				}
				cell := strings.Join(strings.Fields(n.forms), ", ")
				if n.heard != "" {
					cell += "; " + strings.Join(strings.Fields(n.heard), ", ")
				}
				if !slices.Contains(cells, cell) {
					cells = append(cells, cell)
				}
			}
			if cells != nil {
				p.line("- ", classTitles[c], ": ", strings.Join(cells, " · "))
			}
		}
		var ways []string
		seen := ""
		for _, n := range []int{21, 64, 105, 123, 200, 1000, 1400, 2500, 12345} {
			var forms []string
			spellWays(t, n, func(s string) {
				if len(forms) < 6 && !slices.Contains(forms, s) {
					forms = append(forms, s)
				}
			})
			if x := strings.Join(forms, ", "); x != seen {
				ways = append(ways, fmt.Sprintf("%d: %s", n, x))
				seen = x
			}
		}
		p.line("- for example ", strings.Join(ways, " · "))
	}
}

// spellWays visits the ways to join and order the words of a number.
func spellWays(t *table, n int, visit func(string)) {
	var sizes, values []int
	for {
		at := 0
		w := newWriter(t, func(kind choice, size int) int {
			if kind == choiceForm {
				return 0
			}
			if at == len(values) {
				sizes, values = append(sizes, size), append(values, 0)
			}
			at++
			return values[at-1]
		})
		t.spell(w, n)
		visit(string(w.text))
		sizes, values = sizes[:at], values[:at]
		i := len(values) - 1
		for i >= 0 && values[i]+1 == sizes[i] {
			i--
		}
		if i < 0 {
			return
		}
		sizes, values = sizes[:i+1], values[:i+1]
		values[i]++
	}
}

// examples writes texts with the decisions that the parser makes of them.
func (l *lexicon) examples(p *page, texts []string) {
	p.line()
	p.row("text", "decision")
	p.row("---", "---")
	for _, text := range texts {
		var cell string
		switch d := l.parse(text).(type) {
		case Accepted:
			cell = "`" + d.Command.String() + "`"
		case Refusal:
			cell = d.Reason.String()
			if d.Readings != nil {
				cell += ": " + strings.ReplaceAll(strings.Join(d.Readings, " or "), "|", "\\|")
			}
		}
		p.row("`"+text+"`", cell)
	}
}
