package capture

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blockworld-voice/internal/pcm"
)

func TestGateHoldsBack(t *testing.T) {
	for seed := range uint64(2) {
		for name, samples := range newSounds(seed).withoutSpeech() {
			for _, db := range []float64{0, -20} {
				x := append([]float32(nil), samples...)
				scale(x, pcm.Gain(db))
				if s := Gate(x); s.Speech {
					t.Errorf("%s at %v dB (seed %d) passes as speech: %+v", name, db, seed, s)
				}
			}
		}
	}
}

func TestGateHoldsBackLongSilence(t *testing.T) {
	for name, samples := range newSounds(1).long() {
		if s := Gate(samples); s.Speech {
			t.Errorf("%s passes as speech: %+v", name, s)
		}
	}
}

func TestGateReasons(t *testing.T) {
	m := newSounds(1).withoutSpeech()
	for name, want := range map[string]GateReason{
		"nothing":                         GateEmpty,
		"1 s of zeros":                    GateSilence,
		"1 s of ±1 LSB":                   GateSilence,
		"1 s of noise at −60 dB":          GateSteady,
		"fan under 400 Hz":                GateSteady,
		"a tone for 200 ms, then silence": GateTone,
		"a tone for 200 ms in a room":     GateTone,
		"short clicks in a room":          GateClicks,
		"a breath":                        GateNoVoice,
	} {
		if s := Gate(m[name]); s.Reason != want {
			t.Errorf("%s: %q, want %q: %+v", name, s.Reason, want, s)
		}
	}
}

// clip is a row of a manifest.
type manifestClip struct {
	file, language, expect, text, kind string
}

// corpus reads a folder's manifest: the committed clips always, and a wider set where the
// environment names one.
func corpus(t *testing.T) map[string][]manifestClip {
	t.Helper()
	out := map[string][]manifestClip{}
	for _, root := range []string{"../testdata/clips", os.Getenv("BLOCKWORLD_SPEECH")} {
		if root == "" {
			continue
		}
		f, err := os.Open(filepath.Join(root, "manifest.tsv"))
		if err != nil {
			t.Fatal(err)
		}
		sc := bufio.NewScanner(f)
		sc.Scan()
		for sc.Scan() {
			c := strings.Split(sc.Text(), "\t")
			if len(c) != 10 {
				t.Fatalf("%s: a row of %d columns: %q", root, len(c), sc.Text())
			}
			out[root] = append(out[root], manifestClip{file: filepath.Join(root, c[0]), language: c[1], expect: c[2], text: c[3], kind: c[4]})
		}
		f.Close()
		if err := sc.Err(); err != nil || len(out[root]) == 0 {
			t.Fatalf("%s: no clips (%v)", root, err)
		}
	}
	return out
}

// Every clip with a voice passes at every gain, clean and with noise at 15 dB below the speech; the
// clips without one don't.
func TestGatePassesEveryVoice(t *testing.T) {
	s := newSounds(2)
	for root, clips := range corpus(t) {
		for _, c := range clips {
			clip, err := ReadFile(c.file)
			if err != nil {
				t.Fatal(err)
			}
			noise := s.white(clip.Seconds+1, pcm.DBFS(pcm.RMS(clip.Samples))-15)[:len(clip.Samples)]
			for _, db := range []float64{0, -20, -30} {
				for _, x := range [][]float32{append([]float32(nil), clip.Samples...), add(clip.Samples, noise)} {
					scale(x, pcm.Gain(db))
					quantise(x)
					got := Gate(x)
					if want := c.text != ""; got.Speech != want {
						t.Errorf("%s at %v dB: %+v", c.file, db, got)
					}
					checkSpeech(t, got, len(x))
				}
			}
		}
		t.Logf("%s: %d clips", root, len(clips))
	}
}

// quantise rounds to the 16 bits that a recording has.
func quantise(x []float32) {
	for i, v := range x {
		x[i] = float32(pcm.ToS16(v)) / 32768
	}
}

func checkSpeech(t *testing.T, s Speech, samples int) {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatalf("not a JSON document: %v", err)
	}
	var back Speech
	if err := json.Unmarshal(b, &back); err != nil || back != s {
		t.Fatalf("%s: %v", b, err)
	}
	if s.Speech != (s.Reason == GateVoiced || s.Reason == GateDoubtful) || s.Reason == "" {
		t.Fatalf("%+v", s)
	}
	if s.Speech != (s.EndMS > s.StartMS) || s.StartMS < 0 || s.EndMS > 1000*samples/Rate+10 {
		t.Fatalf("bounds: %+v", s)
	}
}

func TestGateAfterALongPause(t *testing.T) {
	for _, clips := range corpus(t) {
		for _, c := range clips {
			if c.expect != "stop" {
				continue
			}
			clip, err := ReadFile(c.file)
			if err != nil {
				t.Fatal(err)
			}
			for _, pause := range []int{0, Rate, 10 * Rate} {
				x := append(make([]float32, pause), clip.Samples...)
				s := Gate(x)
				if !s.Speech {
					t.Errorf("%s after %d s: %+v", c.file, pause/Rate, s)
				}
				if first := 1000 * pause / Rate; s.StartMS < first-200 {
					t.Errorf("%s: speech begins at %d ms, the zeros end at %d", c.file, s.StartMS, first)
				}
			}
			alone := Gate(clip.Samples)
			noisy := add(append(make([]float32, 3*Rate), clip.Samples...), newSounds(4).white(3+clip.Seconds, -55))
			if s := Gate(noisy); !s.Speech || s.StartMS < 3000+alone.StartMS-200 || s.StartMS > 3000+alone.StartMS+200 {
				t.Errorf("%s in a room: %+v, alone %+v", c.file, s, alone)
			}
		}
	}
}

// A whisper has no pitch; it must not be lost.
func TestGateDoubtful(t *testing.T) {
	s := newSounds(5)
	var x []float32
	for _, hz := range []float64{7000, 500, 6000, 900, 7000, 400} { // hiss and vowel in turn
		part := s.fan(0.15, hz, -28)
		if hz > 5000 {
			hiss := append([]float32(nil), part...)
			onePole(hiss, 2500)
			for i := range part {
				part[i] -= hiss[i]
			}
		}
		x = append(x, part...)
	}
	x = add(append(make([]float32, Rate/2), x...), s.white(2, -70))
	if got := Gate(x); got.Reason != GateDoubtful {
		t.Errorf("%+v", got)
	}
}

func TestGateIsPure(t *testing.T) {
	x := newSounds(6).clicks(2, 0.007)
	keep := append([]float32(nil), x...)
	a, b := Gate(x), Gate(x)
	if a != b {
		t.Error("two answers for one clip")
	}
	for i := range x {
		if math.Float32bits(x[i]) != math.Float32bits(keep[i]) {
			t.Fatal("the samples were changed")
		}
	}
}

func BenchmarkGate(b *testing.B) {
	clip, err := ReadFile(filepath.Join("../testdata/clips", "en/goto_10_64_m5.wav"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(clip.Seconds, "audio-s")
	for b.Loop() {
		Gate(clip.Samples)
	}
}
