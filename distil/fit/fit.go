// Package fit fits a table of subword vectors so that sums of its rows come near features of sentences: a
// linear map from the teacher's vectors of single pieces, as the prior, and on it each piece's own part, by conjugate
// gradients on the sparse matrix of the counts of pieces in sentences.
//
// It also trains a student's table and head by gradient descent after the least squares (Finish), so that not only the
// features but the sentence vectors come near the teacher's, and nearest to that of their own sentence or of its
// translation.
package fit

import (
	"context"
	"errors"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"
)

// Problem is the least squares of a table: features(s) ~ scale(s) * the sum of the rows of s's pieces.
type Problem struct {
	Sentences Sparse
	Scales    []float32 // factor of each sentence: 1/tokens^power
	Weights   []float32 // 0: held out
	Features  []float32 // [sentences, dim]; Explain and Solve leave the part that is not explained yet
	Dim       int
	Pieces    int
	Threads   int
	Total     [2]float64 // squares of the features of fitted and of held-out sentences
}

// Unexplained is a share of the features' squares.
type Unexplained struct {
	Fitted  float64 `json:"fitted"`
	HeldOut float64 `json:"held_out"`
}

// Squares are the sums of the features' squares, of fitted and of held-out sentences.
func (f *Problem) Squares() (sums [2]float64) {
	for i, w := range f.Weights {
		sum := 0.0
		for _, x := range f.Features[i*f.Dim : (i+1)*f.Dim] {
			sum += float64(x) * float64(x)
		}
		if w == 0 {
			sums[1] += sum
		} else {
			sums[0] += sum
		}
	}
	return sums
}

// Left is the share of the squares that is not explained yet.
func (f *Problem) Left() Unexplained {
	sums := f.Squares()
	return Unexplained{sums[0] / f.Total[0], sums[1] / max(f.Total[1], math.SmallestNonzeroFloat64)}
}

// ScalesOf are the factors of sentences' sums: 1/tokens^power.
func ScalesOf(a Sparse, power float64) []float32 {
	scales := make([]float32, a.Rows())
	for i := range scales {
		scales[i] = float32(math.Pow(float64(len(a.At(i))), -power))
	}
	return scales
}

// priorSentences is enough text for a map of a few hundred columns.
var priorSentences = 40_000

// PriorMap fits the linear map [dim+1, dim] to the features from the sum of alone, the teacher's vectors of single
// pieces, and a constant. It also returns the share of the squares that the map leaves.
func (f *Problem) PriorMap(alone, scales []float32) ([]float32, float64, error) {
	const together = 1024
	d := f.Dim
	step := f.priorStep()
	grams, targets := make([]float64, (d+1)*(d+1)), make([]float64, (d+1)*d)
	squares := 0.0
	var sums, features []float32
	flush := func() {
		gram(sums, d+1, sums, d+1, grams)
		gram(sums, d+1, features, d, targets)
		sums, features = sums[:0], features[:0]
	}
	for i := 0; i < f.Sentences.Rows(); i += step {
		if f.Weights[i] == 0 {
			continue
		}
		sums = append(sums, f.sum(i, alone, scales[i])...)
		row := f.Features[i*d : (i+1)*d]
		features = append(features, row...)
		for _, x := range row {
			squares += float64(x) * float64(x)
		}
		if len(features) == together*d {
			flush()
		}
	}
	flush()
	return solveMap(grams, targets, d, squares)
}

// priorStep is the step from a row that PriorMap reads to the next, such that few of them are held out: rows that are
// held out at even distances could otherwise be most of them.
func (f *Problem) priorStep() int {
	rows := len(f.Weights)
	for step := rows / priorSentences; step > 1; step-- {
		read, fitted := 0, 0
		for i := 0; i < rows; i += step {
			if read++; f.Weights[i] != 0 {
				fitted++
			}
		}
		if 4*fitted >= 3*read {
			return step
		}
	}
	return 1
}

// sum is a sentence's scaled sum of rows of alone [pieces, dim], and its scale.
func (f *Problem) sum(i int, alone []float32, scale float32) []float32 {
	out := make([]float32, f.Dim+1)
	for _, id := range f.Sentences.At(i) {
		for k, x := range alone[int(id)*f.Dim : (int(id)+1)*f.Dim] {
			out[k] += x
		}
	}
	for k := range out {
		out[k] *= scale
	}
	out[f.Dim] = scale
	return out
}

// solveMap solves the normal equations with a ridge of a thousandth of their mean diagonal.
func solveMap(grams, targets []float64, d int, squares float64) ([]float32, float64, error) {
	n := d + 1
	trace := 0.0
	for i := range n {
		trace += grams[i*n+i]
	}
	symmetric := mat.NewSymDense(n, append([]float64(nil), grams...))
	for i := range n {
		symmetric.SetSym(i, i, grams[i*n+i]+1e-3*trace/float64(n))
	}
	var cholesky mat.Cholesky
	if !cholesky.Factorize(symmetric) {
		return nil, 0, errors.New("the prior's normal equations have no solution: the teacher's features are not finite")
	}
	var solution mat.Dense
	if err := cholesky.SolveTo(&solution, mat.NewDense(n, d, targets)); err != nil {
		return nil, 0, err
	}
	// |P - B W|^2 = |P|^2 - 2 <W, B'P> + <W, B'B W>
	var product mat.Dense
	product.Mul(mat.NewDense(n, n, grams), &solution)
	left := squares
	out := make([]float32, n*d)
	for i := range n {
		for j := range d {
			w := solution.At(i, j)
			left += w * (product.At(i, j) - 2*targets[i*d+j])
			out[i*d+j] = float32(w)
		}
	}
	return out, left / squares, nil
}

// Explain subtracts from the features the sums of a table [pieces, dim].
func (f *Problem) Explain(ctx context.Context, table []float32) error {
	return f.subtract(ctx, f.Scales, table)
}

func (f *Problem) subtract(ctx context.Context, scales, table []float32) error {
	return f.blocks(ctx, func(column int) error {
		f.Sentences.subtract(scales, f.columns(table, column), f.Features[column:], f.Dim)
		return nil
	})
}

// Restore adds to the features the sums that Explain subtracted.
func (f *Problem) Restore(ctx context.Context, table []float32) error {
	negative := make([]float32, len(f.Scales))
	for i, x := range f.Scales {
		negative[i] = -x
	}
	return f.subtract(ctx, negative, table)
}

// blocks calls do for the first column of every block, at most f.Threads at a time.
func (f *Problem) blocks(ctx context.Context, do func(column int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(f.Threads)
	for column := 0; column < f.Dim; column += block {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return do(column)
		})
	}
	return group.Wait()
}

// columns copies a block of a table's columns.
func (f *Problem) columns(table []float32, column int) []float32 {
	out := make([]float32, f.Pieces*block)
	for i := range f.Pieces {
		copy(out[i*block:(i+1)*block], table[i*f.Dim+column:])
	}
	return out
}

// Solve adds to table a share of the X that minimises the weighted squares of features - A X, plus ridge times its own
// squares, block by block.
func (f *Problem) Solve(ctx context.Context, table []float32, ridge float64, steps int, share float32) error {
	return f.blocks(ctx, func(column int) error {
		x, err := f.solveBlock(ctx, column, ridge, steps)
		if err != nil {
			return err
		}
		for k := range x {
			x[k] *= share
		}
		for i := range f.Pieces {
			for k, v := range x[i*block : (i+1)*block] {
				table[i*f.Dim+column+k] += v
			}
		}
		f.Sentences.subtract(f.Scales, x, f.Features[column:], f.Dim)
		return nil
	})
}

// solveBlock runs conjugate gradients on block columns at once, preconditioned by the diagonal.
func (f *Problem) solveBlock(ctx context.Context, column int, ridge float64, steps int) ([]float32, error) {
	linear, quadratic := make([]float32, len(f.Weights)), make([]float32, len(f.Weights))
	for i, w := range f.Weights {
		linear[i] = w * f.Scales[i]
		quadratic[i] = linear[i] * f.Scales[i]
	}
	size := f.Pieces * block
	inverse := f.inverseDiagonal(quadratic, ridge)
	residual := make([]float32, size)
	f.Sentences.scatter(linear, f.Features[column:], f.Dim, residual)
	x, direction, image, scaled := make([]float32, size), make([]float32, size), make([]float32, size),
		make([]float32, size)
	everyRow := slices.Repeat([]float32{float32(ridge)}, f.Pieces)
	scaleRows(residual, inverse, scaled)
	copy(direction, scaled)
	old := dots(residual, scaled)
	for range steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		scaleRows(direction, everyRow, image)
		f.Sentences.normal(quadratic, direction, image)
		curvature := dots(direction, image)
		var forward, back [block]float32
		for k := range forward {
			if curvature[k] > 0 {
				forward[k] = float32(old[k] / curvature[k])
				back[k] = -forward[k]
			}
		}
		addColumns(x, direction, &forward)
		addColumns(residual, image, &back)
		scaleRows(residual, inverse, scaled)
		now := dots(residual, scaled)
		var turn [block]float32
		for k := range turn {
			if old[k] > 0 {
				turn[k] = float32(now[k] / old[k])
			}
		}
		turnColumns(direction, scaled, &turn)
		old = now
	}
	return x, nil
}

// inverseDiagonal is 1 over the diagonal of A' diag(weights) A + ridge.
func (f *Problem) inverseDiagonal(weights []float32, ridge float64) []float32 {
	diagonal := make([]float64, f.Pieces)
	counts := map[int32]int{}
	for i := range f.Sentences.Rows() {
		clear(counts)
		for _, id := range f.Sentences.At(i) {
			counts[id]++
		}
		for id, n := range counts { // each piece has its own sum, so that the order does not matter
			diagonal[id] += float64(weights[i]) * float64(n*n)
		}
	}
	inverse := make([]float32, f.Pieces)
	for i, d := range diagonal {
		inverse[i] = float32(1 / (d + ridge))
	}
	return inverse
}

// ridgeSteps are enough to compare ridges.
const ridgeSteps = 12

// ridges are the values that ChooseRidge tries.
var ridges = []float64{0.1, 0.3, 1, 3}

// ChooseRidge tries ridges on the first block of columns, in at most so many steps, and returns the one with the
// smallest held-out error.
func (f *Problem) ChooseRidge(ctx context.Context, steps int) (float64, error) {
	rows := make([]float32, f.Sentences.Rows()*block)
	best, smallest := 0.0, math.Inf(1)
	for _, ridge := range ridges {
		x, err := f.solveBlock(ctx, 0, ridge, min(steps, ridgeSteps))
		if err != nil {
			return 0, err
		}
		for i := range f.Weights {
			copy(rows[i*block:(i+1)*block], f.Features[i*f.Dim:])
		}
		f.Sentences.subtract(f.Scales, x, rows, block)
		sum := 0.0
		for i, w := range f.Weights {
			if w != 0 {
				continue
			}
			for _, v := range rows[i*block : (i+1)*block] {
				sum += float64(v) * float64(v)
			}
		}
		if sum < smallest {
			best, smallest = ridge, sum
		}
	}
	if best == 0 {
		return 0, errors.New("no ridge gives finite numbers")
	}
	return best, nil
}
