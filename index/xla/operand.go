package xla

import (
	"context"
	"math"
	"sync"

	"golang.org/x/sync/errgroup"

	"bitextmine/encode/embedding"
	"bitextmine/index"
)

// operand is one side of a product in float16.
type operand struct {
	rows  *index.Distinct
	scale float32 // a power of two, so that the longest row has a length from 1 to 2

	mu   sync.Mutex
	lost float64 // the largest square of the length of what rounding took from a row so far, unscaled
}

func newOperand(rows *index.Distinct) *operand {
	o := &operand{rows: rows, scale: 1}
	if length := rows.Kernel.Length; length > 0 {
		exponent := math.Floor(math.Log2(length))
		o.scale = float32(math.Ldexp(1, -int(min(max(exponent, -120), 120))))
	}
	return o
}

// float16Rows is the number of rows that one goroutine rounds at a time.
const float16Rows = 512

// float16 writes rows lo to hi-1, scaled and rounded, to out [more rows, dim] and zeros to the rest of it.
func (o *operand) float16(ctx context.Context, threads, lo, hi int, out []uint16) error {
	dim := o.rows.Dim()
	clear(out[(hi-lo)*dim:])
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(threads)
	for from := lo; from < hi; from += float16Rows {
		g.Go(func() error {
			to := min(from+float16Rows, hi)
			o.round(from, to, out[(from-lo)*dim:(to-lo)*dim])
			return ctx.Err()
		})
	}
	return g.Wait()
}

func (o *operand) round(from, to int, out []uint16) {
	dim := o.rows.Dim()
	buf := make([]float32, (to-from)*dim)
	values := o.rows.Block(from, to, buf)
	if o.scale != 1 {
		for i, v := range values {
			buf[i] = v * o.scale
		}
		values = buf
	}
	narrow := embedding.Narrow(embedding.FromFloat32(values, dim))
	copy(out, narrow.F16)
	if o.rows.Float16() && o.scale == 1 {
		return // nothing is lost
	}
	back, lost := make([]float32, dim), 0.0
	for row := range to - from {
		narrow.Float32(back, row, row+1)
		var square float64
		for i, v := range values[row*dim : (row+1)*dim] {
			off := float64(v) - float64(back[i])
			square += off * off
		}
		lost = max(lost, square)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lost = max(o.lost, lost/float64(o.scale)/float64(o.scale))
}

// loss is at least the length of what rounding took from any row so far. It is rounded up, because the sum was rounded.
func (o *operand) loss() float64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return math.Sqrt(o.lost) * (1 + 1e-9)
}

// slack bounds how far a score is from the inner product of two rows. A row is its rounded row and a loss: a loss meets
// the other row's length, and the two losses meet each other. Products of float16 values are exact in float32; a sum of
// d of them in any order, each addition rounded to nearest, is off by at most d 2^-24 |a| |b| (Higham, Accuracy and
// Stability of Numerical Algorithms, section 3.1). Matrix units align the terms of a step to the largest and truncate
// them instead (Fasi, Higham, Mikaitis and Pranesh, Numerical behavior of NVIDIA tensor cores, 2021): each of at most
// 1.5 d terms, products and sums so far, then loses at most 2^-23 |a| |b|. Four times the bound of rounding covers it.
func slack(queries, base *operand) float64 {
	a, b := queries.loss(), base.loss()
	lengthA, lengthB := queries.rows.Kernel.Length, base.rows.Kernel.Length
	sum := 4 * 1.01 * (float64(base.rows.Dim()) + 2) * 0x1p-24 * (lengthA + a) * (lengthB + b)
	return a*lengthB + b*lengthA + a*b + sum + 0x1p-126
}
