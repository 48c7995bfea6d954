package eval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"bitextmine/eval/report"
	"bitextmine/eval/testset"
	"bitextmine/internal/badinput"
)

// Pairs is pair classification as MTEB defines it.
var Pairs = &Protocol{
	Name: "pairs",
	Definition: [2]string{
		"Classification of pairs by cosine: average precision (MTEB's main score), and the best accuracy and F1 of any threshold, in percent.",
		"Label 1 or entailment is positive, 0 or contradiction negative (of XNLI's numbers 0 and 2); other pairs are left out. Pairs of equal cosine are on one side.",
	},
	Columns: []report.Column{{Name: "AP", Kind: report.Percentage}, {Name: "accuracy", Kind: report.Percentage},
		{Name: "F1", Kind: report.Percentage}, {Name: "pairs", Kind: report.Count}, {Name: "positive", Kind: report.Count}},
	labelled: (*Runner).pairs,
}

func (r *Runner) pairs(ctx context.Context, out *report.Report, dir, _ string) error {
	sets, unread, err := testset.ReadPairs(dir)
	if err != nil {
		return err
	}
	if len(unread) > 0 {
		out.Note("not measured, beside test pairs: %s", strings.Join(unread, ", "))
	}
	var numbered, left []string // sets with XNLI's numbers, and what is left out
	others := 0
	for _, set := range sets {
		r.progress("pairs %s", set.Name)
		judged, xnli, err := r.judge(ctx, set)
		if err != nil {
			return err
		}
		if xnli {
			numbered = append(numbered, set.Name)
		}
		if n := len(set.Labels) - len(judged); n > 0 {
			others, left = others+n, append(left, fmt.Sprintf("%d of %s", n, set.Name))
		}
		c := classify(judged)
		if c.positive == 0 || c.positive == len(judged) {
			return badinput.Errorf("%s of %s has %d pairs with a label of which %d are positive: it needs both kinds, labelled 1 and 0, or entailment and contradiction",
				set.Name, dir, len(judged), c.positive)
		}
		out.Rows = append(out.Rows, report.Row{Name: set.Name, Cells: []any{c.precision, c.accuracy, c.f1, len(judged), c.positive}})
	}
	if len(numbered) > 0 {
		out.Note("the labels 0, 1 and 2 are read as XNLI's entailment, neutral and contradiction: %s", strings.Join(numbered, ", "))
	}
	if others > 0 {
		out.Note("%d pairs with other labels are left out: %s", others, strings.Join(left, ", "))
	}
	return nil
}

// judge returns the pairs of a set that are positive or negative. xnli says that the labels are XNLI's numbers.
func (r *Runner) judge(ctx context.Context, set testset.Labelled) (judged []judgedPair, xnli bool, err error) {
	verdicts, xnli, err := set.Verdicts()
	if err != nil {
		return nil, false, err
	}
	first, err := r.labelledVectors(ctx, set, set.First, false)
	if err != nil {
		return nil, false, err
	}
	second, err := r.labelledVectors(ctx, set, set.Second, true)
	if err != nil {
		return nil, false, err
	}
	for i, cosine := range pairCosines(first.Rows, second.Rows) {
		if verdicts[i] != testset.LeftOut {
			judged = append(judged, judgedPair{cosine, verdicts[i] == testset.Alike})
		}
	}
	return judged, xnli, nil
}

func (r *Runner) labelledVectors(ctx context.Context, set testset.Labelled, side testset.Side, target bool) (testset.EncodedSide, error) {
	pair := testset.LanguagePair{Source: set.Language, Target: set.Language}
	return r.Vectors.Vectors(ctx, side, testset.Role{Target: target, Half: set.Name, File: set.File, Pair: pair})
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
