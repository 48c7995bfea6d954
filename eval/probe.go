package eval

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"bitextmine/encode/embedding"
	"bitextmine/eval/report"
	"bitextmine/eval/testset"
	"bitextmine/internal/badinput"
)

// Probe is classification of texts, or of pairs of them, by a linear layer on their vectors, in the language it is
// trained on and others.
var Probe = &Protocol{
	Name: "probe",
	Definition: [2]string{
		"Accuracy in percent of logistic regression on vectors (scikit-learn's: L2 on the weights, C = 1, fitted until the gradient vanishes),",
		"trained on the language's own training texts, and zero-shot: on those of the language of --tgt alone. Pairs are |u - v| and u * v.",
	},
	Columns: []report.Column{{Name: "own", Kind: report.Percentage}, {Name: "zero-shot", Kind: report.Percentage},
		{Name: "texts", Kind: report.Count}, {Name: "labels", Kind: report.Count}},
	labelled: (*Runner).probe,
}

func (r *Runner) probe(ctx context.Context, out *report.Report, dir, target string) error {
	trains, tests, err := testset.ReadLabelled(dir)
	if err != nil {
		return err
	}
	probes := map[string]*probe{}
	for _, set := range trains {
		r.progress("probe: train on %s", set.Name)
		rows, err := r.probed(ctx, set)
		if err != nil {
			return err
		}
		if probes[set.Language], err = newProbe(rows, set.Labels); err != nil {
			return fmt.Errorf("probe of %s: %w", set.Name, err)
		}
	}
	for _, set := range tests {
		r.progress("probe: test on %s", set.Name)
		rows, err := r.probed(ctx, set)
		if err != nil {
			return err
		}
		row := report.Row{Name: set.Language, Cells: []any{nil, nil, len(set.Labels), 0}}
		for column, language := range []string{set.Language, target} {
			if p := probes[language]; p != nil {
				if p.dim != rows.Dim {
					return badinput.Errorf("%s has texts with labels and pairs with labels of %s: keep them in folders of their "+
						"own", dir, set.Language)
				}
				row.Cells[column], row.Cells[3] = p.accuracy(rows, set.Labels), len(p.labels)
			}
		}
		if row.Cells[0] == nil && row.Cells[1] == nil {
			return badinput.Errorf("%s has %s but no training texts of %s or of %s (--tgt)", dir, set.Name, set.Language,
				target)
		}
		out.Rows = append(out.Rows, row)
	}
	return nil
}

// probed returns the features from which a set's labels are learnt: the vectors of its texts [n, dim], or, of pairs
// with the vectors u and v, |u - v| and u * v [n, 2 dim], as SentEval and InferSent have it.
func (r *Runner) probed(ctx context.Context, set testset.Labelled) (embedding.Matrix, error) {
	first, err := r.labelledVectors(ctx, set, set.First, false)
	if err != nil || len(set.Second.Texts) == 0 {
		return first.Rows, err
	}
	second, err := r.labelledVectors(ctx, set, set.Second, true)
	if err != nil {
		return second.Rows, err
	}
	n, dim := first.Rows.N, first.Rows.Dim
	u, v, rows := make([]float32, dim), make([]float32, dim), make([]float32, 0, 2*n*dim)
	for i := range n {
		first.Rows.Float32(u, i, i+1)
		second.Rows.Float32(v, i, i+1)
		for k := range u {
			rows = append(rows, float32(math.Abs(float64(u[k]-v[k]))))
		}
		for k := range u {
			rows = append(rows, u[k]*v[k])
		}
	}
	return embedding.FromFloat32(rows, 2*dim), nil
}

// probe is a fitted classifier: weights [labels, dim+1], of which the last of each row is the intercept. Of two labels
// the first has no weights, as in scikit-learn.
type probe struct {
	labels  []string
	weights []float64
	dim     int
	without int // labels without weights
}

// newProbe fits logistic regression by L-BFGS.
func newProbe(x embedding.Matrix, labels []string) (*probe, error) {
	p := &probe{labels: slices.Clone(labels), dim: x.Dim}
	slices.Sort(p.labels)
	if p.labels = slices.Compact(p.labels); len(p.labels) < 2 {
		return nil, badinput.Errorf("the training texts have one label only: a classifier needs two")
	}
	if len(p.labels) == 2 {
		p.without = 1
	}
	gold := make([]int, x.N)
	for i, label := range labels {
		gold[i], _ = slices.BinarySearch(p.labels, label)
	}
	rows := widened(x)
	share := make([]float64, len(p.labels))
	// loss returns half the squared weights and the cross-entropy, and adds their gradient to to.
	loss := func(w, to []float64) float64 {
		total := 0.0
		for i := range w {
			if i%(p.dim+1) != p.dim {
				total += w[i] * w[i] / 2
				to[i] = w[i]
			} else {
				to[i] = 0
			}
		}
		for i := range x.N {
			row := rows[i*p.dim:][:p.dim]
			total += logSum(p.logits(w, row, share)) - share[gold[i]]
			normal := logSum(share)
			for k := p.without; k < len(share); k++ {
				d := math.Exp(share[k] - normal)
				if k == gold[i] {
					d--
				}
				at := to[(k-p.without)*(p.dim+1):][:p.dim+1]
				for j, v := range row {
					at[j] += d * v
				}
				at[p.dim] += d
			}
		}
		return total
	}
	scratch := make([]float64, (len(p.labels)-p.without)*(p.dim+1))
	problem := optimize.Problem{
		Func: func(w []float64) float64 { return loss(w, scratch) },
		Grad: func(to, w []float64) { loss(w, to) },
	}
	found, err := optimize.Minimize(problem, make([]float64, len(scratch)),
		&optimize.Settings{GradientThreshold: 1e-4, MajorIterations: 1000}, &optimize.LBFGS{})
	if err != nil && found == nil {
		return nil, err
	}
	p.weights = found.X
	return p, nil
}

func widened(x embedding.Matrix) []float64 {
	narrow := make([]float32, x.N*x.Dim)
	x.Float32(narrow, 0, x.N)
	wide := make([]float64, len(narrow))
	for i, v := range narrow {
		wide[i] = float64(v)
	}
	return wide
}

// logits writes a row's logit of each label to to.
func (p *probe) logits(w, row, to []float64) []float64 {
	to[0] = 0
	for k := p.without; k < len(to); k++ {
		of := w[(k-p.without)*(p.dim+1):][:p.dim+1]
		to[k] = of[p.dim]
		for j, v := range row {
			to[k] += of[j] * v
		}
	}
	return to
}

func logSum(logits []float64) float64 {
	most, sum := slices.Max(logits), 0.0
	for _, l := range logits {
		sum += math.Exp(l - most)
	}
	return most + math.Log(sum)
}

// accuracy is the percentage of rows of which the first most likely label is right.
func (p *probe) accuracy(x embedding.Matrix, labels []string) float64 {
	rows, right := widened(x), 0
	logits := make([]float64, len(p.labels))
	for i, label := range labels {
		p.logits(p.weights, rows[i*p.dim:][:p.dim], logits)
		if p.labels[slices.Index(logits, slices.Max(logits))] == label {
			right++
		}
	}
	return percent(right, len(labels))
}
