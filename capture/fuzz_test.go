package capture

import (
	"bytes"
	"fmt"
	"math"
	"runtime/metrics"
	"testing"
)

// slack is the constant beside the multiple of the file: blocks, the decoder, an error's text, and
// what the runtime counts late.
const slack = 256 << 10

// bound is the documented limit of what Decode may allocate for data.
func bound(data []byte, c *Clip) uint64 {
	factor := 4
	if c != nil && c.Format.Channels == 1 {
		switch {
		case c.Format.Bits == 8 && c.Format.Rate < Rate:
			factor = 8
		case c.Format.Bits == 16 && c.Format.Rate < 10700:
			factor = 5
		}
	}
	return uint64(factor*len(data) + slack)
}

func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// cost is what Decode allocates for data. The runtime counts for the whole process, so the least of
// some tries is what Decode itself needs.
func cost(data []byte) uint64 {
	least := uint64(math.MaxUint64)
	for range 5 {
		before := allocated()
		Decode("cost.wav", data)
		if least = min(least, allocated()-before); least <= slack {
			break
		}
	}
	return least
}

// FuzzDecode: whatever the bytes are, there is a right clip or a helpful error, within the
// documented memory, and what was read can be written and read again.
func FuzzDecode(f *testing.F) {
	for _, c := range wavCases() {
		if len(c.data) < 1<<16 {
			f.Add(c.data)
		}
	}
	f.Add(many(1000))
	f.Fuzz(func(t *testing.T, data []byte) {
		keep := bytes.Clone(data)
		c, err := Decode("fuzz.wav", data)
		if used, limit := cost(data), bound(data, c); used > limit {
			t.Errorf("%d bytes allocated for a file of %d, the limit is %d", used, len(data), limit)
		}
		if fault := integrity(c, err); fault != "" {
			t.Fatalf("%s (%v)", fault, err)
		}
		if !bytes.Equal(data, keep) {
			t.Fatal("the source was changed")
		}
		if err != nil {
			return
		}
		again, err := Decode("again.wav", c.SpeechWAV())
		if err != nil || len(again.Samples) != len(c.Samples) || len(again.Marks) != 0 {
			t.Fatalf("the speech WAV doesn't read back: %v", err)
		}
		Gate(c.Samples)
	})
}

func TestMemoryIsBounded(t *testing.T) {
	for _, k := range []struct{ tag, bits int }{{tagPCM, 8}, {tagPCM, 16}, {tagPCM, 24}, {tagPCM, 32}, {tagFloat, 32}, {tagFloat, 64}} {
		for _, rate := range []int{8000, 16000, 44100} {
			for _, channels := range []int{1, 2, 8} {
				f := fm{tag: k.tag, bits: k.bits, rate: rate, channels: channels}
				frame := channels * k.bits / 8
				t.Run(fmt.Sprintf("%d-%d-%d-%d", k.tag, k.bits, rate, channels), func(t *testing.T) {
					data := file(f.chunk(), ck("data", make([]byte, (1<<19)/frame*frame)))
					c, err := Decode("x", data)
					if err != nil {
						t.Fatal(err)
					}
					if used, limit := cost(data), bound(data, c); used > limit {
						t.Errorf("%d bytes allocated, %.2f × the file of %d; the limit is %d", used, float64(used)/float64(len(data)), len(data), limit)
					}
				})
			}
		}
	}
}

// A header that claims everything and a file that holds nothing.
func TestClaimsCostNothing(t *testing.T) {
	for _, size := range []uint32{0x1fffffff, 0x7fffefff, 0x7ffff000, 0xffffffff} {
		data := raw(sized("RIFF", size), []byte("WAVE"), mono16.chunk(), sized("data", size), make([]byte, 64))
		c, err := Decode("x", data)
		if used := cost(data); used > slack {
			t.Errorf("a claim of %d bytes made it allocate %d", size, used)
		}
		if err == nil && c.Frames != 32 {
			t.Errorf("%d frames", c.Frames)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, f := range []fm{mono16, {tag: tagPCM, channels: 2, rate: 44100, bits: 24}, {tag: tagFloat, channels: 2, rate: 48000, bits: 32}} {
		data := file(f.chunk(), ck("data", hum(f, 3*f.rate)))
		b.Run(fmt.Sprintf("%d-%d-%d", f.rate, f.channels, f.bits), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decode("x", data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
