package capture

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
)

// file joins a RIFF header with the right size and chunks.
func file(chunks ...[]byte) []byte {
	body := append([]byte("WAVE"), bytes.Join(chunks, nil)...)
	return append(sized("RIFF", uint32(len(body))), body...)
}

func sized(id string, size uint32) []byte {
	return binary.LittleEndian.AppendUint32([]byte(id), size)
}

// ck is a chunk with its pad byte.
func ck(id string, body []byte) []byte {
	out := append(sized(id, uint32(len(body))), body...)
	if len(body)%2 == 1 {
		out = append(out, 0)
	}
	return out
}

type fm struct {
	tag, channels, rate, bits int
	align, byteRate           int // 0: right
	ext                       []byte
}

func (f fm) bytes() []byte {
	align := f.align
	if align == 0 {
		align = f.channels * ((f.bits + 7) / 8)
	}
	byteRate := f.byteRate
	if byteRate == 0 {
		byteRate = f.rate * align
	}
	var b []byte
	le := binary.LittleEndian
	b = le.AppendUint16(b, uint16(f.tag))
	b = le.AppendUint16(b, uint16(f.channels))
	b = le.AppendUint32(b, uint32(f.rate))
	b = le.AppendUint32(b, uint32(byteRate))
	b = le.AppendUint16(b, uint16(align))
	b = le.AppendUint16(b, uint16(f.bits))
	return append(b, f.ext...)
}

func (f fm) chunk() []byte { return ck("fmt ", f.bytes()) }

// extensible is f as an extensible header with its tag in the GUID.
func (f fm) extensible(valid int) fm {
	le := binary.LittleEndian
	e := le.AppendUint16(nil, 22)
	e = le.AppendUint16(e, uint16(valid))
	e = le.AppendUint32(e, 0)
	e = le.AppendUint16(e, uint16(f.tag))
	e = append(e, guidTail...)
	f.tag, f.ext = tagExtensible, e
	return f
}

var mono16 = fm{tag: tagPCM, channels: 1, rate: 16000, bits: 16}

// encode writes a signal of −1…1 in any format, the same in every channel.
func encode(f fm, samples []float64) []byte {
	var out []byte
	le := binary.LittleEndian
	if f.tag == tagExtensible {
		f.tag = int(le.Uint16(f.ext[8:]))
	}
	for _, v := range samples {
		for range f.channels {
			switch {
			case f.tag == tagFloat && f.bits == 32:
				out = le.AppendUint32(out, math.Float32bits(float32(v)))
			case f.tag == tagFloat:
				out = le.AppendUint64(out, math.Float64bits(v))
			case f.bits == 8:
				out = append(out, byte(math.Round(v*127)+128))
			case f.bits == 16:
				out = le.AppendUint16(out, uint16(int16(math.Round(v*32767))))
			case f.bits == 24:
				n := uint32(int32(math.Round(v * 8388607)))
				out = append(out, byte(n), byte(n>>8), byte(n>>16))
			case f.bits == 32:
				out = le.AppendUint32(out, uint32(int32(math.Round(v*2147483647))))
			}
		}
	}
	return out
}

// tone is a sine of half scale.
func tone(hz float64, rate, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 0.5 * math.Sin(2*math.Pi*hz*float64(i)/float64(rate))
	}
	return out
}

// hum is a short valid data chunk content for f.
func hum(f fm, frames int) []byte { return encode(f, tone(440, f.rate, frames)) }

// with replaces bytes of a copy.
func with(b []byte, at int, repl ...byte) []byte {
	b = slices.Clone(b)
	copy(b[at:], repl)
	return b
}

// raw joins pieces as they are, for headers that lie.
func raw(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func ds64Chunk(riff, data, frames uint64) []byte {
	le := binary.LittleEndian
	b := le.AppendUint64(nil, riff)
	b = le.AppendUint64(b, data)
	b = le.AppendUint64(b, frames)
	b = le.AppendUint32(b, 0)
	return ck("ds64", b)
}
