package eval

import (
	"cmp"
	"context"
	"slices"

	"bitextmine/eval/report"
	"bitextmine/eval/testset"
	"bitextmine/internal/badinput"
)

// Pairs is pair classification as MTEB defines it.
var Pairs = &Protocol{
	Name: "pairs",
	Definition: [2]string{
		"Classification of pairs by cosine: average precision (MTEB's main score), and the best accuracy and F1 of any threshold, in percent.",
		"Label 1 or entailment is positive, 0 or contradiction negative; other pairs are left out. Pairs of equal cosine are on one side.",
	},
	Columns: []report.Column{{Name: "AP", Kind: report.Percentage}, {Name: "accuracy", Kind: report.Percentage},
		{Name: "F1", Kind: report.Percentage}, {Name: "pairs", Kind: report.Count}, {Name: "positive", Kind: report.Count}},
	labelled: (*Runner).pairs,
}

// positives says of the labels that count whether they are positive.
var positives = map[string]bool{"1": true, "entailment": true, "0": false, "contradiction": false}

func (r *Runner) pairs(ctx context.Context, out *report.Report, dir, _ string) error {
	sets, err := testset.ReadPairs(dir)
	if err != nil {
		return err
	}
	for _, set := range sets {
		r.progress("pairs %s", set.Name)
		first, err := r.labelledVectors(ctx, set, set.First, false)
		if err != nil {
			return err
		}
		second, err := r.labelledVectors(ctx, set, set.Second, true)
		if err != nil {
			return err
		}
		var judged []judgedPair
		for i, cosine := range pairCosines(first.Rows, second.Rows) {
			if positive, counts := positives[set.Labels[i]]; counts {
				judged = append(judged, judgedPair{cosine, positive})
			}
		}
		c := classify(judged)
		if c.positive == 0 || c.positive == len(judged) {
			return badinput.Errorf("%s of %s has %d pairs with a label of which %d are positive: it needs both kinds, "+
				"labelled 1 and 0, or entailment and contradiction", set.Name, dir, len(judged), c.positive)
		}
		out.Rows = append(out.Rows, report.Row{Name: set.Name,
			Cells: []any{c.precision, c.accuracy, c.f1, len(judged), c.positive}})
	}
	return nil
}

func (r *Runner) labelledVectors(ctx context.Context, set testset.Labelled, side testset.Side,
	target bool) (testset.EncodedSide, error) {
	return r.Vectors.Vectors(ctx, side, testset.Role{Target: target, Half: set.Name,
		Pair: testset.LanguagePair{Source: set.Language, Target: set.Language}})
}

type judgedPair struct {
	cosine   float64
	positive bool
}

// classification is the figures of Pairs, in percent.
type classification struct {
	precision, accuracy, f1 float64
	positive                int
}

// classify sorts the pairs. As in scikit-learn, average precision is the sum over all thresholds of the precision times
// what recall grows by.
func classify(pairs []judgedPair) (c classification) {
	slices.SortFunc(pairs, func(a, b judgedPair) int { return cmp.Compare(b.cosine, a.cosine) })
	for _, p := range pairs {
		if p.positive {
			c.positive++
		}
	}
	n := len(pairs)
	c.accuracy = percent(n-c.positive, n) // all negative
	found, before := 0, 0
	for i, p := range pairs {
		if p.positive {
			found++
		}
		if i+1 < n && pairs[i+1].cosine == p.cosine {
			continue
		}
		c.precision += percent(found, i+1) * float64(found-before) / float64(max(1, c.positive))
		before = found
		c.accuracy = max(c.accuracy, percent(found+n-c.positive-(i+1-found), n))
		c.f1 = max(c.f1, percent(2*found, i+1+c.positive))
	}
	return c
}
