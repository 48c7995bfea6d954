// Package kernel is the arithmetic of exact search, in C: cosines in the fixed order of embedding.Dot, and the fused
// pass that scores a block of queries with a block of base rows and keeps both sides' candidates from the same tile.
//
// A kernel is one instruction set's version of it. All give the same lists: a pass's scores are only good enough to
// choose candidates by, within a proven bound, and the cosines that decide are the same in every kernel, bit for bit.
//
//	amx       x86-64 with AMX tiles, on Linux: bfloat16 products summed in float32
//	vnni      x86-64 with AVX512-VNNI: int16 products summed in int32, twice the speed of float32
//	avx512    x86-64 with AVX-512
//	avx2      x86-64 with AVX2, FMA and F16C: int16 products, up to twice the speed of float32
//	portable  anything else
//
// Emulated is the amx kernel for tests on CPUs that have no tiles.
package kernel

/*
#cgo CFLAGS: -O3 -Wall -Wextra -Wno-psabi
#cgo LDFLAGS: -lm
#include <stdlib.h>
#include "kernel.h"
#include "scan.h"
*/
import "C"

import (
	"context"
	"math"
	"runtime"
	"sync"
	"unsafe"

	"bitextmine/encode/embedding"
	"bitextmine/internal/usage"
)

// Names lists all kernels, the fastest first.
var Names = []string{"amx", "vnni", "avx512", "avx2", "portable"}

// Emulated names the kernel that computes on any CPU what amx computes, much slower. Only tests choose it.
const Emulated = "amx-emulated"

// Kernel is one instruction set's version.
type Kernel struct {
	Name string
	c    *C.kernel
}

// Get returns a kernel by name, nil if this CPU cannot run it.
func Get(name string) *Kernel {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	c := C.kernel_by_name(cname)
	if c == nil || name == "amx" && !usage.AMXPermitted() {
		return nil
	}
	return &Kernel{Name: name, c: c}
}

// Best is the fastest kernel that this CPU runs.
var Best = best()

func best() *Kernel {
	for _, name := range Names {
		if kn := Get(name); kn != nil {
			return kn
		}
	}
	panic("kernel: not even portable") // it is always compiled in
}

// Side is one side of a cell as C sees it. Close it after the last use.
type Side struct {
	N, Dim int     // distinct rows, values of each
	Length float64 // length of the longest row
	Loss   float64 // maximum length of the difference that rounding to bfloat16 makes in a row; negative: not measured
	Top    float64 // the largest absolute value; negative: not measured
	c      C.side
	rows   embedding.Matrix
	pin    runtime.Pinner
}

// NewSide pins a matrix, its distinct rows (first, nil for all rows) and the order of its rows (nil for the identity).
func NewSide(rows embedding.Matrix, first, order []int32) *Side {
	s := &Side{N: rows.N, Dim: rows.Dim, Loss: -1, Top: -1, rows: rows}
	if rows.F16 != nil {
		s.c.rows, s.c.half = unsafe.Pointer(pinned(&s.pin, rows.F16)), 1
	} else {
		s.c.rows = unsafe.Pointer(pinned(&s.pin, rows.F32))
	}
	if first != nil {
		s.N = len(first)
		s.c.first = (*C.int32_t)(pinned(&s.pin, first))
	}
	if order != nil {
		s.c.order = (*C.int32_t)(pinned(&s.pin, order))
	}
	s.c.n, s.c.dim = C.int64_t(s.N), C.int64_t(s.Dim)
	return s
}

// Close unpins the side's memory.
func (s *Side) Close() { s.pin.Unpin() }

// pinned returns the address of a slice that C may keep until pin is released.
func pinned[T any](pin *runtime.Pinner, values []T) *T {
	p := unsafe.SliceData(values)
	if p != nil {
		pin.Pin(p)
	}
	return p
}

// Inspect looks at distinct rows lo to hi. It returns the largest square of a length, and the first row whose square is
// above limit or no number, -1 when there is none.
func (kn *Kernel) Inspect(s *Side, lo, hi int, limit float64) (square float64, bad int) {
	buf := make([]float32, s.Dim)
	var longest C.double
	bad = int(C.kernel_inspect(kn.c, &s.c, C.int64_t(lo), C.int64_t(hi), C.double(limit), &longest, floats(buf)))
	return float64(longest), bad
}

// MeasureLoss sets the loss of a side if the kernel rounds rows to bfloat16: what is measured is about half of what can
// be at worst.
func (kn *Kernel) MeasureLoss(ctx context.Context, s *Side) error {
	if kn.c.format != C.BFLOAT16 {
		return nil
	}
	square, err := s.largest(ctx, func(lo, hi int) float64 {
		return float64(C.kernel_bfloat16_loss(kn.c, &s.c, C.int64_t(lo), C.int64_t(hi), floats(make([]float32, 2*s.Dim))))
	})
	s.Loss = math.Sqrt(square) * (1 + 1e-9) // rounded up, because the sum was rounded
	return err
}

// MeasureTop sets the top of a side.
func (kn *Kernel) MeasureTop(ctx context.Context, s *Side) (err error) {
	s.Top, err = s.largest(ctx, func(lo, hi int) float64 {
		return float64(C.kernel_largest(kn.c, &s.c, C.int64_t(lo), C.int64_t(hi), floats(make([]float32, s.Dim))))
	})
	return err
}

// largest is the largest of what measure says of rows lo to hi-1.
func (s *Side) largest(ctx context.Context, measure func(lo, hi int) float64) (largest float64, err error) {
	var mu sync.Mutex
	err = s.rows.InSteps(ctx, s.N, func(lo, hi int) {
		of := measure(lo, hi)
		mu.Lock()
		largest = max(largest, of)
		mu.Unlock()
	})
	return largest, err
}

// Widen turns float16 bits into float32.
func (kn *Kernel) Widen(out []float32, half []uint16) {
	out = out[:len(half)]
	if len(half) > 0 {
		C.kernel_widen(kn.c, floats(out), (*C.uint16_t)(unsafe.SliceData(half)), C.int64_t(len(half)))
	}
}

// Lists are final lists of one side: ids are distinct rows of the other side, -1 for none. Close them after the last
// use.
type Lists struct {
	c   C.final_lists
	pin runtime.Pinner
}

// NewLists pins ids and cosines, both [n, k].
func NewLists(ids []int32, cosines []float32, k int) *Lists {
	l := &Lists{}
	l.c.ids = (*C.int32_t)(pinned(&l.pin, ids))
	l.c.cosines = (*C.float)(pinned(&l.pin, cosines))
	l.c.k = C.int64_t(k)
	return l
}

// Share lets several threads offer neighbours to the same list.
func (l *Lists) Share() {
	if l.c.locks == nil {
		l.c.locks = (*C.uint8_t)(pinned(&l.pin, make([]byte, C.LOCKS)))
	}
}

// Close unpins the lists' memory.
func (l *Lists) Close() { l.pin.Unpin() }

// Refine computes the cosines of queries lo to hi with their candidates [hi-lo, keep] (-1 for none) and offers them to
// their lists. ceilings [hi-lo] bound each query's inner product with any row that is not a candidate. It returns the
// queries whose lists are not proven: a row outside the candidates might tie with the last or beat it. Calls on
// different queries may run at once.
func (kn *Kernel) Refine(queries, base *Side, lists *Lists, lo, hi int, candidates []int64,
	ceilings []float64) []int32 {
	if hi <= lo {
		return nil
	}
	keep := len(candidates) / (hi - lo)
	unproven := make([]int32, hi-lo)
	buf := make([]float32, 5*base.Dim)
	n := C.kernel_refine(kn.c, &queries.c, &base.c, &lists.c, C.int64_t(lo), C.int64_t(hi),
		(*C.int64_t)(unsafe.SliceData(candidates)), C.int64_t(keep), (*C.double)(unsafe.SliceData(ceilings)),
		(*C.int32_t)(unsafe.SliceData(unproven)), floats(buf))
	return unproven[:n]
}

// Span is the rows at positions Lo to Hi of a side. Position p stands for distinct row Rows[p], or p*Step mod n where
// Rows is nil.
type Span struct {
	Lo, Hi, Step int
	Rows         []int32
}

func (s Span) c() C.span {
	return C.span{
		lo: C.int64_t(s.Lo), hi: C.int64_t(s.Hi), step: C.int64_t(s.Step), rows: (*C.int32_t)(unsafe.SliceData(s.Rows)),
	}
}

// All is a span of the given rows.
func All(rows []int32) Span { return Span{Hi: len(rows), Rows: rows} }

// Exhaust offers the base rows of a span to the lists of the given queries. Calls on different queries may run at once.
func (kn *Kernel) Exhaust(queries, base *Side, lists *Lists, which []int32, at Span) {
	if len(which) == 0 {
		return
	}
	buf := make([]float64, (C.EXHAUST_ROWS+5)*base.Dim)
	C.kernel_exhaust(kn.c, &queries.c, &base.c, &lists.c, (*C.int32_t)(unsafe.SliceData(which)), C.int64_t(len(which)),
		at.c(), (*C.double)(unsafe.SliceData(buf)))
}

// Float32Slack bounds how far an inner product of a query and a base row computed in float32, in whatever order and
// with or without fused multiply-add, can be from its true value: (d + 2) u |a| |b| with u = 2^-24 (Higham, Accuracy
// and Stability of Numerical Algorithms, section 3.1), a percent more for terms of second order, and the smallest
// normal numbers for underflow.
func Float32Slack(queries, base *Side) float64 {
	return float32Slack(base.Dim, queries.Length, base.Length)
}

func float32Slack(dim int, a, b float64) float64 {
	const u = 1.0 / (1 << 24)
	d := float64(dim)
	return 1.01*(d+2)*u*a*b + d*0x1p-126
}

// integerLength is the length in units of int16 that the longest row of a side is scaled to. The product of two lengths
// must stay in int32, and no value may leave int16.
const integerLength = 32000

// precisionOf says how this kernel's scores relate to inner products.
func (kn *Kernel) precisionOf(queries, base *Side) C.precision {
	// Scores and floors are kept in float32, a few roundings each.
	rounding := queries.Length * base.Length * 0x1p-21
	slack, unit := Float32Slack(queries, base), 1.0
	var queryScale, baseScale float64 = 1, 1
	switch kn.c.format {
	case C.BFLOAT16:
		slack = bfloat16Slack(queries, base) + rounding
	case C.INT16:
		queryScale, baseScale = integerScale(queries.Length), integerScale(base.Length)
		unit = 1 / (queryScale * baseScale)
		// A scaled row is its rounded row and a residual of at most half a unit in each value (and the rounding of the
		// scaling itself): a residual meets the other row's length, and the two residuals meet each other.
		residual := 0.503 * math.Sqrt(float64(base.Dim))
		slack = (2*integerLength*residual+residual*residual)*unit + rounding
	}
	return C.precision{
		query_scale: C.float(queryScale), base_scale: C.float(baseScale),
		unit: C.double(unit), slack: C.double(slack), window: C.double(2*slack + 2*rounding),
	}
}

// wholePrecision returns the precision for rows rounded to whole numbers of at most 127. Their products are exact in
// every format: no sum reaches 2^22, because by Cauchy-Schwarz it is at most the product of two lengths.
func wholePrecision(queries, base *Side) C.precision {
	return C.precision{
		query_scale: C.float(queries.wholeScale()), base_scale: C.float(base.wholeScale()),
		whole: 1, unit: 1, window: 0.5, // floors are rounded to float32, but scores differ by 1 or not at all
	}
}

// WholeUnit is the product of two rows as whole numbers whose inner product is 1.
func WholeUnit(queries, base *Side) float64 {
	return float64(float32(queries.wholeScale())) * float64(float32(base.wholeScale()))
}

// WholeTime is the time of a product of a scanner of NewWhole beside that of one of NewScanner.
func (kn *Kernel) WholeTime() float64 {
	if kn.c.narrow != nil {
		return 0.5
	}
	return 1
}

// WholeLength is the length of the longest row as whole numbers.
func (s *Side) WholeLength() float64 { return float64(float32(s.wholeScale())) * s.Length }

func (s *Side) wholeScale() float64 {
	const top, length = 127, 1900 // the lengths of rounded rows are up to half of the square root of dim larger
	values := s.Top
	if values < 0 {
		values = s.Length
	}
	return min(top/max(values, 1e-30), length/max(s.Length, 1e-30))
}

// bfloat16Slack bounds how far a sum of bfloat16 products is from the inner product of the float32 rows. A row is its
// rounded row and a loss: a loss meets the other row's length, the two losses meet each other, and the float32 sum of
// the rounded rows has its own error. AMX takes denormal values, products and sums for zeros.
func bfloat16Slack(queries, base *Side) float64 {
	a, b := queries.loss(), base.loss()
	roundedA, roundedB := queries.Length+a, base.Length+b
	d := float64(base.Dim)
	denormal := 0x1p-126 * (math.Sqrt(d)*(roundedA+roundedB) + 3*d)
	return a*base.Length + b*queries.Length + a*b + float32Slack(base.Dim, roundedA, roundedB) + denormal
}

// loss is the measured loss, or the worst that rounding to eight bits can do.
func (s *Side) loss() float64 {
	if s.Loss >= 0 {
		return s.Loss
	}
	return s.Length*0x1p-8 + math.Sqrt(float64(s.Dim))*0x1p-126
}

// integerScale is capped for a side of hardly more than zeros, whose scale would leave float32.
func integerScale(length float64) float64 { return min(integerLength/max(length, 1e-300), 1e30) }

func floats(values []float32) *C.float { return (*C.float)(unsafe.SliceData(values)) }
