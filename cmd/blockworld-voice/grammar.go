package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"blockworld-voice/grammar"
	"blockworld-voice/internal/lang"
	"blockworld-voice/internal/strictjson"
)

type grammarCmd struct {
	Reference grammarReference `cmd:"" default:"1" help:"The reference page (the default)."`
	Parse     grammarParse     `cmd:"" help:"Show what a text is taken for; without TEXT, each line of standard input."`
	Sample    grammarSample    `cmd:"" help:"Print sentences of the grammar."`
	GBNF      grammarGBNF      `cmd:"" name:"gbnf" help:"Print the grammar in GBNF form."`
}

type grammarReference struct{}

func (*grammarReference) Run(p *program) error {
	_, err := io.WriteString(p.out, grammar.Reference())
	return err
}

type grammarParse struct {
	JSON bool     `name:"json" help:"One object a line."`
	Text []string `arg:"" optional:"" passthrough:"" help:"The text; several words are one text. Flags stand before it."`
}

func (c *grammarParse) Run(p *program) error {
	if len(c.Text) > 0 {
		return c.one(p, strings.Join(c.Text, " "))
	}
	in := bufio.NewReader(p.in)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			if e := c.one(p, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")); e != nil {
				return e
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("standard input: %w", err)
		}
	}
}

// one prints one decision. A refusal makes the exit status 3.
func (c *grammarParse) one(p *program, text string) error {
	v := grammar.ViewOf(grammar.Parse(text))
	if v.Kind == "refusal" {
		p.status = p.status.and(statusRefused)
	}
	if c.JSON {
		line, err := strictjson.Line(v)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.out, "%s\n", line)
		return err
	}
	if v.Kind == "command" {
		_, err := fmt.Fprintln(p.out, v.Command)
		return err
	}
	s := "refused: " + v.Reason
	if v.Detail != "" {
		s += ": " + v.Detail
	}
	if v.Span != nil && v.Span.End <= len(text) {
		s += fmt.Sprintf(" (bytes %d to %d: %q)", v.Span.Start, v.Span.End, text[v.Span.Start:v.Span.End])
	}
	for _, r := range v.Readings {
		s += "\n  could be: " + r
	}
	_, err := fmt.Fprintln(p.out, s)
	return err
}

type grammarSample struct {
	Number   int    `arg:"" name:"n" optional:"" default:"20" help:"How many."`
	Language string `enum:"auto,sk,cs,en" default:"auto" placeholder:"auto|sk|cs|en" help:"Language of the sentences."`
	Seed     uint64 `default:"1" placeholder:"N" help:"The same seed gives the same sentences."`
}

func (c *grammarSample) Run(p *program) error {
	langs, err := languages(c.Language)
	if err != nil {
		return err
	}
	if c.Number < 1 || c.Number > 1_000_000 {
		return usage("give a number between 1 and 1000000", "%d sentences can't be made", c.Number)
	}
	samplers := make([]*grammar.Sampler, len(langs))
	for i, l := range langs {
		if samplers[i], err = grammar.NewSampler(l, c.Seed); err != nil {
			return err
		}
	}
	out := bufio.NewWriter(p.out)
	for i := range c.Number {
		sentence, cmd := samplers[i%len(samplers)].Next()
		fmt.Fprintf(out, "%s\t%s\t%s\n", langs[i%len(langs)], sentence, cmd)
	}
	return out.Flush()
}

type grammarGBNF struct {
	Language string `enum:"auto,sk,cs,en" default:"auto" placeholder:"auto|sk|cs|en" help:"Language of the grammar."`
}

func (c *grammarGBNF) Run(p *program) error {
	langs, err := languages(c.Language)
	if err != nil {
		return err
	}
	text, err := grammar.GBNF(grammar.Unbounded(langs...))
	if err != nil {
		return err
	}
	_, err = io.WriteString(p.out, text)
	return err
}

// languages reads the value of --language.
func languages(s string) ([]lang.Language, error) {
	if s == "auto" {
		return lang.All(), nil
	}
	l, err := lang.Parse(s)
	if err != nil {
		return nil, usage("choose auto, sk, cs or en", "%v", err)
	}
	return []lang.Language{l}, nil
}
