package qualify

import (
	"fmt"
	"math/rand/v2"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/lang"
	"blockworld-voice/transcribe"
)

// clip makes a clip whose best reading is key, with a confirming witness.
func clip(file, voice, expect, key string, d, gap, witness float64) Clip {
	task, want, _ := readExpect(expect)
	class := transcribe.Plain
	if len(coordsOf(key)) > 0 {
		class = transcribe.Coordinates
	}
	c := Clip{Label: Label{File: file, Language: lang.EN, Expect: expect, Key: want, Task: task, Kind: "human", Voice: voice, Group: "oog"}, Condition: "clean"}
	c.SHA256 = digest.Of([]byte(file))
	c.EncodeNS, c.DecodeNS, c.TotalNS = 1e6, 2e6, 4e6
	if key != "" {
		c.Readings = []transcribe.Scored{
			{Text: key, Key: key, Class: class, Language: lang.EN, Score: d * 5, Sum: d * 5, Tokens: 5, D: d},
			{Text: "idle", Key: "idle", Language: lang.EN, Sum: d*5 - gap},
		}
		c.Witnesses = []transcribe.Witness{{Tempo: 1.1, Key: key, D: witness, Gap: 1}}
	}
	return c
}

// synthetic are clips of four speakers: right readings are sure, wrong ones less so, other speech hardly at all.
func synthetic() []Clip {
	r := rand.New(rand.NewPCG(1, 2))
	var out []Clip
	for v := range 4 {
		voice := fmt.Sprintf("engine:%d:100", v)
		for i := range 50 {
			near := func(x float64) float64 { return x + 0.05*r.Float64() }
			file := fmt.Sprintf("en/%d_%d.wav", v, i)
			switch {
			case i%10 == 0:
				out = append(out, clip(file, voice, "goto 1 2 3", "goto 1 2 30", near(0.62), 5, near(0.62)))
			case i%10 == 1:
				out = append(out, clip(file, voice, "refuse", "goto 1 2 3", near(0.42), 5, near(0.42)))
			default:
				out = append(out, clip(file, voice, "goto 1 2 3", "goto 1 2 3", near(1.12), 5, near(1.12)))
			}
		}
	}
	return out
}

// limits are of the tests' own: the program's may change.
func limits() transcribe.Thresholds {
	return transcribe.Thresholds{Name: "test", Limit: map[transcribe.Class]transcribe.Limits{
		transcribe.Plain:       {D: 0.7, Gap: 1, WitnessD: 0.3, Language: -12},
		transcribe.Coordinates: {D: 0.6, Gap: 2, WitnessD: 0.4, Language: -3},
		transcribe.Text:        {D: 0.7, Gap: 1, WitnessD: 0.5, Language: -3},
	}}
}
