package convert

import (
	"encoding/binary"
	"math"
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

// toHalf appends the numbers of src as f16. False when one of them is no number of f16's range.
func toHalf(dst, src []byte, k kind) ([]byte, bool) {
	switch k {
	case kindF16:
		ok := true
		for i := 0; i+1 < len(src); i += 2 {
			ok = ok && src[i+1]&0x7c != 0x7c
		}
		return append(dst, src...), ok
	case kindF32:
		for ; len(src) >= 4; src = src[4:] {
			h, ok := half(little.Uint32(src))
			if !ok {
				return dst, false
			}
			dst = append(dst, byte(h), byte(h>>8))
		}
	case kindBF16:
		for ; len(src) >= 2; src = src[2:] {
			h, ok := half(uint32(little.Uint16(src)) << 16)
			if !ok {
				return dst, false
			}
			dst = append(dst, byte(h), byte(h>>8))
		}
	case kindOther:
		return dst, false
	}
	return dst, true
}

// toFull appends the numbers of src as f32. False when one of them is not finite.
func toFull(dst, src []byte, k kind) ([]byte, bool) {
	step := int(k.size())
	for ; len(src) >= step; src = src[step:] {
		var f uint32
		switch k {
		case kindF32:
			f = little.Uint32(src)
		case kindF16:
			f = full(little.Uint16(src))
		case kindBF16:
			f = uint32(little.Uint16(src)) << 16
		case kindOther:
			return dst, false
		}
		if f&0x7f800000 == 0x7f800000 {
			return dst, false
		}
		dst = little.AppendUint32(dst, f)
	}
	return dst, true
}

// half rounds the f32 with these bits to the nearest f16, ties to even. False when it is
// not finite or too large.
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
