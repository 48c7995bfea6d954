package distil

import (
	"context"

	"bitextmine/encode/onnxgraph"
	"bitextmine/internal/badinput"
	"bitextmine/train/distil/finish"
	"bitextmine/train/distil/leastsquares"
	"bitextmine/train/distil/student"
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
	s := finish.DefaultSettings()
	s.Epochs, s.Seed, s.Threads = r.Epochs, r.Seed, r.Threads
	s.Report = func(step, steps int, _ float64) { r.Progress("steps", step, steps) }
	table := leastsquares.Cut(r.table, f.Dim, dim)
	data := &finish.Data{
		Sentences: r.rows, Scales: f.Scales, Items: r.items(), Targets: targets, Vector: r.head.Dim, Dim: dim, Round: r.rounding(),
	}
	if r.Losses[0], r.Losses[1], err = finish.Run(ctx, data, table, head, s); err != nil {
		return err
	}
	for i, w := range r.head.Weights {
		if m := head.Weights[w.Name]; m != nil {
			r.head.Weights[i] = onnxgraph.NewFloat32(w.Name, m.Shape, m.Values)
		}
	}
	r.table, _ = leastsquares.Padded(table, dim)
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
func (r *run) trainable() (*finish.Head, error) {
	h := &finish.Head{From: r.head.From, To: r.head.To, Weights: map[string]*finish.Matrix{}}
	weights := map[string]onnxgraph.Initializer{}
	for _, w := range r.head.Weights {
		weights[w.Name] = w
	}
	lengths := map[string]string{} // a tensor that is the length of another's rows
	for _, n := range r.head.Nodes {
		layer := finish.Layer{Op: n.Op, In: n.Inputs[0], Out: n.Outputs[0]}
		if len(n.Inputs) > 1 {
			layer.With = n.Inputs[1]
		}
		if ofRows(n) {
			lengths[layer.Out] = layer.In
			continue
		}
		if of, ok := lengths[layer.With]; ok && n.Op == "Div" && of == layer.In {
			layer.Op, layer.With = "LpNormalization", ""
		}
		_, constant := weights[layer.In]
		if !finish.Differentiable(layer.Op) || len(n.Inputs) > 2 || constant {
			return nil, badinput.Errorf("--epochs: the head of %s has an operator %s that gradient descent does not know: leave the flag out, or name a later tensor with --features", r.model.Name, n.Op)
		}
		if w, ok := weights[layer.With]; ok {
			shape, values, ok := student.Float32Weights(w)
			if !ok || len(shape) > 2 {
				return nil, badinput.Errorf("--epochs: weight %s of the head of %s is no float32 matrix: leave the flag out", w.Name, r.model.Name)
			}
			h.Weights[w.Name] = finish.NewMatrix(shape, values)
		}
		h.Layers = append(h.Layers, layer)
	}
	return h, nil
}

// ofRows says whether a node gives the length of each row, by which exports of mean pooling divide.
func ofRows(n onnxgraph.Node) bool {
	attributes, err := n.Attributes()
	axes := attributes["axes"].Ints
	return err == nil && n.Op == "ReduceL2" && len(axes) == 1 && (axes[0] == 1 || axes[0] == -1) && attributes["keepdims"].First(1) == 1
}

// items are all sentences that are fitted, each with itself, and the pairs of the bitext, each in both directions.
func (r *run) items() []finish.Item {
	var items []finish.Item
	row := make([]int32, r.text.len()) // of each sentence; -1: it is not fitted
	for i := range row {
		row[i] = -1
	}
	for i, from := range r.kept {
		if r.fit.Weights[i] != 0 {
			row[from] = int32(i)
			items = append(items, finish.Item{Sentence: int32(i), Aim: int32(i)})
		}
	}
	for _, pair := range r.text.pairs {
		if a, b := row[pair[0]], row[pair[1]]; a >= 0 && b >= 0 {
			items = append(items, finish.Item{Sentence: a, Aim: b}, finish.Item{Sentence: b, Aim: a})
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
