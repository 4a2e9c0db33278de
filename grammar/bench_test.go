package grammar

import (
	"regexp"
	"strings"
	"syscall"
	"testing"

	"blockworld-voice/internal/lang"
)

// utterances are typical sentences of all kinds.
var utterances = []string{
	"choď na desať šesťdesiatštyri mínus päť", "jdi na dvě stě padesát šedesát tři minus sto sedmnáct",
	"go to minus two hundred twelve seventy-five three hundred forty", "stav", "Stop.", "status",
	"pozri na sto dvadsať šesťdesiatpäť mínus štyridsať", "look at two point five sixty-four seven point five",
	"povedz idem domov", "nasleduj ma", "choď 10 64 -5", "zapni svetlo v kuchyni",
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	start := cpuTime()
	for i := 0; b.Loop(); i++ {
		Parse(utterances[i%len(utterances)])
	}
	b.ReportMetric(float64(b.N)*1e9/float64(cpuTime()-start), "utterances/cpu-s")
}

// BenchmarkNaive parses the same sentences with regular expressions made from the same table, the
// way a first version would: verbs by alternation, numbers by alternation, sums by class.
func BenchmarkNaive(b *testing.B) {
	n := newNaive()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		n.parse(utterances[i%len(utterances)])
	}
}

type naive struct {
	verbs  []*regexp.Regexp
	number *regexp.Regexp
	values map[string]atom
}

func newNaive() *naive {
	n := &naive{values: map[string]atom{}}
	var words []string
	for _, t := range merged.tables {
		for _, c := range t.commands {
			var alts []string
			for _, p := range c.words {
				alts = append(alts, regexp.QuoteMeta(p))
			}
			n.verbs = append(n.verbs, regexp.MustCompile(`(?i)^\s*(?:`+strings.Join(alts, "|")+`)\b(.*)$`))
		}
		for _, e := range t.numerals {
			for _, w := range strings.Fields(e.forms + " " + e.heard) {
				n.values[w] = atom{class: e.class, value: int32(e.value)}
				words = append(words, w)
			}
		}
	}
	n.number = regexp.MustCompile(`(?i)-?\d+(?:[.,]\d+)?|` + strings.Join(words, "|"))
	return n
}

func (n *naive) parse(text string) (out []int32) {
	for _, v := range n.verbs {
		m := v.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		for _, w := range n.number.FindAllString(strings.ToLower(m[1]), -1) {
			a := n.values[w]
			out = append(out, a.value)
		}
		return out
	}
	return nil
}

// Time a byte stays the same from 1 kB to 100 kB.
func BenchmarkLinear(b *testing.B) {
	for _, unit := range []string{"choď na dvadsať päť ", "x1 ,.- ", "sto ", "stop ", "dvadva", "1,1", "[a] ", "choďc\u030c "} {
		for _, size := range []struct {
			name  string
			bytes int
		}{{"1kB", 1000}, {"10kB", 10_000}, {"100kB", 100_000}} {
			text := strings.Repeat(unit, size.bytes/len(unit))
			b.Run(strings.TrimSpace(unit)+"/"+size.name, func(b *testing.B) {
				start := cpuTime()
				for b.Loop() {
					Parse(text)
				}
				b.ReportMetric(float64(cpuTime()-start)/float64(b.N)/float64(len(text)), "cpu-ns/byte")
			})
		}
	}
}

// cpuTime is the process's own time in nanoseconds: other work on the machine doesn't count.
func cpuTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func BenchmarkStep(b *testing.B) {
	a, err := Compile(Unbounded(lang.All()...))
	if err != nil {
		b.Fatal(err)
	}
	text := "choď na dvesto päťdesiat šesťdesiattri mínus sto sedemnásť"
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s := a.Start()
		for i := 0; i < len(text); i++ {
			s, _ = a.Step(s, text[i])
		}
	}
}
