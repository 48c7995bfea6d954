package student

import (
	"math"

	"bitextmine/encode/embedding"
)

// Table is a student's table as it ships: value = scale of the row * (number - zero), numbers being 0 to 2^bits-1 and
// zero half of the largest.
type Table struct {
	rows, Dim int
	bits      int // 4 or 8
	// [rows, dim] less 128; or [rows, dim/2]: a column of the first half, plus 16 times (its counterpart in the second
	// half - 8)
	numbers []int8
	scales  []float32 // [rows]
}

// zero is the level of 0. The number of levels is even, so it lies between two of them, which loses least on numbers
// that are distributed evenly around 0.
func zero(bits int) float32 { return float32(int(1)<<bits-1) / 2 }

// Quantise rounds a table [rows, dim].
func Quantise(values []float32, dim, bits int) *Table {
	t := &Table{rows: len(values) / dim, Dim: dim, bits: bits}
	t.numbers = make([]int8, len(values)*bits/8)
	t.scales = make([]float32, t.rows)
	for i := range t.rows {
		t.scales[i] = BestScale(values[i*dim:(i+1)*dim], bits)
	}
	t.scales = widened(narrowed(t.scales)) // the precision of the file
	for i := range t.rows {
		t.set(i, values[i*dim:(i+1)*dim])
	}
	return t
}

// BestScale tries scales from the one that cuts nothing off downwards, and returns the one with the least square error.
func BestScale(row []float32, bits int) float32 {
	most := float32(0)
	for _, x := range row {
		most = max(most, float32(math.Abs(float64(x))))
	}
	z := zero(bits)
	if most == 0 {
		return 1 // any scale does
	}
	if bits == 8 {
		return most / z // cutting off gains nothing among 256 levels
	}
	best, bestError := float32(0), math.Inf(1)
	for step := range 16 {
		scale := most / z * (1 - float32(step)*0.03)
		sum := 0.0
		for _, x := range row {
			e := float64(x - scale*(float32(level(x, scale, z))-z))
			sum += e * e
		}
		if sum < bestError {
			best, bestError = scale, sum
		}
	}
	return best
}

// set rounds one row with its scale.
func (t *Table) set(i int, row []float32) {
	z, half := zero(t.bits), t.Dim/2
	for k, x := range row {
		n := level(x, t.scales[i], z)
		switch {
		case t.bits == 8:
			t.numbers[i*t.Dim+k] = int8(n - 128)
		case k < half:
			t.numbers[i*half+k] = int8(n)
		default:
			t.numbers[i*half+k-half] += int8(n-8) * 16
		}
	}
}

// level is the level nearest to x.
func level(x, scale, zero float32) uint8 {
	n := math.RoundToEven(float64(x)/float64(scale) + float64(zero))
	return uint8(min(max(n, 0), float64(2*zero)))
}

// narrowed are x as float16.
func narrowed(x []float32) []uint16 {
	return embedding.Narrow(embedding.Matrix{N: len(x), Dim: 1, F32: x}).F16
}

// widened are float16 numbers as float32.
func widened(x []uint16) []float32 {
	out := make([]float32, len(x))
	embedding.Matrix{N: len(x), Dim: 1, F16: x}.Float32(out, 0, len(x))
	return out
}

// Round rounds values to the levels of so many bits with a scale.
func Round(values []float32, scale float32, bits int, dst []float32) {
	z := zero(bits)
	for k, x := range values {
		dst[k] = scale * (float32(level(x, scale, z)) - z)
	}
}

// row writes row i's values.
func (t *Table) row(i int, dst []float32) {
	z, half := zero(t.bits), t.Dim/2
	for k := range dst {
		var n uint8
		switch {
		case t.bits == 8:
			n = uint8(t.numbers[i*t.Dim+k]) + 128
		case k < half:
			n = uint8(t.numbers[i*half+k] & 15)
		default:
			n = uint8(t.numbers[i*half+k-half]>>4) + 8
		}
		dst[k] = t.scales[i] * (float32(n) - z)
	}
}

// zeros are the graph's numbers for 0, by column.
func (t *Table) zeros() []float32 {
	zeros := make([]float32, t.Dim)
	for k := range zeros {
		switch {
		case t.bits == 8:
			zeros[k] = zero(8) - 128
		case k < t.Dim/2:
			zeros[k] = zero(4)
		default:
			zeros[k] = zero(4) - 8
		}
	}
	return zeros
}

// Values are all rows [rows, dim].
func (t *Table) Values() []float32 {
	out := make([]float32, t.rows*t.Dim)
	for i := range t.rows {
		t.row(i, out[i*t.Dim:(i+1)*t.Dim])
	}
	return out
}
