package convert

import (
	"math"
	"math/rand/v2"
	"testing"
)

// value is what an f16 means, by its definition.
func value(h uint16) float64 {
	exp, man := int(h>>10&0x1f), float64(h&0x3ff)
	v := math.Ldexp(1024+man, exp-25)
	if exp == 0 {
		v = math.Ldexp(man, -24)
	}
	return math.Copysign(v, 0.5-float64(h>>15))
}

func TestEveryHalfIsExact(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		if h&0x7c00 == 0x7c00 {
			continue
		}
		f := full(h)
		if got := float64(math.Float32frombits(f)); got != value(h) || math.Signbit(got) != (h>>15 == 1) {
			t.Fatalf("full(%#04x) = %v, want %v", h, got, value(h))
		}
		if back, ok := half(f); !ok || back != h {
			t.Fatalf("half(full(%#04x)) = %#04x, %v", h, back, ok)
		}
	}
}

// nearest rounds by trying: the neighbours of v among all halves of its sign.
func nearest(v float32) uint16 {
	sign := uint16(math.Float32bits(v) >> 16 & 0x8000)
	abs := math.Abs(float64(v))
	low, high := uint16(0), uint16(0x7bff)
	for high-low > 1 {
		if mid := (low + high) / 2; value(mid) <= abs {
			low = mid
		} else {
			high = mid
		}
	}
	a, b := abs-value(low), value(high)-abs
	if a < b || a == b && low&1 == 0 {
		return sign | low
	}
	return sign | high
}

func TestHalfRoundsToNearestEven(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	try := func(bits uint32) {
		v := math.Float32frombits(bits)
		if math.Abs(float64(v)) > 65504 || v != v {
			return
		}
		if got, ok := half(bits); !ok || got != nearest(v) {
			t.Fatalf("half(%v = %#08x) = %#04x, %v, want %#04x", v, bits, got, ok, nearest(v))
		}
	}
	for range 20000 {
		try(rng.Uint32())
		h := uint16(rng.Uint32())
		if h&0x7c00 == 0x7c00 {
			continue
		}
		// Ties and their neighbours: half a step above a half.
		tie := math.Float32bits(float32((value(h) + value(h&0x8000|(h+1)&0x7fff)) / 2))
		try(tie)
		try(tie + 1)
		try(tie - 1)
	}
}

func TestNumbersThatDoNotFit(t *testing.T) {
	for _, v := range []float32{65520, -65520, 1e10, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())} {
		if h, ok := half(math.Float32bits(v)); ok {
			t.Errorf("half(%v) = %#04x, want a refusal", v, h)
		}
	}
	if h, ok := half(math.Float32bits(65519)); !ok || h != 0x7bff {
		t.Errorf("half(65519) = %#04x, %v, want the largest half", h, ok)
	}
	inf := []byte{0x00, 0x7c}
	if _, ok := toHalf(nil, inf, kindF16); ok {
		t.Error("an infinite f16 was copied")
	}
	if _, ok := toFull(nil, inf, kindF16); ok {
		t.Error("an infinite f16 was widened")
	}
	if _, ok := toFull(nil, []byte{0x80, 0x7f}, kindBF16); ok {
		t.Error("an infinite bf16 was widened")
	}
}

func TestMelFilters(t *testing.T) {
	for _, bands := range []int{80, 128} {
		m := melFilters(bands)
		if len(m) != bands*fftBins {
			t.Fatalf("%d bands: %d numbers", bands, len(m))
		}
		if math.Float32bits(m[0]) != 0 {
			t.Errorf("%d bands: the first entry is %v, want +0", bands, m[0])
		}
		last := 0.0
		for b := range bands {
			sum, center := 0.0, 0.0
			for k, v := range m[b*fftBins : (b+1)*fftBins] {
				if v < 0 {
					t.Fatalf("band %d has the weight %v", b, v)
				}
				sum += float64(v)
				center += float64(v) * float64(k)
			}
			if sum > 0 { // with many bands the narrowest ones fall between two bins
				if center /= sum; center < last {
					t.Errorf("%d bands: band %d has its centre at bin %v, the one before at %v", bands, b, center, last)
				}
				last = center
			}
		}
	}
}
