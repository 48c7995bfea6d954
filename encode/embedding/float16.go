package embedding

import "math"

// narrow rounds x to IEEE 754 binary16, to nearest, ties to even. A value that rounds beyond 65,504 becomes an
// infinity.
func narrow(x float32) uint16 {
	const (
		overflow  = 0x47800000 // 65,536: from here on the result is infinite or NaN
		smallest  = 0x38800000 // 2^-14, the smallest normal binary16
		bias      = 112 << 23  // difference of the exponent biases, shifted to the exponent's place
		alignHalf = 126 << 23  // 0.5: adding it shifts a subnormal's bits to the low end, and the adder rounds them
	)
	bits := math.Float32bits(x)
	sign := uint16(bits >> 16 & 0x8000)
	bits &= 0x7fffffff
	switch {
	case bits >= overflow:
		if bits > 0x7f800000 {
			return sign | 0x7e00 // NaN
		}
		return sign | 0x7c00
	case bits < smallest:
		return sign | uint16(math.Float32bits(math.Float32frombits(bits)+0.5)-alignHalf)
	}
	bits += 0xfff + bits>>13&1 // adds half of the last bit that stays, less one unless that bit is odd
	return sign | uint16((bits-bias)>>13)
}

// Widen converts binary16 to float32, which is exact.
func Widen(h uint16) float32 {
	sign, exponent, fraction := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	if exponent-1 < 30 { // normal: one comparison for the exponents 1 to 30
		return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
	}
	if exponent == 0 {
		subnormal := float32(fraction) * (1.0 / (1 << 24))
		return math.Float32frombits(sign | math.Float32bits(subnormal))
	}
	return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
}

// Float32 writes rows lo to hi-1 to dst [hi-lo, Dim] as float32.
func (m Matrix) Float32(dst []float32, lo, hi int) {
	lo, hi = lo*m.Dim, hi*m.Dim
	dst = dst[:hi-lo]
	if m.F32 != nil {
		copy(dst, m.F32[lo:hi])
		return
	}
	for i, h := range m.F16[lo:hi] {
		dst[i] = Widen(h)
	}
}

// Narrow returns m as float16, rounded to nearest, ties to even. A float16 matrix is returned unchanged.
func Narrow(m Matrix) Matrix {
	if m.F16 != nil {
		return m
	}
	out := Matrix{N: m.N, Dim: m.Dim, F16: make([]uint16, len(m.F32))}
	for i, x := range m.F32 {
		out.F16[i] = narrow(x)
	}
	return out
}
