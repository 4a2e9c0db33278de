// Package pcm converts samples: from the encodings of a WAV file to float32 and back, many channels
// to one, amplitudes to decibels. It is pure arithmetic, without dither and without state, so equal
// input gives equal bits.
package pcm

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Encoding is how one sample stands in a file; all are little endian.
type Encoding uint8

// The encodings. U8 is unsigned with its zero at 128, as WAV has it.
const (
	U8 Encoding = iota + 1
	S16
	S24
	S32
	F32
	F64
)

var encodings = map[Encoding]struct {
	name string
	size int
}{
	U8:  {"u8", 1},
	S16: {"s16", 2},
	S24: {"s24", 3},
	S32: {"s32", 4},
	F32: {"f32", 4},
	F64: {"f64", 8},
}

// Size is the number of bytes of one sample.
func (e Encoding) Size() int { return encodings[e].size }

func (e Encoding) String() string {
	if d, ok := encodings[e]; ok {
		return d.name
	}
	return fmt.Sprintf("encoding(%d)", uint8(e))
}

// Full scale of the integer encodings: the most negative sample becomes exactly −1.
const (
	scale8  = 1 << 7
	scale16 = 1 << 15
	scale24 = 1 << 23
	scale32 = 1 << 31
)

// Decode converts whole samples from src to dst until either ends, and returns how many. Integers
// land in [−1, 1). Floats are taken as they are: out of range, infinite and NaN values pass, since
// what to do with them is the reader's decision. (An f64 beyond float32 becomes infinite.)
func Decode(dst []float32, src []byte, e Encoding) int {
	size := e.Size()
	if size == 0 {
		return 0
	}
	n := min(len(dst), len(src)/size)
	dst, src = dst[:n], src[:n*size]
	switch e {
	case U8:
		for i, b := range src {
			dst[i] = float32(int(b)-scale8) / scale8
		}
	case S16:
		for i := range dst {
			dst[i] = float32(int16(binary.LittleEndian.Uint16(src[2*i:]))) / scale16
		}
	case S24:
		for i := range dst {
			b := src[3*i : 3*i+3]
			v := int32(uint32(b[0])<<8|uint32(b[1])<<16|uint32(b[2])<<24) >> 8
			dst[i] = float32(v) / scale24
		}
	case S32:
		for i := range dst {
			dst[i] = float32(int32(binary.LittleEndian.Uint32(src[4*i:]))) / scale32
		}
	case F32:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
	case F64:
		for i := range dst {
			dst[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:])))
		}
	}
	return n
}

// FromInts converts integers of an encoding that were already taken out of their bytes (U8 still
// unsigned), as a decoder library hands them over. It gives the same bits as Decode; a float
// encoding gives nothing.
func FromInts(dst []float32, src []int, e Encoding) int {
	n := min(len(dst), len(src))
	dst, src = dst[:n], src[:n]
	var zero int
	var scale float32
	switch e {
	case U8:
		zero, scale = scale8, scale8
	case S16:
		scale = scale16
	case S24:
		scale = scale24
	case S32:
		scale = scale32
	case F32, F64:
		return 0
	}
	for i, v := range src {
		dst[i] = float32(v-zero) / scale
	}
	return n
}

// Mix averages interleaved channels into one and returns the number of frames. dst and src may be
// the same slice. A trailing part of a frame is left out. The mean can't clip, and a channel that
// holds nothing costs 6 dB, which a speech gate and a recogniser don't mind.
func Mix(dst, src []float32, channels int) int {
	if channels < 1 {
		return 0
	}
	n := min(len(dst), len(src)/channels)
	if channels == 1 {
		return copy(dst[:n], src)
	}
	for i := range n {
		var sum float64
		for _, v := range src[i*channels : (i+1)*channels] {
			sum += float64(v)
		}
		dst[i] = float32(sum / float64(channels))
	}
	return n
}

// Clamp brings every sample into [−1, 1] and returns how many were outside. NaN stays.
func Clamp(samples []float32) int {
	n := 0
	for i, v := range samples {
		if v > 1 {
			samples[i] = 1
			n++
		} else if v < -1 {
			samples[i] = -1
			n++
		}
	}
	return n
}

// ToS16 rounds to the nearest 16-bit sample, half away from zero, and saturates. NaN is 0.
func ToS16(v float32) int16 {
	f := math.Round(float64(v) * scale16)
	if f >= scale16-1 {
		return scale16 - 1
	}
	if f <= -scale16 {
		return -scale16
	}
	if f != f {
		return 0
	}
	return int16(f)
}
