package distil

import (
	"context"
	"math"

	"bitextmine/train/distil/leastsquares"
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
	features, wide := leastsquares.Padded(all[:len(r.kept)*dim], dim)
	r.fit = &leastsquares.Problem{Sentences: r.rows, Weights: weights, Features: features, Dim: wide, Pieces: len(r.vocab.Teacher), Threads: r.Threads}
	r.fit.Total = r.fit.Squares()
	r.Sentences, r.Tokens = len(r.kept), len(r.rows.IDs)
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
	singles := &sentences{}
	for _, id := range r.vocab.Teacher {
		singles.ids = append(singles.ids, r.frames[0].around([]int32{id})...)
		singles.ends = append(singles.ends, len(singles.ids))
	}
	r.Report("encode each piece with the teacher")
	rows, err := vectors(ctx, r.teacher, singles, func(done int) { r.Progress("pieces", done, singles.len()) })
	if err != nil {
		return nil, err
	}
	rows, _ = leastsquares.Padded(rows, r.teacher.Dim())
	return rows, nil
}

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
		scales := leastsquares.ScalesOf(f.Sentences, power)
		w, left, err := f.PriorMap(alone, scales)
		if err != nil {
			return err
		}
		if left < best {
			best, linear, r.Power, f.Scales = left, w, power, scales
		}
	}
	r.table = leastsquares.Product(alone, f.Dim, linear[:f.Dim*f.Dim], f.Dim)
	if bos, _ := r.encoder.Vocabulary().Ends(); len(bos) > 0 { // every sentence has one: it carries the constant
		row := r.table[int(r.vocab.Student[bos[0]])*f.Dim:][:f.Dim]
		for k, x := range linear[f.Dim*f.Dim:] {
			row[k] += x
		}
	}
	if err := f.Explain(ctx, r.table); err != nil {
		return err
	}
	r.Prior = f.Left()
	r.Report("fit the table")
	if r.Ridge, err = f.ChooseRidge(ctx, r.Steps); err != nil {
		return err
	}
	if err := f.Solve(ctx, r.table, r.Ridge, r.Steps, float32(r.Share)); err != nil {
		return err
	}
	r.Fit = f.Left()
	return ctx.Err()
}

// cut leaves of the table the features' columns.
func (r *run) cut(context.Context) error {
	r.table = leastsquares.Cut(r.table, r.fit.Dim, r.teacher.Dim())
	return nil
}
