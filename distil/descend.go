package distil

import (
	"context"
	"slices"

	"bitextmine/distil/fit"
	"bitextmine/distil/student"
)

// descend trains table and head by gradient descent. problem.Features are then what the new table leaves.
func descend(ctx context.Context, o Options, p *pieces, problem *fit.Problem, from *table) (*table, error) {
	o.Report("finish by gradient descent")
	head := *from.head
	head.Weights = slices.Clone(head.Weights)
	network, err := head.Network()
	if err != nil {
		return nil, err
	}
	if err := problem.Restore(ctx, from.values); err != nil { // the teacher's features again
		return nil, err
	}
	dim := from.dim
	targets, err := network.Vectors(p.rows.Rows(), dim, head.Dim, o.Threads,
		func(i int, to []float32) { copy(to, problem.Features[i*problem.Dim:][:dim]) })
	if err != nil {
		return nil, err
	}
	s := fit.DefaultSettings()
	s.Epochs, s.Seed, s.Threads = o.Epochs, o.Seed, o.Threads
	s.Report = func(step, steps int, _ float64) { o.Progress("steps", step, steps) }
	data := &fit.Data{
		Sentences: p.rows, Scales: problem.Scales, Items: items(p, problem.Weights), Targets: targets, Vector: head.Dim,
		Dim:   dim,
		Round: rounding(o, problem.Pieces, dim),
	}
	out := *from
	values := fit.Cut(from.values, problem.Dim, dim)
	if out.losses[0], out.losses[1], err = fit.Finish(ctx, data, values, network, s); err != nil {
		return nil, err
	}
	head.Take(network)
	out.head = &head
	out.values, _ = fit.Padded(values, dim)
	if err := problem.Explain(ctx, out.values); err != nil {
		return nil, err
	}
	out.descent = problem.Left()
	return &out, nil
}

// items are all sentences that are fitted, each with itself, and the pairs of the bitext, each in both directions.
func items(p *pieces, weights []float32) []fit.Item {
	var items []fit.Item
	row := make([]int32, p.text.Len()) // row of each sentence; -1: it is not fitted
	for i := range row {
		row[i] = -1
	}
	for i, from := range p.kept {
		if weights[i] != 0 {
			row[from] = int32(i)
			items = append(items, fit.Item{Sentence: int32(i), Aim: int32(i)})
		}
	}
	for _, pair := range p.text.Pairs {
		if a, b := row[pair[0]], row[pair[1]]; a >= 0 && b >= 0 {
			items = append(items, fit.Item{Sentence: a, Aim: b}, fit.Item{Sentence: b, Aim: a})
		}
	}
	return items
}

// rescale: a row's scale is chosen anew at every sixteenth of its roundings, because choosing takes longer than
// rounding.
const rescale = 16

// rounding rounds rows as they ship, so that the descent sees them so; nil for columns that are cut later.
func rounding(o Options, rows, dim int) func(row int, values, shipped []float32) {
	if o.Rank != 0 && o.Rank != dim {
		return nil
	}
	scales, times := make([]float32, rows), make([]int, rows)
	return func(row int, values, shipped []float32) {
		if times[row]%rescale == 0 {
			scales[row] = student.BestScale(values, o.Bits)
		}
		times[row]++
		student.Round(values, scales[row], o.Bits, shipped)
	}
}
