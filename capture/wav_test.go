package capture

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/pcm"
)

// answer is what docs/wav.md has in its last column.
func answer(c *Clip, err error) string {
	if err != nil {
		var ce *Error
		if !errors.As(err, &ce) {
			return "an error of another type: " + err.Error()
		}
		return "refused: " + ce.Kind.String()
	}
	if len(c.Marks) == 0 {
		return "read"
	}
	s := "read, marked"
	for _, m := range c.Marks {
		s += " " + m.String()
	}
	return s
}

// page is the table of docs/wav.md: input → answer.
func page(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile("../docs/wav.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(b)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) != 3 {
			continue
		}
		name, want := strings.TrimSpace(cells[0]), strings.Trim(strings.TrimSpace(cells[1]), "`")
		if name == "input" || strings.HasPrefix(name, "-") {
			continue
		}
		if _, twice := rows[name]; twice {
			t.Errorf("docs/wav.md has the row %q twice", name)
		}
		rows[name] = want
	}
	return rows
}

// check compares an answer with the page and looks at everything that must always hold.
func check(t *testing.T, rows map[string]string, name string, c *Clip, err error) {
	t.Helper()
	want, ok := rows[name]
	if !ok {
		t.Errorf("docs/wav.md has no row %q", name)
	}
	if got := answer(c, err); got != want {
		t.Errorf("%s: got %q (%v), docs/wav.md says %q", name, got, err, want)
	}
	if fault := integrity(c, err); fault != "" {
		t.Errorf("%s: %s", name, fault)
	}
}

// integrity is what holds for every outcome of Decode and ReadFile.
func integrity(c *Clip, err error) string {
	if err != nil {
		var ce *Error
		switch {
		case c != nil:
			return "a clip and an error"
		case !errors.As(err, &ce):
			return "not an *Error"
		case ce.Name == "" || ce.Problem == "" || ce.Hint == "" || ce.Kind == 0 || ce.Kind == Internal:
			return "an error that doesn't help: " + ce.Lines()
		case strings.Count(ce.Lines(), "\n") != 1:
			return "not two lines"
		}
		return ""
	}
	want := (2*c.Frames*Rate + c.Format.Rate) / (2 * c.Format.Rate)
	switch {
	case c.Samples == nil || len(c.Samples) != want:
		return "the wrong number of samples"
	case c.SHA256 != digest.Of(c.Source):
		return "the digest isn't that of the source"
	case c.Seconds > MaxSeconds || math.Abs(c.Seconds*float64(c.Format.Rate)-float64(c.Frames)) > 1e-6:
		return "the wrong length"
	case c.Format.Channels < 1 || c.Format.Channels > MaxChannels || c.Format.Rate < MinSourceRate || c.Format.Rate > MaxSourceRate:
		return "a format that should have been refused"
	}
	for _, v := range c.Samples {
		if !(v >= -1 && v <= 1) {
			return "a sample outside −1…1"
		}
	}
	return ""
}

func TestEveryRowOfThePage(t *testing.T) {
	rows := page(t)
	seen := map[string]bool{}
	for _, c := range wavCases() {
		clip, err := Decode(c.name, c.data)
		check(t, rows, c.name, clip, err)
		seen[c.name] = true
	}
	for _, c := range fileCases(t) {
		clip, err := ReadFile(c.path)
		check(t, rows, c.name, clip, err)
		seen[c.name] = true
	}
	for name := range rows {
		if !seen[name] {
			t.Errorf("the row %q of docs/wav.md has no test", name)
		}
	}
}

func TestEveryFormatHasTheSameSound(t *testing.T) {
	want := tone(440, Rate, Rate/8)
	for _, bits := range []struct{ tag, bits int }{{tagPCM, 8}, {tagPCM, 16}, {tagPCM, 24}, {tagPCM, 32}, {tagFloat, 32}, {tagFloat, 64}} {
		for _, rate := range []int{8000, 11025, 16000, 44100, 48000, 192000} {
			for _, channels := range []int{1, 2, 5, 8} {
				f := fm{tag: bits.tag, channels: channels, rate: rate, bits: bits.bits}
				for _, f := range []fm{f, f.extensible(f.bits)} {
					body := encode(fm{tag: bits.tag, channels: channels, bits: bits.bits}, tone(440, rate, rate/8))
					clip, err := Decode("x.wav", file(f.chunk(), ck("data", body)))
					if err != nil {
						t.Fatalf("%+v: %v", f, err)
					}
					if fault := integrity(clip, err); fault != "" {
						t.Fatalf("%+v: %s", f, fault)
					}
					tolerance := 0.002
					if bits.bits == 8 {
						tolerance = 0.02
					}
					for i := 400; i < min(len(want), len(clip.Samples))-400; i++ {
						if d := math.Abs(float64(clip.Samples[i]) - want[i]); d > tolerance {
							t.Fatalf("%v: sample %d is off by %v", clip.Format, i, d)
						}
					}
				}
			}
		}
	}
}

// The library and our own conversion must agree to the bit on every integer format.
func TestLibraryAgreesWithOurConversion(t *testing.T) {
	for _, enc := range []pcm.Encoding{pcm.S16, pcm.S24, pcm.S32} {
		data := make([]byte, 4801*enc.Size())
		for i := range data {
			data[i] = byte(i*i*31 + i*7)
		}
		l := &layout{format: Format{Rate: Rate, Channels: 1, Bits: 8 * enc.Size(), Coding: PCM}, enc: enc, data: data, frames: 4801}
		got := make([]float32, 4801)
		src := newIntSource(l, 1000)
		for at := 0; at < len(got); at += 1000 {
			if err := src.fill(got[at:min(at+1000, len(got))]); err != nil {
				t.Fatal(err)
			}
		}
		want := make([]float32, 4801)
		pcm.Decode(want, data, enc)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%v sample %d: the library gives %v, we %v", enc, i, got[i], want[i])
			}
		}
	}
}

func TestChannelsAreAveraged(t *testing.T) {
	f := fm{tag: tagPCM, channels: 2, rate: Rate, bits: 16}
	body := []byte{0, 0x40, 0, 0xc0, 0, 0x40, 0, 0, 0, 0x20, 0, 0x20}
	clip, err := Decode("x", file(f.chunk(), ck("data", body)))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float32{0, 0.25, 0.25} {
		if clip.Samples[i] != want {
			t.Errorf("frame %d is %v, want %v", i, clip.Samples[i], want)
		}
	}
}

func TestStreamedDataIsWhole(t *testing.T) {
	for _, c := range wavCases() {
		if !strings.Contains(c.name, "pipe") || strings.Contains(c.name, "ended") {
			continue
		}
		clip, err := Decode(c.name, c.data)
		if err != nil || clip.Frames != 160 {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestErrorsNamePlaceAndFigures(t *testing.T) {
	good := file(mono16.chunk(), ck("data", make([]byte, 32000)))
	_, err := Decode("clip.wav", good[:len(good)-16000])
	var e *Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	if e.Offset != int64(len(good)-16000) || !strings.Contains(e.Problem, "promises 1.00 s") || !strings.Contains(e.Problem, "0.50 s are there") {
		t.Errorf("%+v", e)
	}
	if !strings.HasPrefix(e.Error(), "clip.wav: ") || !strings.HasSuffix(e.Error(), "(at byte 16044)") {
		t.Errorf("%q", e.Error())
	}
	_, err = Decode("x", file(fm{tag: tagFloat, channels: 1, rate: Rate, bits: 32}.chunk(), ck("data", encode(fm{tag: tagFloat, channels: 1, bits: 32}, []float64{0, 0, math.NaN()}))))
	if !errors.As(err, &e) || e.Offset != 44+8 {
		t.Errorf("NaN: %+v", e)
	}
}

func TestClippedFloatsAreCounted(t *testing.T) {
	f := fm{tag: tagFloat, channels: 1, rate: Rate, bits: 32}
	clip, err := Decode("x", file(f.chunk(), ck("data", encode(f, []float64{0, 1.5, -2, 1, -1}))))
	if err != nil || clip.Clipped != 2 || clip.Samples[1] != 1 || clip.Samples[2] != -1 {
		t.Errorf("%+v %v", clip, err)
	}
}

// A take leaves nothing behind for the next: the resampler's state is fresh each time.
func TestSameBytesSameSamples(t *testing.T) {
	f := fm{tag: tagPCM, channels: 2, rate: 44100, bits: 24}
	a := file(f.chunk(), ck("data", hum(f, 20000)))
	b := file(f.chunk(), ck("data", hum(f, 7000)))
	first, err := Decode("a", a)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode("b", b); err != nil {
		t.Fatal(err)
	}
	second, err := Decode("a", a)
	if err != nil {
		t.Fatal(err)
	}
	for i := range first.Samples {
		if math.Float32bits(first.Samples[i]) != math.Float32bits(second.Samples[i]) {
			t.Fatalf("sample %d differs", i)
		}
	}
}

func TestSpeechWAVReadsBack(t *testing.T) {
	f := fm{tag: tagPCM, channels: 1, rate: 48000, bits: 16}
	clip, err := Decode("a", file(f.chunk(), ck("data", hum(f, 9001))))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Decode("b", clip.SpeechWAV())
	if err != nil {
		t.Fatal(err)
	}
	if again.Format != (Format{Rate: Rate, Channels: 1, Bits: 16, Coding: PCM}) || len(again.Samples) != len(clip.Samples) || len(again.Marks) > 0 {
		t.Fatalf("%+v", again.Format)
	}
	for i := range again.Samples {
		if math.Abs(float64(again.Samples[i]-clip.Samples[i])) > 1./65536+1e-9 {
			t.Fatalf("sample %d: %v and %v", i, again.Samples[i], clip.Samples[i])
		}
	}
}

func TestThreeMinutesOfSilence(t *testing.T) {
	clip, err := Decode("silence.wav", file(mono16.chunk(), ck("data", make([]byte, 180*2*Rate))))
	if err != nil || clip.Seconds != 180 {
		t.Fatalf("%v", err)
	}
}

func TestNamesRoundTrip(t *testing.T) {
	for m := MarkStreamed; m <= MarkClipped; m++ {
		b, err := m.MarshalText()
		var back Mark
		if err != nil || back.UnmarshalText(b) != nil || back != m {
			t.Errorf("mark %d: %q %v", m, b, err)
		}
	}
	for f := NotFound; f <= Internal; f++ {
		b, err := f.MarshalText()
		var back Fault
		if err != nil || back.UnmarshalText(b) != nil || back != f {
			t.Errorf("fault %d: %q %v", f, b, err)
		}
	}
	var c Coding
	if c.UnmarshalText([]byte("mp3")) == nil || c.UnmarshalText(nil) == nil {
		t.Error("an unknown coding was read")
	}
	if _, err := Coding(0).MarshalText(); err == nil {
		t.Error("no coding was written")
	}
}
