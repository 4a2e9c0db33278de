package qualify

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"blockworld-voice/internal/lang"
	"blockworld-voice/internal/strictjson"
)

// mixed is one clip of every sort.
func mixed() []Clip {
	clips := []Clip{
		clip("en/a.wav", "v1", "goto 1 2 60", "goto 1 2 60", 2, 9, 9),
		clip("en/b.wav", "v1", "goto 1 2 60", "goto 1 2 70", 2, 9, 9),   // wrong
		clip("en/c.wav", "v2", "goto 1 2 -29", "goto 1 2 -9", 2, 1, 9),  // wrong before, refused after
		clip("en/d.wav", "v2", "stop", "stop", 0.1, 9, 9),               // right before, refused after
		clip("en/e.wav", "v2", "coords 1 2 3", "coords 1 2 3", 2, 9, 9), // right
		clip("en/number/f.wav", "v1", "13", "30", 2, 9, 9),              // wrong
		clip("en/oog/g.wav", "v1", "refuse", "stop", 2, 9, 9),           // false
		clip("en/oog/h.wav", "v1", "refuse", "", 0, 0, 0),
		clip("sk/i.wav", "es:sk:150", "follow", "idle", 2, 9, 9), // wrong
	}
	clips[0].Text, clips[0].Readings[0].Text = "Go to one, two, sixty.", "go to one two sixty"
	clips[3].Text, clips[3].Readings[0].Text = "stop", "status"
	clips[8].Kind, clips[8].Language = formant, lang.SK
	clips[7].Gate = "too quiet"
	return clips
}

func TestReport(t *testing.T) {
	r := Make(Made{Manifest: "m.tsv"}, mixed(), limits())
	all := r.Overall[0]
	if all.Name != "all" || r.Overall[1].Name != "without formant voices" {
		t.Fatalf("rows %v", r.Overall)
	}
	for name, c := range map[string]struct {
		got  Rate
		k, n int
	}{
		"intent":              {all.Grammar.Intent, 4, 5},
		"slots":               {all.Grammar.Slots, 3, 6},
		"right":               {all.Grammar.Right, 2, 6},
		"refused":             {all.Grammar.Refused, 2, 6},
		"wrong":               {all.Grammar.Wrong, 2, 6},
		"numbers":             {all.Numbers.Wrong, 1, 1},
		"false":               {all.False, 1, 2},
		"without formant":     {r.Overall[1].Grammar.Wrong, 1, 5},
		"Slovak":              {r.Language[0].Grammar.Wrong, 1, 1},
		"voice v2":            {r.Voice[2].Grammar.Right, 1, 3},
		"other speech":        {r.False[0].Rate, 1, 2},
		"word errors":         {r.WER[0].Rate, 1, 6},
		"chosen point":        {r.Curve[12].Right, 2, 6},
		"strictest point":     {r.Curve[24].Right, 2, 6},
		"mildest point right": {r.Curve[0].Right, 3, 6},
	} {
		if c.got != RateOf(c.k, c.n) {
			t.Errorf("%s: %v, want %d of %d", name, c.got, c.k, c.n)
		}
	}
	if r.Language[0].Name != "sk" || r.Voice[2].Name != "v2" || r.Curve[12].Shift != 0 || r.False[0].Name != "oog" {
		t.Error("the order of the rows")
	}
	words := map[string]Rate{}
	for _, w := range r.Words {
		words[w.Said+">"+w.Heard] = w.Rate
	}
	if !reflect.DeepEqual(words, map[string]Rate{"sixty>seventy": RateOf(1, 2), "twenty>": RateOf(1, 1), "thirteen>thirty": RateOf(1, 1)}) {
		t.Errorf("number words %v", words)
	}
	commands := map[string]Rate{}
	for _, c := range r.Commands {
		commands[c.Said+">"+c.Heard] = c.Accepted
	}
	if !reflect.DeepEqual(commands, map[string]Rate{
		"goto>goto": RateOf(2, 3), "stop>stop": RateOf(0, 1), "follow>idle": RateOf(1, 1), "(other speech)>stop": RateOf(1, 2), "(other speech)>(nothing)": RateOf(0, 2),
	}) {
		t.Errorf("commands %v", commands)
	}
	if want := []Time{{"encode", 8, 1, 1}, {"decode", 8, 2, 2}, {"total", 8, 4, 4}}; !reflect.DeepEqual(r.Times, want) {
		t.Errorf("times %v", r.Times)
	}
}

var update = os.Getenv("UPDATE_GOLDEN") != ""

// The names of a report are promises; the golden file is their list.
func TestReportStructure(t *testing.T) {
	r := Make(Made{Manifest: "m.tsv", Conditions: []string{"clean"}}, mixed(), limits())
	var err error
	if r.Fit, err = FitThresholds(mixed(), limits(), Target{}); err != nil {
		t.Fatal(err)
	}
	data, err := strictjson.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	rate := regexp.MustCompile(`/(k|n|p|low|high)$`)
	seen := map[string]bool{}
	var lines []string
	for d := jsontext.NewDecoder(strings.NewReader(string(data))); ; {
		if _, err := d.ReadToken(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		at := regexp.MustCompile(`/[0-9]+`).ReplaceAllString(string(d.StackPointer()), "[]")
		at = rate.ReplaceAllString(at, "") // k, n, p, low and high, everywhere
		if at != "" && !seen[at] {
			seen[at] = true
			lines = append(lines, at)
		}
	}
	got := strings.Join(lines, "\n") + "\n"
	golden := filepath.Join("testdata", "report.golden")
	if update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the structure has changed (UPDATE_GOLDEN=1 writes it):\n%s", got)
	}
	back, err := ReadReport(data)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := strictjson.Marshal(back); err != nil || string(again) != string(data) {
		t.Error("a report that is read is not the one that was written")
	}
}

// The page shows every plot, and needs nothing from anywhere.
func TestPage(t *testing.T) {
	clips := mixed()
	clips[0].Voice = `<script>alert("v")</script>`
	data, err := Make(Made{Manifest: "m.tsv"}, clips, limits()).HTML()
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if n := strings.Count(text, "<svg"); n != 6 {
		t.Errorf("%d plots", n)
	}
	for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(text, -1) {
		for d := xml.NewDecoder(strings.NewReader(svg)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in %s", err, svg)
			}
		}
	}
	for _, bad := range []string{"<script", "http:", "https:", "src=", "@import", "url("} {
		if strings.Contains(text, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !strings.Contains(text, `class="chosen"`) || !strings.Contains(text, "sixty") {
		t.Error("the chosen point or the number words are missing")
	}
}

func TestAgainst(t *testing.T) {
	before := Make(Made{Manifest: "m.tsv"}, mixed(), limits())
	clips := mixed()
	clips[1] = clip("en/b.wav", "v1", "goto 1 2 60", "goto 1 2 60", 2, 9, 9) // mended
	clips = append(clips, clip("en/new.wav", "v1", "stop", "stop", 2, 9, 9))
	now := Make(Made{Manifest: "m.tsv", Threads: 1}, clips, limits())
	c := now.Against(before)
	if want := []Change{{"en/b.wav", "clean", Wrong, Right}}; c.Common != 9 || !reflect.DeepEqual(c.Changed, want) || len(c.Unlike) != 0 {
		t.Errorf("%+v", c)
	}
	var b strings.Builder
	if err := c.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"9 clips in both, 1 came out differently", "all, right: 4/7 57.1 %", "was 2/6 33.3 %", "en/b.wav (clean): was wrong, is right"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing:\n%s", want, b.String())
		}
	}
	if same := before.Against(before); len(same.Changed)+len(same.Lines)+len(same.Unlike) > 0 {
		t.Errorf("a report against itself: %+v", same)
	}
}

func TestCheck(t *testing.T) {
	r := Make(Made{}, mixed(), limits())
	p := func(x float64) *float64 { return &x }
	for name, c := range map[string]struct {
		limits Limits
		bad    int
	}{
		"nothing asked":    {Limits{}, 0},
		"met":              {Limits{p(100), p(50), p(0)}, 0},
		"wrong":            {Limits{MaxWrong: p(50)}, 1}, // the numbers; 2 of 6 commands are below
		"wrong both":       {Limits{MaxWrong: p(33)}, 2},
		"false":            {Limits{MaxFalse: p(49.9)}, 1},
		"right":            {Limits{MinRight: p(33.4)}, 2},
		"exactly is still": {Limits{MaxFalse: p(50)}, 0},
	} {
		if got := r.Check(c.limits); len(got) != c.bad {
			t.Errorf("%s: %v", name, got)
		}
	}
	none := Make(Made{}, mixed()[:1], limits())
	if got := none.Check(Limits{MaxFalse: p(100)}); len(got) != 1 || !strings.Contains(got[0], "no clip to measure it on") {
		t.Errorf("a limit on nothing: %v", got)
	}
}
