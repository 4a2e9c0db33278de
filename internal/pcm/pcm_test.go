package pcm

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestDecodeValues(t *testing.T) {
	f32 := func(v ...float32) []byte {
		var b []byte
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		return b
	}
	f64 := func(v ...float64) []byte {
		var b []byte
		for _, x := range v {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
		return b
	}
	for _, c := range []struct {
		e    Encoding
		src  []byte
		want []float32
	}{
		{U8, []byte{0, 128, 255, 64}, []float32{-1, 0, 127. / 128, -0.5}},
		{S16, []byte{0, 0x80, 0xff, 0x7f, 0, 0, 0, 0x40, 0xff, 0xff}, []float32{-1, 32767. / 32768, 0, 0.5, -1. / 32768}},
		{S24, []byte{0, 0, 0x80, 0xff, 0xff, 0x7f, 0, 0, 0x40, 0xff, 0xff, 0xff}, []float32{-1, 8388607. / 8388608, 0.5, -1. / 8388608}},
		{S32, []byte{0, 0, 0, 0x80, 0, 0, 0, 0x40, 0, 0, 0, 0}, []float32{-1, 0.5, 0}},
		{F32, f32(1.5, -0.25, 0), []float32{1.5, -0.25, 0}},
		{F64, f64(-0.5, 2, 1e-3), []float32{-0.5, 2, 1e-3}},
	} {
		t.Run(c.e.String(), func(t *testing.T) {
			got := make([]float32, len(c.want)+1)
			if n := Decode(got, c.src, c.e); n != len(c.want) {
				t.Fatalf("%d samples, want %d", n, len(c.want))
			}
			for i, w := range c.want {
				if got[i] != w {
					t.Errorf("sample %d: %v, want %v", i, got[i], w)
				}
			}
			if n := Decode(got, c.src[:len(c.src)-1], c.e); n != len(c.want)-1 {
				t.Errorf("a torn last sample was counted: %d", n)
			}
			if n := Decode(got[:1], c.src, c.e); n != 1 {
				t.Errorf("a short destination took %d samples", n)
			}
		})
	}
	if Decode(make([]float32, 4), make([]byte, 16), Encoding(0)) != 0 {
		t.Error("an encoding that does not exist gave samples")
	}
}

func TestFromIntsEqualsDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := rapid.SliceOfN(rapid.Byte(), 12, 240).Draw(t, "bytes")
		src = src[:len(src)/12*12]
		for _, e := range []Encoding{U8, S16, S24, S32} {
			ints := make([]int, len(src)/e.Size())
			for i := range ints {
				b := append([]byte(nil), src[i*e.Size():(i+1)*e.Size()]...)
				if e == U8 {
					ints[i] = int(b[0])
					continue
				}
				shift := 8 * (8 - e.Size())
				b = append(make([]byte, 8-e.Size()), b...)
				ints[i] = int(int64(binary.LittleEndian.Uint64(b)) >> shift)
			}
			a, b := make([]float32, len(ints)), make([]float32, len(ints))
			if Decode(a, src, e) != len(ints) || FromInts(b, ints, e) != len(ints) {
				t.Fatalf("%v: wrong counts", e)
			}
			for i := range a {
				if a[i] != b[i] {
					t.Fatalf("%v sample %d: %v and %v", e, i, a[i], b[i])
				}
			}
		}
	})
}

func TestRoundTripS16(t *testing.T) {
	all := make([]byte, 0, 2<<16)
	for v := math.MinInt16; v <= math.MaxInt16; v++ {
		all = binary.LittleEndian.AppendUint16(all, uint16(int16(v)))
	}
	samples := make([]float32, 1<<16)
	Decode(samples, all, S16)
	back := make([]byte, len(all))
	if PutS16(back, samples) != 1<<16 || !bytes.Equal(back, all) {
		t.Fatal("16-bit samples don't survive float32 and back")
	}
}

func TestToS16(t *testing.T) {
	for v, want := range map[float32]int16{
		1: 32767, 2: 32767, -1: -32768, -7: -32768, 0: 0, 0.5: 16384,
		float32(math.Inf(1)): 32767, float32(math.Inf(-1)): -32768,
		0.4 / 32768: 0, 0.6 / 32768: 1, -0.6 / 32768: -1,
	} {
		if got := ToS16(v); got != want {
			t.Errorf("ToS16(%v) = %d, want %d", v, got, want)
		}
	}
	if ToS16(float32(math.NaN())) != 0 {
		t.Error("NaN is not silence")
	}
}

func TestMix(t *testing.T) {
	src := []float32{1, -1, 0.5, 0.25, 1, 1, 9}
	dst := make([]float32, 8)
	if n := Mix(dst, src, 2); n != 3 || dst[0] != 0 || dst[1] != 0.375 || dst[2] != 1 {
		t.Errorf("stereo: %d %v", n, dst)
	}
	if n := Mix(src, src, 2); n != 3 || src[0] != 0 || src[1] != 0.375 || src[2] != 1 {
		t.Errorf("in place: %d %v", n, src)
	}
	if n := Mix(dst, []float32{0.5, 0.25}, 1); n != 2 || dst[1] != 0.25 {
		t.Errorf("mono: %d %v", n, dst)
	}
	if Mix(dst, src, 0) != 0 {
		t.Error("no channels gave frames")
	}
}

func TestClamp(t *testing.T) {
	s := []float32{1, -1, 1.5, -3, float32(math.Inf(1)), 0}
	if n := Clamp(s); n != 3 || s[2] != 1 || s[3] != -1 || s[4] != 1 {
		t.Errorf("%d %v", n, s)
	}
}

func TestWAVHeader(t *testing.T) {
	b := WAV([]float32{0, 0.5, -1}, 16000)
	want := []byte("RIFF\x2a\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data\x06\x00\x00\x00" +
		"\x00\x00\x00\x40\x00\x80")
	if !bytes.Equal(b, want) {
		t.Errorf("got  %q\nwant %q", b, want)
	}
}

func TestLevels(t *testing.T) {
	if v := DBFS(1); v != 0 {
		t.Errorf("full scale is %v dBFS", v)
	}
	if v := DBFS(0); v != Quietest {
		t.Errorf("nothing is %v dBFS", v)
	}
	if v := DBFS(math.NaN()); v != Quietest {
		t.Errorf("NaN is %v dBFS", v)
	}
	if v := DBFS(Gain(-37)); math.Abs(v+37) > 1e-9 {
		t.Errorf("-37 dB and back is %v", v)
	}
	s := []float32{3, -4}
	if Peak(s) != 4 || math.Abs(RMS(s)-math.Sqrt(12.5)) > 1e-12 || Peak(nil) != 0 || RMS(nil) != 0 {
		t.Error("peak or rms")
	}
}
