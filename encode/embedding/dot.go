package embedding

// Dot returns the inner product of two float32 rows [dim] of equal length. It is accumulated in float64 in one fixed
// order and rounded once to float32. Every cosine that the program writes is computed here, so it is the same whichever
// BLAS, CPU or thread count found the pair.
//
// The order: eight interleaved sums (element i is added to sum i mod 8), then a balanced tree over the eight, then the
// remaining elements in order. The product of two float32 values is exact in float64, so a fused multiply-add gives the
// same bits and a SIMD version may replace this one.
func Dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s [8]float64
	i := 0
	for ; i+8 <= len(a); i += 8 {
		for lane := range s {
			s[lane] += float64(a[i+lane]) * float64(b[i+lane])
		}
	}
	sum := ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
	for ; i < len(a); i++ {
		sum += float64(a[i]) * float64(b[i])
	}
	return float32(sum)
}
