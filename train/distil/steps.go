package distil

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// heldOut is which of so many sentences is left out of the fit and measures it.
const heldOut = 50

// encode gives the sentences to the teacher, as far as its cache does not have them, and sets up the least squares.
func (r *run) encode(ctx context.Context) error {
	r.translate()
	r.Report("encode with the teacher")
	all, err := vectors(ctx, r.teacher, r.text, func(done int) { r.Progress("sentences", done, r.text.len()) })
	if err != nil {
		return err
	}
	dim := r.teacher.Dim()
	for to, from := range r.kept { // kept rises, so that nothing is written over before it is read
		copy(all[to*dim:(to+1)*dim], all[from*dim:(from+1)*dim])
	}
	weights := make([]float32, len(r.kept))
	for i, from := range r.kept {
		if weights[i] = 1; i%heldOut == 0 && r.text.languages[from] != noLanguage {
			weights[i] = 0
		}
	}
	features, wide := padded(all[:len(r.kept)*dim], dim)
	r.fit = &fit{sentences: r.rows, weights: weights, features: features, dim: wide, pieces: len(r.vocab.teacher), threads: r.Threads}
	r.fit.total = r.fit.squares()
	r.Sentences, r.Tokens = len(r.kept), len(r.rows.ids)
	return nil
}

// translate writes the sentences in the student's ids: without the language's prefix, which a student does not take.
// One with a piece that the student does not have is left out.
func (r *run) translate() {
	bos, eos := r.encoder.Vocabulary().Ends()
	var ids []int32
	for i := range r.text.len() {
		frame := r.frames[max(r.text.languages[i], 0)]
		whole := r.text.at(i)
		own := whole[min(len(frame.before), len(whole)):max(len(whole)-len(frame.after), min(len(frame.before), len(whole)))]
		ids = append(append(append(ids[:0], bos...), own...), eos...)
		ids, ok := r.vocab.translate(ids, nil)
		if !ok {
			continue
		}
		r.rows.ids = append(r.rows.ids, ids...)
		r.rows.ends = append(r.rows.ends, int64(len(r.rows.ids)))
		r.kept = append(r.kept, i)
	}
}

// alone gives what the teacher says of each of the student's pieces alone [pieces, dim].
func (r *run) alone(ctx context.Context) ([]float32, error) {
	singles := &sentences{}
	for _, id := range r.vocab.teacher {
		singles.ids = append(singles.ids, r.frames[0].around([]int32{id})...)
		singles.ends = append(singles.ends, len(singles.ids))
	}
	r.Report("encode each piece with the teacher")
	rows, err := vectors(ctx, r.teacher, singles, func(done int) { r.Progress("pieces", done, singles.len()) })
	if err != nil {
		return nil, err
	}
	rows, _ = padded(rows, r.teacher.Dim())
	return rows, nil
}

// padded fills rows of dim columns with zeros up to a multiple of block, and gives the multiple.
func padded(rows []float32, dim int) ([]float32, int) {
	wide := (dim + block - 1) / block * block
	if wide == dim {
		return rows, dim
	}
	n := len(rows) / dim
	out := make([]float32, n*wide)
	for i := range n {
		copy(out[i*wide:], rows[i*dim:(i+1)*dim])
	}
	return out, wide
}

// cut cuts rows of wide columns to dim.
func cut(rows []float32, wide, dim int) []float32 {
	if wide == dim {
		return rows
	}
	n := len(rows) / wide
	for i := range n {
		copy(rows[i*dim:(i+1)*dim], rows[i*wide:])
	}
	return rows[:n*dim]
}

// ridgeSteps are enough to tell ridges apart.
const ridgeSteps = 12

// ridges are tried on one block of columns, and the one that leaves least of held-out sentences is taken.
var ridges = []float64{0.1, 0.3, 1, 3}

// solve fits the table: the prior with the better scale, then the pieces' own part.
func (r *run) solve(ctx context.Context) error {
	alone, err := r.alone(ctx)
	if err != nil {
		return err
	}
	r.Report("fit the linear map of pieces alone")
	f := r.fit
	best := math.Inf(1)
	var linear []float32
	for _, power := range []float64{0, 0.5, 1} {
		scales := scalesOf(f.sentences, power)
		w, left, err := f.priorMap(alone, scales)
		if err != nil {
			return err
		}
		if left < best {
			best, linear, r.Power, f.scales = left, w, power, scales
		}
	}
	r.table = product(alone, f.dim, linear[:f.dim*f.dim], f.dim)
	if bos, _ := r.encoder.Vocabulary().Ends(); len(bos) > 0 { // every sentence has one: it carries the constant
		row := r.table[int(r.vocab.student[bos[0]])*f.dim:][:f.dim]
		for k, x := range linear[f.dim*f.dim:] {
			row[k] += x
		}
	}
	if err := f.explain(ctx, r.table); err != nil {
		return err
	}
	r.Prior = f.left()
	r.Report("fit the table")
	if r.Ridge, err = f.chooseRidge(min(r.Steps, ridgeSteps)); err != nil {
		return err
	}
	if err := f.solve(ctx, r.table, r.Ridge, r.Steps); err != nil {
		return err
	}
	r.Fit = f.left()
	r.table = cut(r.table, f.dim, r.teacher.Dim())
	return ctx.Err()
}

// chooseRidge tries ridges on the first block.
func (f *fit) chooseRidge(steps int) (float64, error) {
	rows := make([]float32, f.sentences.rows()*block)
	best, least := 0.0, math.Inf(1)
	for _, ridge := range ridges {
		x := f.solveBlock(0, ridge, steps)
		for i := range f.weights {
			copy(rows[i*block:(i+1)*block], f.features[i*f.dim:])
		}
		f.sentences.subtract(f.scales, x, rows, block)
		sum := 0.0
		for i, w := range f.weights {
			if w != 0 {
				continue
			}
			for _, v := range rows[i*block : (i+1)*block] {
				sum += float64(v) * float64(v)
			}
		}
		if sum < least {
			best, least = ridge, sum
		}
	}
	if best == 0 {
		return 0, errors.New("no ridge gives finite numbers")
	}
	return best, nil
}

// lowRank cuts a table [pieces, dim] to the rank columns that hold most of its squares, each row counted as often as
// its piece stands in the text: table [pieces, rank] and basis [rank, dim].
func lowRank(values []float32, dim, rank int, counts []int) (table, basis []float32, err error) {
	weighted := slices.Clone(values)
	for i, n := range counts {
		scale := float32(math.Sqrt(float64(n)))
		for k := i * dim; k < (i+1)*dim; k++ {
			weighted[k] *= scale
		}
	}
	squares := make([]float64, dim*dim)
	gram(weighted, dim, weighted, dim, squares)
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(dim, squares), true) {
		return nil, nil, errors.New("the table's columns have no principal axes: it is not finite")
	}
	var axes mat.Dense
	eigen.VectorsTo(&axes) // columns, by rising eigenvalue
	turn, basis := make([]float32, dim*rank), make([]float32, rank*dim)
	for j := range rank {
		column := mat.Col(nil, dim-1-j, &axes)
		if sign := largest(column); sign < 0 {
			for i := range column {
				column[i] = -column[i]
			}
		}
		for i, x := range column {
			turn[i*rank+j], basis[j*dim+i] = float32(x), float32(x)
		}
	}
	return product(values, dim, turn, rank), basis, nil
}

// largest is the number farthest from 0, whose sign fixes an axis's.
func largest(x []float64) float64 {
	most := 0.0
	for _, v := range x {
		if math.Abs(v) > math.Abs(most) {
			most = v
		}
	}
	return most
}
