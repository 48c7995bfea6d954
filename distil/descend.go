package distil

import (
	"context"

	"bitextmine/distil/fit"
	"bitextmine/internal/badinput"

	"bitextmine/distil/student"
)

// descend finishes table and head by gradient descent, if asked.
func (r *run) descend(ctx context.Context) error {
	if r.Epochs == 0 {
		return nil
	}
	r.Report("finish by gradient descent")
	head, err := r.trainable()
	if err != nil {
		return err
	}
	f, dim := r.fit, r.teacher.Dim()
	if err := f.Restore(ctx, r.table); err != nil { // the teacher's features again
		return err
	}
	targets, err := head.Vectors(r.rows.Rows(), dim, r.head.Dim, r.Threads, func(i int, to []float32) { copy(to, f.Features[i*f.Dim:][:dim]) })
	if err != nil {
		return err
	}
	s := fit.DefaultSettings()
	s.Epochs, s.Seed, s.Threads = r.Epochs, r.Seed, r.Threads
	s.Report = func(step, steps int, _ float64) { r.Progress("steps", step, steps) }
	table := fit.Cut(r.table, f.Dim, dim)
	data := &fit.Data{
		Sentences: r.rows, Scales: f.Scales, Items: r.items(), Targets: targets, Vector: r.head.Dim, Dim: dim, Round: r.rounding(),
	}
	if r.Losses[0], r.Losses[1], err = fit.Finish(ctx, data, table, head, s); err != nil {
		return err
	}
	r.head.Take(head)
	r.table, _ = fit.Padded(table, dim)
	if err := f.Explain(ctx, r.table); err != nil {
		return err
	}
	r.Descent = f.Left()
	return nil
}

// checkHead says whether --epochs can train the teacher's head, before anything is read.
func (r *run) checkHead() error {
	if r.Epochs == 0 {
		return nil
	}
	_, err := r.trainable()
	return err
}

// trainable is the teacher's head as the descent takes it.
func (r *run) trainable() (*fit.Head, error) {
	h, err := r.head.Network()
	if err != nil {
		return nil, badinput.Errorf("--epochs: the head of %s %w: leave the flag out, or name a later tensor with --features", r.model.Name, err)
	}
	return h, nil
}

// items are all sentences that are fitted, each with itself, and the pairs of the bitext, each in both directions.
func (r *run) items() []fit.Item {
	var items []fit.Item
	row := make([]int32, r.text.Len()) // of each sentence; -1: it is not fitted
	for i := range row {
		row[i] = -1
	}
	for i, from := range r.kept {
		if r.fit.Weights[i] != 0 {
			row[from] = int32(i)
			items = append(items, fit.Item{Sentence: int32(i), Aim: int32(i)})
		}
	}
	for _, pair := range r.text.Pairs {
		if a, b := row[pair[0]], row[pair[1]]; a >= 0 && b >= 0 {
			items = append(items, fit.Item{Sentence: a, Aim: b}, fit.Item{Sentence: b, Aim: a})
		}
	}
	return items
}

// rescale is how many of a row's roundings keep its scale.
const rescale = 16

// rounding rounds rows as they ship, so that the descent sees it; nil for columns that are cut later. A row's scale is
// chosen anew at every sixteenth of its roundings: that takes longer than rounding.
func (r *run) rounding() func(row int, values, shipped []float32) {
	if r.Rank != 0 && r.Rank != r.teacher.Dim() {
		return nil
	}
	scales, times := make([]float32, r.Rows), make([]int, r.Rows)
	return func(row int, values, shipped []float32) {
		if times[row]%rescale == 0 {
			scales[row] = student.BestScale(values, r.Bits)
		}
		times[row]++
		student.Round(values, scales[row], r.Bits, shipped)
	}
}
