package qualify

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/strictjson"
	"blockworld-voice/transcribe"
)

// Wrong readings lie at 0.62 … 0.67, other speech below, right ones from 1.12: every limit between takes all that is
// right and nothing else, and the widest such margin of the grid is d 1.1.
func TestFit(t *testing.T) {
	f, err := FitThresholds(synthetic(), limits(), Target{})
	if err != nil {
		t.Fatal(err)
	}
	l := f.Thresholds.Limit[transcribe.Coordinates]
	if l.D != 1.1 || l.WitnessD != 1 || l.Gap != 4 {
		t.Errorf("fitted %+v", l)
	}
	base := limits().Limit[transcribe.Coordinates]
	if l.Language != base.Language || l.WitnessGap != base.WitnessGap {
		t.Errorf("what isn't fitted has changed: %+v", l)
	}
	if !reflect.DeepEqual(f.Unfitted, []transcribe.Class{transcribe.Plain, transcribe.Text}) || f.Thresholds.Limit[transcribe.Plain] != limits().Limit[transcribe.Plain] {
		t.Errorf("classes without clips: %v", f.Unfitted)
	}
	if f.Clips != 200 || f.Speakers != 4 {
		t.Errorf("%d clips, %d speakers", f.Clips, f.Speakers)
	}
	for name, rows := range map[string][]Row{"in sample": f.InSample, "left out": f.LeftOut} {
		s := rows[0].Grammar
		if s.Right.K != 160 || s.Right.N != 180 || s.Wrong.K != 0 || s.Refused.K != 20 || rows[0].False.K != 0 || rows[0].False.N != 20 {
			t.Errorf("%s: %+v", name, rows[0])
		}
	}
}

// Wrong accepts above the target are worse than any number of refusals; below it, right accepts decide.
func TestFitTarget(t *testing.T) {
	var clips []Clip
	for i := range 100 {
		c := clip("a", "v", "goto 1 2 3", "goto 1 2 3", 0.65, 9, 9)
		if i < 2 { // between the right ones
			c = clip("b", "v", "goto 1 2 3", "goto 9 2 3", 0.65, 9, 9)
		}
		clips = append(clips, c)
	}
	for share, right := range map[float64]int{0.01: 0, 0.02: 98} {
		f, err := FitThresholds(clips, limits(), Target{Wrong: share})
		if err != nil {
			t.Fatal(err)
		}
		if got := f.InSample[0].Grammar.Right.K; got != right {
			t.Errorf("target %v: %d right, want %d", share, got, right)
		}
	}
}

// A speaker whose errors nobody else makes is judged by limits that never saw them.
func TestFitLeavesTheSpeakerOut(t *testing.T) {
	clips := synthetic()
	for i := range 10 {
		// the same voice at two settings: both are left out together
		clips = append(clips, clip("x", "odd:one:"+string(rune('0'+i)), "goto 1 2 3", "goto 1 2 4", 1.15, 9, 9))
	}
	f, err := FitThresholds(clips, limits(), Target{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Speakers != 5 || f.InSample[0].Grammar.Wrong.K != 0 || f.LeftOut[0].Grammar.Wrong.K != 10 {
		t.Errorf("%d speakers, in sample %v, left out %v", f.Speakers, f.InSample[0].Grammar.Wrong, f.LeftOut[0].Grammar.Wrong)
	}
}

func TestSpeakers(t *testing.T) {
	of := func(v string) string { return speaker(&Clip{Label: Label{Voice: v}}) }
	if of("rh:ondro:82:100") != of("rh:ondro:112:92") || of("fl:rms") == of("fl:slt") || of("plain") != "plain" {
		t.Error("voices and their settings")
	}
	if !shareVoice(of("a+b"), "b") || shareVoice("a+b", "c") || !shareVoice("b", "b") {
		t.Error("joined voices")
	}
}

func TestFitOfNothing(t *testing.T) {
	numbers := []Clip{clip("a", "v", "7", "7", 1, 9, 9)}
	if _, err := FitThresholds(numbers, limits(), Target{}); !errors.Is(err, ErrNothingToFit) {
		t.Error(err)
	}
}

// A table goes to its file and comes back; what isn't whole is refused.
func TestThresholdsFile(t *testing.T) {
	f, err := FitThresholds(synthetic(), limits(), Target{})
	if err != nil {
		t.Fatal(err)
	}
	made := Made{Model: "base", ModelSHA: digest.Of([]byte("m")), Corpus: digest.Of([]byte("c")), Command: []string{"blockworld-voice", "qualify"}}
	data, err := strictjson.Marshal(f.File(made))
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadThresholds(data)
	if err != nil {
		t.Fatal(err)
	}
	if got.ModelSHA != made.ModelSHA || got.Corpus != made.Corpus || !reflect.DeepEqual(got.Thresholds(), f.Thresholds) {
		t.Errorf("came back as %+v", got)
	}
	for name, change := range map[string][2]string{
		"a class is missing": {`"text": {`, `"plain2": {`},
		"schema":             {`"schema": 1`, `"schema": 2`},
		"unknown name":       {`"schema": 1`, `"schema": 1, "more": 1`},
		"far out":            {`"d": 1.1`, `"d": -101`},
	} {
		bad := strings.Replace(string(data), change[0], change[1], 1)
		if bad == string(data) {
			t.Fatalf("%s: nothing was changed", name)
		}
		if _, err := ReadThresholds([]byte(bad)); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestJudge(t *testing.T) {
	th := limits()
	silent := clip("a", "v", "stop", "stop", 2, 9, 9)
	silent.Gate = "too quiet"
	none := clip("a", "v", "stop", "", 0, 0, 0)
	for _, c := range []struct {
		clip Clip
		want Outcome
	}{
		{clip("a", "v", "stop", "stop", 2, 9, 9), Right},
		{clip("a", "v", "stop", "follow", 2, 9, 9), Wrong},
		{clip("a", "v", "refuse", "stop", 2, 9, 9), False},
		{clip("a", "v", "refuse", "stop", 0.1, 9, 9), Refused},
		{clip("a", "v", "goto 1 2 3", "goto 1 2 3", 2, 9, 0.1), Refused}, // the witness
		{clip("a", "v", "say Ahoj, ľudia!", "say ahoj ludia", 2, 9, 9), Right},
		{silent, Refused},
		{none, Refused},
	} {
		got, why := c.clip.Judge(th)
		if got != c.want || (got == Refused) != (why != "") {
			t.Errorf("%s heard as %q: %v (%s), want %v", c.clip.Expect, c.clip.Best(), got, why, c.want)
		}
		if open, _ := c.clip.Judge(Open()); open == Refused && c.clip.Best() != "" && c.clip.Gate == "" {
			t.Errorf("%s: refused without limits", c.clip.Expect)
		}
	}
	if math.IsInf(Open().Limit[transcribe.Text].D, 0) {
		t.Error("the limits of a measuring run can't be written down")
	}
}
