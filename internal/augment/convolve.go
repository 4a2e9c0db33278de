package augment

import (
	"math"
	"math/bits"
	"math/cmplx"
)

// convolve returns the full convolution, of length len(a)+len(b)−1; of nothing it is zeros.
func convolve(a, b []float32) []float32 {
	n := len(a) + len(b) - 1
	if len(a) == 0 || len(b) == 0 {
		return make([]float32, max(0, n))
	}
	size := 1 << bits.Len(uint(n-1))
	// Both real signals go through one transform, as real and imaginary part.
	x := make([]complex128, size)
	for i, v := range a {
		x[i] = complex(float64(v), 0)
	}
	for i, v := range b {
		x[i] += complex(0, float64(v))
	}
	transform(x)
	y := make([]complex128, size)
	for i, v := range x {
		w := cmplx.Conj(x[(size-i)%size])
		y[i] = (v + w) * (v - w) / 4i
		y[i] = cmplx.Conj(y[i]) // so that the same transform inverts
	}
	transform(y)
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(real(y[i]) / float64(size))
	}
	return out
}

// transform is the discrete Fourier transform in place; the length is a power of two.
func transform(x []complex128) {
	n := len(x)
	if n < 2 {
		return
	}
	shift := bits.UintSize - bits.Len(uint(n-1))
	for i := range x {
		if j := int(bits.Reverse(uint(i)) >> shift); i < j {
			x[i], x[j] = x[j], x[i]
		}
	}
	roots := make([]complex128, n/2)
	for i := range roots {
		roots[i] = root(i, n)
	}
	for half := 1; half < n; half *= 2 {
		for at := 0; at < n; at += 2 * half {
			for k := range half {
				a, b := x[at+k], x[at+k+half]*roots[k*(n/(2*half))]
				x[at+k], x[at+k+half] = a+b, a-b
			}
		}
	}
}

func root(k, n int) complex128 {
	sin, cos := math.Sincos(-2 * math.Pi * float64(k) / float64(n))
	return complex(cos, sin)
}
