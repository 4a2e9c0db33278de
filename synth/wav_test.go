package synth

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// tone returns seconds of a 440 Hz sine that fades out, as samples of 16 bits.
func tone(rate int, seconds, level float64) []byte {
	n := int(float64(rate) * seconds)
	b := make([]byte, 0, 2*n)
	for i := range n {
		v := level * math.Sin(2*math.Pi*440*float64(i)/float64(rate)) * min(1, float64(n-i)/float64(rate/20))
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(v*32767)))
	}
	return b
}

func wav(rate int, samples []byte) []byte { return append(header(rate, len(samples)), samples...) }

// put overwrites 4 bytes at off.
func put(b []byte, off int, v uint32) []byte {
	b = bytes.Clone(b)
	binary.LittleEndian.PutUint32(b[off:], v)
	return b
}

func TestReadAudioCorrectsWhatAPipeCannotKnow(t *testing.T) {
	samples := tone(22050, 1, 0.5)
	plain := wav(22050, samples)
	for name, data := range map[string][]byte{
		"plain":          plain,
		"espeak-ng":      put(put(plain, 4, 0x7ffff024), 40, 0x7ffff000),
		"all ones":       put(put(plain, 4, 0xffffffff), 40, 0xffffffff),
		"trailing chunk": append(bytes.Clone(plain), "LIST\x04\x00\x00\x00abcd"...),
		"junk before":    append(append(bytes.Clone(plain[:12]), "JUNK\x03\x00\x00\x00abc\x00"...), plain[12:]...),
	} {
		a, err := ReadAudio(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(a.WAV, plain) || a.Rate != 22050 || a.Frames != 22050 || a.Seconds != 1 || a.Peak < 0.49 || a.Peak > 0.51 {
			t.Errorf("%s: %d frames at %d, %.2f s, peak %.2f", name, a.Frames, a.Rate, a.Seconds, a.Peak)
		}
	}
}

func TestReadAudioRefuses(t *testing.T) {
	plain := wav(22050, tone(22050, 1, 0.5))
	short16 := func(off int, v uint16) []byte {
		b := bytes.Clone(plain)
		binary.LittleEndian.PutUint16(b[off:], v)
		return b
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":        {nil, "not a WAV"},
		"text":           {[]byte("Error: no such voice, and some more"), "not a WAV"},
		"header only":    {plain[:44], "announced"},
		"no samples":     {wav(22050, nil), "silent"},
		"no data":        {plain[:36], "no samples"},
		"cut":            {plain[:len(plain)-2], "announced"},
		"odd stream":     {put(plain, 40, 0x7ffff000)[:len(plain)-1], "last sample is cut"},
		"float":          {short16(20, 3), "format 3"},
		"stereo":         {short16(22, 2), "2 channels"},
		"8 bits":         {short16(34, 8), "8 bits"},
		"block":          {short16(32, 4), "format"},
		"rate":           {put(plain, 24, 96000), "sample rate"},
		"byte rate":      {put(plain, 28, 7), "sample rate"},
		"format missing": {append(bytes.Clone(plain[:12]), plain[36:]...), "no format"},
		"format cut":     {append(bytes.Clone(plain[:16]), 0xff, 0xff, 0xff, 0x7f), "cut"},
		"zeros":          {wav(22050, make([]byte, 44100)), "silent"},
		"dither":         {wav(22050, bytes.Repeat([]byte{1, 0, 0xff, 0xff}, 11025)), "silent"},
		"one click":      {wav(22050, append(make([]byte, 44100), 0xff, 0x3f)), "silent"},
		"too long":       {wav(8000, tone(8000, 30.5, 0.5)), "seconds"},
		"too big":        {wav(48000, tone(48000, 44, 0.5)), "bytes"},
	} {
		if a, err := ReadAudio(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, wanted %q (%v)", name, err, c.want, a != nil)
		}
	}
}

// Whatever bytes come, ReadAudio answers, and what it accepts it accepts again unchanged.
func TestReadAudioIsTotal(t *testing.T) {
	plain := wav(8000, tone(8000, 0.1, 0.5))
	rapid.Check(t, func(t *rapid.T) {
		data := bytes.Clone(plain)
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			data[rapid.IntRange(0, 60).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		data = data[:rapid.IntRange(0, len(data)).Draw(t, "length")]
		a, err := ReadAudio(data)
		if err != nil {
			return
		}
		again, err := ReadAudio(a.WAV)
		if err != nil || !bytes.Equal(again.WAV, a.WAV) || len(a.WAV) != 44+2*a.Frames {
			t.Fatalf("%v", err)
		}
	})
}

func TestTailTellsACutSound(t *testing.T) {
	samples := tone(22050, 1, 0.5)
	whole, err := ReadAudio(wav(22050, samples))
	if err != nil || whole.tail() > maxTail {
		t.Errorf("a faded tone has tail %.2f (%v)", whole.tail(), err)
	}
	cut, err := ReadAudio(wav(22050, samples[:len(samples)/2]))
	if err != nil || cut.tail() < maxTail {
		t.Errorf("a cut tone has tail %.2f (%v)", cut.tail(), err)
	}
}
