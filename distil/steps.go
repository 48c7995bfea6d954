package distil

import (
	"context"
	"math"

	"bitextmine/distil/fit"
)

// heldOut is which of so many sentences is left out of the fit and measures it.
const heldOut = 50

// encode gives the sentences to the teacher, as far as its cache does not have them, and sets up the least squares.
func (r *run) encode(ctx context.Context) error {
	r.translate()
	r.Report("encode with the teacher")
	all, err := Vectors(ctx, r.teacher, r.text, func(done int) { r.Progress("sentences", done, r.text.Len()) })
	if err != nil {
		return err
	}
	dim := r.teacher.Dim()
	for to, from := range r.kept { // kept rises, so that nothing is written over before it is read
		copy(all[to*dim:(to+1)*dim], all[from*dim:(from+1)*dim])
	}
	weights := make([]float32, len(r.kept))
	for i, from := range r.kept {
		if weights[i] = 1; i%heldOut == 0 && r.text.Languages[from] != NoLanguage {
			weights[i] = 0
		}
	}
	features, wide := fit.Padded(all[:len(r.kept)*dim], dim)
	r.fit = &fit.Problem{Sentences: r.rows, Weights: weights, Features: features, Dim: wide, Pieces: len(r.vocab.Teacher), Threads: r.Threads}
	r.Sentences, r.Tokens = len(r.kept), len(r.rows.IDs)
	return nil
}

// translate writes the sentences in the student's ids: without the language's prefix, which a student does not take.
// One with a piece that the student does not have is left out.
func (r *run) translate() {
	bos, eos := r.encoder.Vocabulary().Ends()
	var ids []int32
	for i := range r.text.Len() {
		frame := r.frames[max(r.text.Languages[i], 0)]
		whole := r.text.At(i)
		own := whole[min(len(frame.Before), len(whole)):max(len(whole)-len(frame.After), min(len(frame.Before), len(whole)))]
		ids = append(append(append(ids[:0], bos...), own...), eos...)
		ids, ok := r.vocab.Translate(ids, nil)
		if !ok {
			continue
		}
		r.rows.IDs = append(r.rows.IDs, ids...)
		r.rows.Ends = append(r.rows.Ends, int64(len(r.rows.IDs)))
		r.kept = append(r.kept, i)
	}
}

// alone gives what the teacher says of each of the student's pieces alone [pieces, dim].
func (r *run) alone(ctx context.Context) ([]float32, error) {
	singles := &Sentences{}
	for _, id := range r.vocab.Teacher {
		singles.IDs = append(singles.IDs, r.frames[0].Around([]int32{id})...)
		singles.Ends = append(singles.Ends, len(singles.IDs))
	}
	r.Report("encode each piece with the teacher")
	rows, err := Vectors(ctx, r.teacher, singles, func(done int) { r.Progress("pieces", done, singles.Len()) })
	if err != nil {
		return nil, err
	}
	rows, _ = fit.Padded(rows, r.teacher.Dim())
	return rows, nil
}

// Fitted says how a table was fitted: how much of the features' squares is left.
type Fitted struct {
	Power float64         `json:"power"` // of the tokens that a sum is divided by
	Ridge float64         `json:"ridge"`
	Prior fit.Unexplained `json:"prior"` // by the linear map of pieces alone
	Fit   fit.Unexplained `json:"fit"`
}

// solve fits the table to the teacher's features.
func (r *run) solve(ctx context.Context) error {
	alone, err := r.alone(ctx)
	if err != nil {
		return err
	}
	r.Report("fit the table")
	r.table, r.Fitted, err = r.fitTable(ctx, r.fit, alone, 0, 0.5, 1)
	return err
}

// fitTable fits a table [pieces, f.Dim]: the linear map of alone, what is said of the pieces alone, with the best of
// the powers, then the pieces' own part. f.Features are then what is left.
func (r *run) fitTable(ctx context.Context, f *fit.Problem, alone []float32, powers ...float64) (table []float32, s Fitted, err error) {
	f.Total = f.Squares()
	best := math.Inf(1)
	var linear []float32
	for _, power := range powers {
		scales := fit.ScalesOf(f.Sentences, power)
		w, left, err := f.PriorMap(alone, scales)
		if err != nil {
			return nil, s, err
		}
		if left < best {
			best, linear, s.Power, f.Scales = left, w, power, scales
		}
	}
	table = fit.Product(alone, f.Dim, linear[:f.Dim*f.Dim], f.Dim)
	if bos, _ := r.encoder.Vocabulary().Ends(); len(bos) > 0 { // every sentence has one: it carries the constant
		row := table[int(r.vocab.Student[bos[0]])*f.Dim:][:f.Dim]
		for k, x := range linear[f.Dim*f.Dim:] {
			row[k] += x
		}
	}
	if err := f.Explain(ctx, table); err != nil {
		return nil, s, err
	}
	s.Prior = f.Left()
	if s.Ridge, err = f.ChooseRidge(ctx, r.Steps); err != nil {
		return nil, s, err
	}
	if err := f.Solve(ctx, table, s.Ridge, r.Steps, float32(r.Share)); err != nil {
		return nil, s, err
	}
	s.Fit = f.Left()
	return table, s, ctx.Err()
}

// cut leaves of the table the features' columns.
func (r *run) cut(context.Context) error {
	r.table = fit.Cut(r.table, r.fit.Dim, r.teacher.Dim())
	return nil
}
