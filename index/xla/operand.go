package xla

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/gomlx/compute/dtypes"
	xla "github.com/gomlx/go-xla/pjrt"
	"golang.org/x/sync/errgroup"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/mine"
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

// lists are candidates [rows, keep]: scores in descending order and row numbers. What is not there has the score
// -infinity; its number means nothing, or is beyond all rows.
type lists struct {
	keep   int
	scores []float32
	ids    []int32
}

func newLists(rows, keep int) lists {
	return lists{keep, slices.Repeat([]float32{float32(math.Inf(-1))}, rows*keep),
		slices.Repeat([]int32{mine.None}, rows*keep)}
}

// part is the lists of rows from to to-1.
func (l lists) part(from, to int) lists {
	return lists{l.keep, l.scores[from*l.keep : to*l.keep], l.ids[from*l.keep : to*l.keep]}
}

func (l lists) upload(d *device) (scores, ids *xla.Buffer, err error) {
	rows := len(l.ids) / l.keep
	if scores, err = d.upload(bytesOf(l.scores), dtypes.Float32, rows, l.keep); err != nil {
		return nil, nil, err
	}
	ids, err = d.upload(bytesOf(l.ids), dtypes.Int32, rows, l.keep)
	return scores, ids, err
}

func (l lists) download(d *device, scores, ids *xla.Buffer) error {
	if err := d.download(scores, bytesOf(l.scores)); err != nil {
		return err
	}
	return d.download(ids, bytesOf(l.ids))
}

// merge takes the best of the lists of rows from to to-1 and of others of the same rows; none: nothing is there.
func (l lists) merge(from, to int, other lists) {
	if other.keep == 0 {
		return
	}
	scores, ids := make([]float32, l.keep), make([]int32, l.keep)
	for row := range to - from {
		ours, theirs := l.part(from+row, from+row+1), other.part(row, row+1)
		copy(scores, ours.scores)
		copy(ids, ours.ids)
		for at, i, j := 0, 0, 0; at < l.keep; at++ {
			if theirs.scores[j] > scores[i] {
				ours.scores[at], ours.ids[at] = theirs.scores[j], theirs.ids[j]
				j++
			} else {
				ours.scores[at], ours.ids[at] = scores[i], ids[i]
				i++
			}
		}
	}
}

// check compares the scores of candidates with their cosines. Scores that are farther off than the bound would make
// lists that are wrong without a sign of it: the device, or its memory, is not sound.
func (l lists) check(half *index.Half, from int, unit, bound float64) error {
	for row := range len(l.ids) / l.keep {
		ids, cosines := half.List(from + row)
		list := l.part(row, row+1)
		for i, id := range ids {
			at := slices.Index(list.ids, id)
			if id == mine.None || at < 0 {
				continue
			}
			if off := math.Abs(float64(list.scores[at])*unit - float64(cosines[i])); !(off <= bound) {
				return fmt.Errorf(
					"the device computed the score %v for two rows with the cosine %v, farther off than float16 products with float32 sums can be: "+
						"its results cannot be used; check its memory, or search with exact",
					float64(list.scores[at])*unit, cosines[i])
			}
		}
	}
	return nil
}
