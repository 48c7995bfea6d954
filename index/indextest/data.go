package indextest

import (
	"math"
	"math/rand/v2"

	"bitextmine/encode/embedding"
	"bitextmine/index"
)

// Random returns n unit rows with uniformly distributed directions.
func Random(rng *rand.Rand, n, dim int) []float32 {
	rows := make([]float32, n*dim)
	for i := range rows {
		rows[i] = float32(rng.NormFloat64())
	}
	return Normalise(rows, dim)
}

// Paired returns two sets of n unit rows. Row i of one is near row i of the other, as translations are, and all rows
// share a common direction, as sentence embeddings do.
func Paired(rng *rand.Rand, n, dim int) (a, b []float32) {
	lean := Random(rng, 1, dim)
	a, b = Random(rng, n, dim), Random(rng, n, dim)
	for i := range a {
		a[i] += 0.5 * lean[i%dim]
		b[i] = a[i] + 0.3*b[i]
	}
	return Normalise(a, dim), Normalise(b, dim)
}

// Normalise scales rows to unit length, in place.
func Normalise(rows []float32, dim int) []float32 {
	for lo := 0; lo < len(rows); lo += dim {
		row := rows[lo : lo+dim]
		var sum float64
		for _, v := range row {
			sum += float64(v) * float64(v)
		}
		for i := range row {
			row[i] = float32(float64(row[i]) / math.Sqrt(sum))
		}
	}
	return rows
}

// Float32 returns a side of float32 rows [n, dim].
func Float32(rows []float32, dim int) index.Side {
	return index.Side{Vectors: embedding.FromFloat32(rows, dim)}
}

// Float16 returns a side of the rows [n, dim] in float16, rounded to nearest.
func Float16(rows []float32, dim int) index.Side {
	narrow := make([]uint16, len(rows))
	for i, v := range rows {
		narrow[i] = toHalf(v)
	}
	return index.Side{Vectors: embedding.Matrix{N: len(rows) / dim, Dim: dim, F16: narrow}}
}

// Shuffled gives a side a random key order.
func Shuffled(rng *rand.Rand, s index.Side) index.Side {
	s.Order = make([]int32, s.Vectors.N)
	for i, p := range rng.Perm(s.Vectors.N) {
		s.Order[i] = int32(p)
	}
	return s
}

// toHalf and widen compute with the value and not with its bits, so that they do not share a bug with the code under
// test.
func toHalf(v float32) uint16 {
	var sign uint16
	if math.Signbit(float64(v)) {
		sign = 0x8000
	}
	x := math.Abs(float64(v))
	if x == 0 {
		return sign
	}
	exponent := max(math.Ilogb(x), -14)
	mantissa := math.RoundToEven(math.Ldexp(x, 10-exponent)) // 1024 to 2048, less than 1024 for subnormals
	return sign | uint16(float64((exponent+14)<<10)+mantissa)
}

func widen(h uint16) float32 {
	exponent, mantissa := int(h>>10&31), float64(h&0x3ff)
	value := math.Ldexp(mantissa, -24)
	if exponent > 0 {
		value = math.Ldexp(1024+mantissa, exponent-25)
	}
	if h&0x8000 != 0 {
		value = math.Copysign(value, -1)
	}
	return float32(value)
}
