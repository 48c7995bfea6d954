package distil

import (
	"context"
	"math"
	"slices"

	"bitextmine/distil/fit"
	"bitextmine/distil/student"
)

// heldOut: one of so many sentences is left out of the fit and measures it.
const heldOut = 50

// Fitted describes a fitted table: its settings, and the shares of the features' squares that are left.
type Fitted struct {
	Power float64         `json:"power"` // a sum is divided by tokens^power
	Ridge float64         `json:"ridge"`
	Prior fit.Unexplained `json:"prior"` // left by the linear map of pieces alone
	Fit   fit.Unexplained `json:"fit"`
}

// table is a fitted table and the head that it was fitted for.
type table struct {
	Fitted
	dim     int       // number of columns of the features
	values  []float32 // [student's ids, dim], padded as the problem's features are until distil ends
	head    *student.Head
	descent fit.Unexplained // the shares that the descent leaves
	losses  [2]float64      // means of the descent's first and last steps
}

// left is the share of the squares of held-out features that the table does not explain.
func (t *table) left(o Options) float64 {
	if o.Epochs > 0 {
		return t.descent.HeldOut
	}
	return t.Fit.HeldOut
}

// features asks the teacher for the features of all sentences that its cache does not have, and sets up the least
// squares.
func features(ctx context.Context, o Options, t *source, p *pieces) (*fit.Problem, error) {
	o.Report("encode with the teacher")
	all, err := t.features(ctx, p.text, func(done int) { o.Progress("sentences", done, p.text.Len()) })
	if err != nil {
		return nil, err
	}
	dim := t.cached.Dim()
	for to, from := range p.kept { // kept rises, so that nothing is written over before it is read
		copy(all[to*dim:(to+1)*dim], all[from*dim:(from+1)*dim])
	}
	weights := make([]float32, len(p.kept))
	for i, from := range p.kept {
		if weights[i] = 1; i%heldOut == 0 && p.text.Languages[from] != NoLanguage {
			weights[i] = 0
		}
	}
	padded, wide := fit.Padded(all[:len(p.kept)*dim], dim)
	return &fit.Problem{Sentences: p.rows, Weights: weights, Features: padded, Dim: wide,
		Pieces: len(p.vocabulary.Teacher), Threads: o.Threads}, nil
}

// fitTeacher fits the table to the teacher's features.
func fitTeacher(ctx context.Context, o Options, t *source, p *pieces, problem *fit.Problem) (*table, error) {
	o.Report("encode each piece with the teacher")
	singles, lengths := p.singles()
	alone, err := t.features(ctx, singles, func(done int) { o.Progress("pieces", done, singles.Len()) })
	if err != nil {
		return nil, err
	}
	o.Report("fit the table")
	out := &table{dim: t.cached.Dim(), head: t.head}
	alone, _ = fit.Padded(alone, out.dim)
	out.values, out.Fitted, err = fitTable(ctx, o, problem, alone, lengths, p.first, 0, 0.5, 1)
	return out, err
}

// fitTable fits a table [pieces, f.Dim]: the linear map of single, the encoder's vectors of single pieces, with the
// best of the powers, then the pieces' own part. lengths are of the pieces, nil if single has sums already. The row of
// first carries the map's constant. f.Features are then the part that the table does not explain.
func fitTable(ctx context.Context, o Options, f *fit.Problem, single []float32, lengths []float64, first int32,
	powers ...float64) (values []float32, s Fitted, err error) {
	f.Total = f.Squares()
	best := math.Inf(1)
	var alone, linear []float32
	for _, power := range powers {
		scales, sums := fit.ScalesOf(f.Sentences, power), undivided(single, lengths, f.Dim, power)
		w, left, err := f.PriorMap(sums, scales)
		if err != nil {
			return nil, s, err
		}
		if left < best {
			best, alone, linear, s.Power, f.Scales = left, sums, w, power, scales
		}
	}
	values = fit.Product(alone, f.Dim, linear[:f.Dim*f.Dim], f.Dim)
	if first != unmapped {
		row := values[int(first)*f.Dim:][:f.Dim]
		for k, x := range linear[f.Dim*f.Dim:] {
			row[k] += x
		}
	}
	if err := f.Explain(ctx, values); err != nil {
		return nil, s, err
	}
	s.Prior = f.Left()
	if s.Ridge, err = f.ChooseRidge(ctx, o.Steps); err != nil {
		return nil, s, err
	}
	if err := f.Solve(ctx, values, s.Ridge, o.Steps, float32(o.Share)); err != nil {
		return nil, s, err
	}
	s.Fit = f.Left()
	return values, s, ctx.Err()
}

// undivided takes back what an encoder that divides sums by lengths^power did to rows of several pieces.
func undivided(rows []float32, lengths []float64, dim int, power float64) []float32 {
	out := slices.Clone(rows)
	for i, length := range lengths {
		factor := float32(math.Pow(length, power))
		for k := range dim {
			out[i*dim+k] *= factor
		}
	}
	return out
}
