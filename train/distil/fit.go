package distil

import (
	"context"
	"errors"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"
)

// fit is the least squares of a table: features(s) ~ scale(s) * the sum of the rows of s's pieces.
type fit struct {
	sentences sparse
	scales    []float32 // of each sentence: 1/tokens^power
	weights   []float32 // 0: held out
	features  []float32 // [sentences, dim]; what is not explained yet, once prior and solve have run
	dim       int
	pieces    int
	threads   int
	total     [2]float64 // squares of the features of sentences that are fitted, and held out
}

// unexplained is a share of the features' squares.
type unexplained struct {
	Fitted  float64 `json:"fitted"`
	HeldOut float64 `json:"held_out"`
}

func (f *fit) squares() (sums [2]float64) {
	for i, w := range f.weights {
		sum := 0.0
		for _, x := range f.features[i*f.dim : (i+1)*f.dim] {
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

func (f *fit) left() unexplained {
	sums := f.squares()
	return unexplained{sums[0] / f.total[0], sums[1] / max(f.total[1], math.SmallestNonzeroFloat64)}
}

// scalesOf are the factors of sentences' sums: 1/tokens^power.
func scalesOf(a sparse, power float64) []float32 {
	scales := make([]float32, a.rows())
	for i := range scales {
		scales[i] = float32(math.Pow(float64(len(a.at(i))), -power))
	}
	return scales
}

// priorSentences is enough text for a map of a few hundred columns.
const priorSentences = 40_000

// priorMap fits the linear map [dim+1, dim] from the sum of what the teacher says of each piece alone, and a constant,
// to the features. It gives the share of the squares that the map leaves, too.
func (f *fit) priorMap(alone, scales []float32) ([]float32, float64, error) {
	const together = 1024
	d := f.dim
	step := max(1, f.sentences.rows()/priorSentences)
	grams, targets := make([]float64, (d+1)*(d+1)), make([]float64, (d+1)*d)
	squares := 0.0
	var sums, features []float32
	flush := func() {
		gram(sums, d+1, sums, d+1, grams)
		gram(sums, d+1, features, d, targets)
		sums, features = sums[:0], features[:0]
	}
	for i := 0; i < f.sentences.rows(); i += step {
		if f.weights[i] == 0 {
			continue
		}
		sums = append(sums, f.sum(i, alone, scales[i])...)
		row := f.features[i*d : (i+1)*d]
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

// sum is a sentence's scaled sum of rows of alone [pieces, dim], and its scale.
func (f *fit) sum(i int, alone []float32, scale float32) []float32 {
	out := make([]float32, f.dim+1)
	for _, id := range f.sentences.at(i) {
		for k, x := range alone[int(id)*f.dim : (int(id)+1)*f.dim] {
			out[k] += x
		}
	}
	for k := range out {
		out[k] *= scale
	}
	out[f.dim] = scale
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

// explain takes from the features what a table [pieces, dim] explains.
func (f *fit) explain(ctx context.Context, table []float32) error {
	return f.blocks(ctx, func(column int) error {
		f.sentences.subtract(f.scales, f.columns(table, column), f.features[column:], f.dim)
		return nil
	})
}

// blocks calls do for the first column of every block, at most f.threads at a time.
func (f *fit) blocks(ctx context.Context, do func(column int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(f.threads)
	for column := 0; column < f.dim; column += block {
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
func (f *fit) columns(table []float32, column int) []float32 {
	out := make([]float32, f.pieces*block)
	for i := range f.pieces {
		copy(out[i*block:(i+1)*block], table[i*f.dim+column:])
	}
	return out
}

// solve adds to table the X that minimises the weighted squares of features - A X, plus ridge times its own squares,
// block by block.
func (f *fit) solve(ctx context.Context, table []float32, ridge float64, steps int) error {
	return f.blocks(ctx, func(column int) error {
		x := f.solveBlock(column, ridge, steps)
		for i := range f.pieces {
			for k, v := range x[i*block : (i+1)*block] {
				table[i*f.dim+column+k] += v
			}
		}
		f.sentences.subtract(f.scales, x, f.features[column:], f.dim)
		return nil
	})
}

// solveBlock runs conjugate gradients on block columns at once, preconditioned by the diagonal.
func (f *fit) solveBlock(column int, ridge float64, steps int) []float32 {
	linear, quadratic := make([]float32, len(f.weights)), make([]float32, len(f.weights))
	for i, w := range f.weights {
		linear[i] = w * f.scales[i]
		quadratic[i] = linear[i] * f.scales[i]
	}
	size := f.pieces * block
	inverse := f.inverseDiagonal(quadratic, ridge)
	residual := make([]float32, size)
	f.sentences.scatter(linear, f.features[column:], f.dim, residual)
	x, direction, image, scaled := make([]float32, size), make([]float32, size), make([]float32, size), make([]float32, size)
	everyRow := slices.Repeat([]float32{float32(ridge)}, f.pieces)
	scaleRows(residual, inverse, scaled)
	copy(direction, scaled)
	old := dots(residual, scaled)
	for range steps {
		scaleRows(direction, everyRow, image)
		f.sentences.normal(quadratic, direction, image)
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
	return x
}

// inverseDiagonal is 1 over the diagonal of A' diag(weights) A + ridge.
func (f *fit) inverseDiagonal(weights []float32, ridge float64) []float32 {
	diagonal := make([]float64, f.pieces)
	counts := map[int32]int{}
	for i := range f.sentences.rows() {
		clear(counts)
		for _, id := range f.sentences.at(i) {
			counts[id]++
		}
		for id, n := range counts { // each piece has its own sum, so that the order does not matter
			diagonal[id] += float64(weights[i]) * float64(n*n)
		}
	}
	inverse := make([]float32, f.pieces)
	for i, d := range diagonal {
		inverse[i] = float32(1 / (d + ridge))
	}
	return inverse
}
