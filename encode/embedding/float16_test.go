package embedding

import (
	"math"
	"testing"
)

// byDefinition is binary16's value from its three fields.
func byDefinition(h uint16) float64 {
	sign := 1 - 2*float64(h>>15)
	exponent, fraction := int(h>>10&0x1f), float64(h&0x3ff)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction == 0 {
			return math.Inf(int(sign))
		}
		return math.NaN()
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

func TestWidenEveryValue(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		got, want := float64(Widen(h)), byDefinition(h)
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) || math.Signbit(got) != (h>>15 == 1) {
			t.Fatalf("Widen(%#04x) = %v, want %v", h, got, want)
		}
	}
}

// TestHalvesAreNarrows: the processor's instruction rounds as narrow does.
func TestHalvesAreNarrows(t *testing.T) {
	w := &Writer{dtype: Float16}
	if row := make([]float32, 8); !w.halves(row) {
		t.Skip("this processor has no instruction that rounds to float16")
	}
	row := make([]float32, 0, 8)
	for i := range uint16(0x7c00 - 1) {
		middle := (Widen(i) + Widen(i+1)) / 2
		row = append(row[:0], Widen(i), middle, math.Nextafter32(middle, 0), math.Nextafter32(middle, 1e9), -Widen(i), -middle, 1e-30, -1e-45)
		if !w.halves(row) {
			t.Fatalf("%v is not finite", row)
		}
		for k, x := range row {
			if got := uint16(w.buf[2*k]) | uint16(w.buf[2*k+1])<<8; got != narrow(x) {
				t.Fatalf("%v becomes %#04x, want %#04x", x, got, narrow(x))
			}
		}
	}
	for _, x := range []float32{65520, -70000, float32(math.Inf(1)), float32(math.NaN())} {
		if w.halves([]float32{0, 1, 2, x, 3, 4, 5, 6}) {
			t.Errorf("%v is finite as float16", x)
		}
	}
	if w.halves([]float32{1, 2, 3}) {
		t.Error("rows of any width were rounded")
	}
}

// Between two neighbours, rounding can only be wrong at the middle and next to it.
func TestNarrowRoundsToNearestEven(t *testing.T) {
	for i := range uint16(0x7c00) {
		low := Widen(i)
		high := float32(65536) // the value after the largest one, if the format had no infinity
		if i+1 < 0x7c00 {
			high = Widen(i + 1)
		}
		middle := (low + high) / 2 // exact: float32 has 13 more bits
		even := i + i&1
		for _, c := range []struct {
			x    float32
			want uint16
		}{
			{low, i}, {middle, even},
			{math.Nextafter32(middle, 0), i}, {math.Nextafter32(middle, 1e9), i + 1},
		} {
			if got := narrow(c.x); got != c.want {
				t.Fatalf("narrow(%v) = %#04x, want %#04x", c.x, got, c.want)
			}
			if got := narrow(-c.x); got != c.want|0x8000 {
				t.Fatalf("narrow(%v) = %#04x, want %#04x", -c.x, got, c.want|0x8000)
			}
		}
	}
}

func TestNarrowSpecials(t *testing.T) {
	for _, c := range []struct {
		name string
		x    float32
		want uint16
	}{
		{"infinity", float32(math.Inf(1)), 0x7c00}, {"minus infinity", float32(math.Inf(-1)), 0xfc00},
		{"NaN", float32(math.NaN()), 0x7e00}, {"largest float32", math.MaxFloat32, 0x7c00},
		{"smallest float32", math.SmallestNonzeroFloat32, 0}, {"minus zero", float32(math.Copysign(0, -1)), 0x8000},
	} {
		if got := narrow(c.x); got != c.want {
			t.Errorf("%s: narrow(%v) = %#04x, want %#04x", c.name, c.x, got, c.want)
		}
	}
}

func BenchmarkFloat32(b *testing.B) {
	m := Matrix{N: 1024, Dim: 256, F16: make([]uint16, 1024*256)}
	for i := range m.F16 {
		m.F16[i] = narrow(float32(math.Sin(float64(i))) / 16)
	}
	dst := make([]float32, len(m.F16))
	b.SetBytes(int64(2 * len(m.F16)))
	for b.Loop() {
		m.Float32(dst, 0, m.N)
	}
}

func BenchmarkNarrow(b *testing.B) {
	x := make([]float32, 1024*256)
	for i := range x {
		x[i] = float32(math.Sin(float64(i))) / 16
	}
	b.SetBytes(int64(4 * len(x)))
	var sum uint16
	for b.Loop() {
		for _, x := range x {
			sum += narrow(x)
		}
	}
	_ = sum
}
