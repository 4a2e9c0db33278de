package convert

import (
	"encoding/binary"
	"math"
	"slices"
)

// kind is the type of the numbers of an input tensor.
type kind uint8

const (
	kindOther kind = iota // nothing that can be converted
	kindF32
	kindF16
	kindBF16
)

func (k kind) size() int64 {
	if k == kindF32 {
		return 4
	}
	return 2
}

var little = binary.LittleEndian

// The loops over all numbers of a model are kept out of the race detector, which would make
// them fifty times as slow: they read src and write dst of the one goroutine that calls them.

// toHalf appends the numbers of src as f16. False when one of them is no number of f16's range.
//
//go:norace
func toHalf(dst, src []byte, k kind) ([]byte, bool) {
	if k == kindF16 {
		for i := 1; i < len(src); i += 2 {
			if src[i]&0x7c == 0x7c {
				return dst, false
			}
		}
		return append(dst, src...), true
	}
	step, start := int(k.size()), len(dst)
	dst = slices.Grow(dst, 2*len(src)/step)[:start+2*(len(src)/step)]
	for out := dst[start:]; len(out) > 0; src, out = src[step:], out[2:] {
		var f uint32
		if k == kindF32 {
			f = little.Uint32(src)
		} else {
			f = uint32(little.Uint16(src)) << 16
		}
		h, ok := half(f)
		if !ok {
			return dst[:start], false
		}
		little.PutUint16(out, h)
	}
	return dst, true
}

// toFull appends the numbers of src as f32. False when one of them is not finite.
//
//go:norace
func toFull(dst, src []byte, k kind) ([]byte, bool) {
	step, start := int(k.size()), len(dst)
	dst = slices.Grow(dst, 4*len(src)/step)[:start+4*(len(src)/step)]
	for out := dst[start:]; len(out) > 0; src, out = src[step:], out[4:] {
		var f uint32
		switch k {
		case kindF32:
			f = little.Uint32(src)
		case kindF16:
			f = full(little.Uint16(src))
		case kindBF16, kindOther: // assemble lets no other kind through
			f = uint32(little.Uint16(src)) << 16
		}
		if f&0x7f800000 == 0x7f800000 {
			return dst[:start], false
		}
		little.PutUint32(out, f)
	}
	return dst, true
}

// half rounds the f32 with these bits to the nearest f16, ties to even. False when it is
// not finite or too large.
//
//go:norace
func half(f uint32) (uint16, bool) {
	sign := f >> 16 & 0x8000
	exp := int32(f>>23&0xff) - 112
	man := f & 0x7fffff
	if exp >= 31 {
		return 0, false
	}
	shift := uint32(13)
	h := uint32(0)
	if exp > 0 {
		h = uint32(exp) << 10
	} else { // subnormal: the hidden bit becomes visible
		if exp < -10 {
			return uint16(sign), true
		}
		man |= 0x800000
		shift = uint32(14 - exp)
	}
	h += man >> shift
	rest, tie := man&(1<<shift-1), uint32(1)<<(shift-1)
	if rest > tie || rest == tie && h&1 == 1 {
		h++ // a carry into the exponent is what rounding up means
	}
	return uint16(sign | h), h < 0x7c00
}

// full returns the bits of the f32 that equals the f16 with these bits.
//
//go:norace
func full(h uint16) uint32 {
	sign := uint32(h&0x8000) << 16
	exp, man := uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch {
	case exp == 31:
		return sign | 0x7f800000 | man<<13
	case exp == 0:
		return sign | math.Float32bits(float32(man)*(1.0/(1<<24)))
	}
	return sign | (exp+112)<<23 | man<<13
}

func appendFloat(b []byte, v float32) []byte { return little.AppendUint32(b, math.Float32bits(v)) }
