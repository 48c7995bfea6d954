package cuda

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

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

// float16 writes rows lo to hi-1, scaled, rounded and filled up with zeros, to out [hi-lo, width]. Those after row
// `last` are copies of it.
func (o *operand) float16(ctx context.Context, threads, lo, hi, last, width int, out []uint16) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(threads)
	end := min(hi, last+1)
	for from := lo; from < end; from += float16Rows {
		g.Go(func() error {
			to := min(from+float16Rows, end)
			o.round(from, to, width, out[(from-lo)*width:(to-lo)*width])
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil || end == hi {
		return err
	}
	if end <= lo {
		o.round(last, last+1, width, out[:width])
		end = lo + 1
	}
	copyOf := out[(end-1-lo)*width : (end-lo)*width]
	for row := end - lo; row < hi-lo; row++ {
		copy(out[row*width:], copyOf)
	}
	return nil
}

func (o *operand) round(from, to, width int, out []uint16) {
	dim := o.rows.Dim()
	for row := range to - from {
		clear(out[row*width+dim : (row+1)*width])
	}
	if o.rows.Float16() && o.scale == 1 {
		o.rows.Halves(from, to, width, out)
		return // nothing is lost
	}
	buf := make([]float32, (to-from)*dim)
	values := o.rows.Block(from, to, buf)
	if o.scale != 1 {
		for i, v := range values {
			buf[i] = v * o.scale
		}
		values = buf
	}
	narrow := embedding.Narrow(embedding.FromFloat32(values, dim))
	for row := range to - from {
		copy(out[row*width:], narrow.F16[row*dim:(row+1)*dim])
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
// -infinity.
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

// sort puts each list in descending order of scores and adds `first` to the numbers of what is there.
func (l lists) sort(first int32) {
	for lo := 0; lo < len(l.ids); lo += l.keep {
		for i := lo; i < lo+l.keep; i++ {
			score, id := l.scores[i], l.ids[i]
			if id != mine.None {
				id += first
			}
			at := i
			for ; at > lo && l.scores[at-1] < score; at-- {
				l.scores[at], l.ids[at] = l.scores[at-1], l.ids[at-1]
			}
			l.scores[at], l.ids[at] = score, id
		}
	}
}

// merge takes the best of the lists of rows from to to-1 and of others of the same rows.
func (l lists) merge(from, to int, other lists) {
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
