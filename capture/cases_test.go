package capture

import (
	"bytes"
	"math"
	"slices"
)

// wavCase is one row of docs/wav.md: the page and the code must give the same answer.
type wavCase struct {
	name string
	data []byte
}

// wavCases is the table that the page, the tests and the fuzz seeds share.
func wavCases() []wavCase {
	f := mono16
	fc, pcm16 := f.chunk(), hum(f, 160)
	dc := ck("data", pcm16)
	good := file(fc, dc)
	u8 := fm{tag: tagPCM, channels: 1, rate: 16000, bits: 8}
	s24x2 := fm{tag: tagPCM, channels: 2, rate: 44100, bits: 24}
	s32 := fm{tag: tagPCM, channels: 1, rate: 48000, bits: 32}
	f32 := fm{tag: tagFloat, channels: 1, rate: 16000, bits: 32}
	f64 := fm{tag: tagFloat, channels: 1, rate: 16000, bits: 64}
	simple := func(f fm) []byte { return file(f.chunk(), ck("data", hum(f, 160))) }
	odd := []byte("INFOISFT\x03\x00\x00\x00abc")
	fmtSize := func(n int) []byte {
		return file(ck("fmt ", append(f.bytes(), make([]byte, n-16)...)), dc)
	}
	floats := func(f fm, v ...float64) []byte { return file(f.chunk(), ck("data", encode(f, v))) }
	tagged := func(tag int) []byte {
		f := f
		f.tag = tag
		return file(f.chunk(), dc)
	}
	rf64 := func(id string, dataSize uint64) []byte {
		rest := raw([]byte("WAVE"), ds64Chunk(0, dataSize, 160), fc, sized("data", 0xffffffff), pcm16)
		rest = raw([]byte("WAVE"), ds64Chunk(uint64(len(rest)), dataSize, 160), fc, sized("data", 0xffffffff), pcm16)
		return raw(sized(id, 0xffffffff), rest)
	}
	piped := func(riff, data uint32, body []byte) []byte {
		return raw(sized("RIFF", riff), []byte("WAVE"), fc, sized("data", data), body)
	}
	cs := []wavCase{
		{"PCM 8 bits", simple(u8)},
		{"PCM 16 bits", good},
		{"PCM 24 bits, two channels, 44.1 kHz", simple(s24x2)},
		{"PCM 32 bits, 48 kHz", simple(s32)},
		{"float 32 bits", simple(f32)},
		{"float 64 bits", simple(f64)},
		{"8 kHz", simple(fm{tag: tagPCM, channels: 1, rate: 8000, bits: 16})},
		{"192 kHz, 8 channels", simple(fm{tag: tagPCM, channels: 8, rate: 192000, bits: 16})},
		{"extensible, PCM 24 bits", simple(s24x2.extensible(24))},
		{"extensible, 20 valid bits in 24", simple(s24x2.extensible(20))},
		{"extensible, float 32 bits", simple(f32.extensible(32))},
		{"extensible, A-law inside", simple(fm{tag: 6, channels: 1, rate: 8000, bits: 8}.extensible(8))},
		{"extensible, unknown GUID", with(simple(s24x2.extensible(24)), 20+30, 0x55)},
		{"extensible, more valid bits than bits", simple(s24x2.extensible(32))},
		{"extensible tag, fmt of 16 bytes", tagged(tagExtensible)},
		{"fmt of 14 bytes", file(ck("fmt ", f.bytes()[:14]), dc)},
		{"fmt of 16 bytes", good},
		{"fmt of 18 bytes", fmtSize(18)},
		{"fmt of 40 bytes, plain PCM", fmtSize(40)},
		{"fmt with an extension longer than itself", file(ck("fmt ", append(f.bytes(), 22, 0)), dc)},
		{"JUNK before fmt", file(ck("JUNK", make([]byte, 28)), fc, dc)},
		{"LIST of odd size with pad byte", file(ck("LIST", odd), fc, dc)},
		{"LIST of odd size without pad byte", file(raw(sized("LIST", uint32(len(odd))), odd), fc, dc)},
		{"LIST after the data", file(fc, dc, ck("LIST", odd))},
		{"chunk names inside a chunk", file(ck("LIST", raw([]byte("INFO"), sized("data", 4), []byte("fmt data"))), fc, dc)},
		{"odd data without pad byte", file(u8.chunk(), raw(sized("data", 161), hum(u8, 161)))},
		{"no fmt", file(dc)},
		{"fmt after data", file(dc, fc)},
		{"two fmt", file(fc, fc, dc)},
		{"no data", file(fc)},
		{"two data", file(fc, dc, dc)},
		{"data size 0xFFFFFFFF from a pipe", piped(0xffffffff, 0xffffffff, pcm16)},
		{"data size 0x7FFFF000 from a pipe", piped(0x7ffff024, 0x7ffff000, pcm16)},
		{"data size 0x80000000 from a pipe", piped(0x80000024, 0x80000000, pcm16)},
		{"data size 0 from a pipe", piped(0, 0, pcm16)},
		{"pipe ended inside a frame", piped(0xffffffff, 0xffffffff, pcm16[:len(pcm16)-1])},
		{"pipe ended before the first frame", piped(0xffffffff, 0xffffffff, nil)},
		{"RF64", rf64("RF64", uint64(len(pcm16)))},
		{"BW64", rf64("BW64", uint64(len(pcm16)))},
		{"RF64 from a pipe", rf64("RF64", 0)},
		{"RF64, more data than there is", rf64("RF64", uint64(len(pcm16)+2))},
		{"RF64, sizes that disagree", raw(sized("RF64", 0xffffffff), []byte("WAVE"), ds64Chunk(400, uint64(len(pcm16)), 160), fc, sized("data", 8), pcm16)},
		{"RF64 without ds64", with(good, 0, 'R', 'F', '6', '4')},
		{"RF64 with a short ds64", raw(sized("RF64", 0xffffffff), []byte("WAVE"), ck("ds64", make([]byte, 8)), fc, dc)},
		{"data not a whole number of frames", file(fc, ck("data", pcm16[:len(pcm16)-1]))},
		{"header says more frames than there are", good[:len(good)-100]},
		{"huge claimed size", with(good, 40, 0xff, 0xff, 0xff, 0x1f)},
		{"cut inside a chunk before the data", raw(good[:36], sized("LIST", 1000), []byte("INFO"))},
		{"cut inside a chunk header", good[:40]},
		{"cut after the data", file(fc, dc, ck("LIST", odd))[:44+len(pcm16)+10]},
		{"bytes after the last chunk", raw(good, []byte("abc"))},
		{"another RIFF after the first", raw(good, good)},
		{"RIFF size wrong", with(good, 4, 1, 2, 3, 4)},
		{"zero frames", file(fc, ck("data", nil))},
		{"zero frames, then LIST", file(fc, ck("data", nil), ck("LIST", odd))},
		{"longer than 300 s", file(u8.chunk(), ck("data", make([]byte, 300*16000+1)))},
		{"float sample NaN", floats(f32, 0, math.NaN())},
		{"float sample infinite", floats(f64, 0, math.Inf(1))},
		{"float samples beyond ±1", floats(f32, 0, 1.5, -2, 0.5)},
		{"float 64 beyond float 32", floats(f64, 0, 1e300)},
		{"A-law", tagged(6)},
		{"µ-law", tagged(7)},
		{"ADPCM", tagged(2)},
		{"MP3 inside WAV", tagged(0x55)},
		{"unknown coding", tagged(0x7777)},
		{"12 bits", file(fm{tag: tagPCM, channels: 1, rate: 16000, bits: 12}.chunk(), dc)},
		{"64-bit PCM", file(fm{tag: tagPCM, channels: 1, rate: 16000, bits: 64}.chunk(), dc)},
		{"float 16 bits", file(fm{tag: tagFloat, channels: 1, rate: 16000, bits: 16}.chunk(), dc)},
		{"no channels", file(fm{tag: tagPCM, channels: 0, rate: 16000, bits: 16, align: 2}.chunk(), dc)},
		{"9 channels", simple(fm{tag: tagPCM, channels: 9, rate: 16000, bits: 16})},
		{"rate 0", file(fm{tag: tagPCM, channels: 1, rate: 0, bits: 16, byteRate: 1}.chunk(), dc)},
		{"rate 7999", simple(fm{tag: tagPCM, channels: 1, rate: 7999, bits: 16})},
		{"rate 192001", simple(fm{tag: tagPCM, channels: 1, rate: 192001, bits: 16})},
		{"block align wrong", file(fm{tag: tagPCM, channels: 1, rate: 16000, bits: 16, align: 4}.chunk(), dc)},
		{"byte rate wrong", file(fm{tag: tagPCM, channels: 1, rate: 16000, bits: 16, byteRate: 1}.chunk(), dc)},
		{"empty file", nil},
		{"three bytes of RIFF", []byte("RIF")},
		{"text", []byte("choď na 10 64 -5\n")},
		{"MP3", raw([]byte("\xff\xfb\x90\x44"), make([]byte, 400))},
		{"MP3 with ID3", raw([]byte("ID3\x04\x00"), make([]byte, 400))},
		{"Ogg", raw([]byte("OggS\x00\x02"), make([]byte, 400))},
		{"FLAC", raw([]byte("fLaC"), make([]byte, 400))},
		{"AVI", with(good, 8, 'A', 'V', 'I', ' ')},
		{"big-endian RIFX", with(good, 0, 'R', 'I', 'F', 'X')},
		{"zeros", make([]byte, 500)},
	}
	for i := range cs {
		cs[i].data = slices.Clone(cs[i].data)
	}
	return cs
}

// many is a file of nothing but empty chunks.
func many(n int) []byte {
	return file(bytes.Repeat(ck("JUNK", nil), n))
}
