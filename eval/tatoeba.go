package eval

import (
	"context"

	"bitextmine/eval/report"
	"bitextmine/eval/testset"
	"bitextmine/index"
)

// Tatoeba is the similarity search on LASER's Tatoeba test (Artetxe & Schwenk 2019).
var Tatoeba = &Protocol{
	Name: "tatoeba",
	Definition: [2]string{
		"Line-aligned sentences; each side's nearest neighbour on the other side by cosine, no margin. P@1: it is on the same line.",
		"In both directions and their mean, per language and averaged over languages. The error rate that LASER prints is 100 - P@1.",
	},
	Columns: []report.Column{
		{Name: "accuracy", Kind: report.Percentage}, {Name: "accuracy_forward", Kind: report.Percentage},
		{Name: "accuracy_backward", Kind: report.Percentage},
		{Name: "error", Kind: report.Percentage}, {Name: "sentences", Kind: report.Count},
	},
	Sampled: "accuracy",
	Dataset: "tatoeba",
	ByText:  true,
	aligned: eachSet(func(ctx context.Context, r *Runner, set alignedSet) (report.Row, error) {
		s, err := ScoreTatoeba(ctx, r.Searcher, set.source, set.target, set.byText)
		return report.Row{Cells: []any{s.Mean(), s.Forward.Percent(), s.Backward.Percent(), 100 - s.Mean(), s.Forward.Queries},
			Items: items(s.Forward.Right, s.Backward.Right)}, err
	}),
}

// Accuracy counts correct answers.
type Accuracy struct {
	Correct, Queries int
	Right            []bool // whether each query is right
}

// items is the share of right answers to each query of tests with the same queries.
func items(right ...[]bool) [][]float64 {
	out := make([]float64, len(right[0]))
	for _, one := range right {
		for i, r := range one {
			if r {
				out[i] += 1 / float64(len(right))
			}
		}
	}
	return [][]float64{out}
}

// Percent is Correct/Queries in percent.
func (a Accuracy) Percent() float64 { return report.Percent(a.Correct, a.Queries) }

// Error is 100 - Percent.
func (a Accuracy) Error() float64 { return report.Percent(a.Queries-a.Correct, a.Queries) }

// TatoebaScore is the P@1 of both directions.
type TatoebaScore struct{ Forward, Backward Accuracy }

// Mean is the mean of both directions in percent.
func (s TatoebaScore) Mean() float64 { return (s.Forward.Percent() + s.Backward.Percent()) / 2 }

// ScoreTatoeba evaluates two line-aligned sides. With byText, a neighbour with the same text as the correct one is
// correct too.
func ScoreTatoeba(ctx context.Context, searcher index.Searcher, source, target testset.EncodedSide,
	byText bool) (TatoebaScore, error) {
	x, y := arrange(source, false), arrange(target, false)
	found, err := searcher.Search(ctx, index.Side{Vectors: x.rows}, index.Side{Vectors: y.rows}, 1, nil)
	if err != nil {
		return TatoebaScore{}, err
	}
	nearest := func(ids []int32, from, to arranged) []int32 {
		out := make([]int32, len(from.sentence))
		for row, s := range from.sentence {
			out[s] = to.sentence[ids[row]]
		}
		return out
	}
	return TatoebaScore{
		Forward:  sameLine(nearest(found.Source.IDs, x, y), target.Texts, byText),
		Backward: sameLine(nearest(found.Target.IDs, y, x), source.Texts, byText),
	}, nil
}

// sameLine counts the queries i whose answer is i or, with byText, has the same text as i.
func sameLine(answers []int32, texts []string, byText bool) Accuracy {
	a := Accuracy{Queries: len(answers), Right: make([]bool, len(answers))}
	for i, answer := range answers {
		if a.Right[i] = int(answer) == i || byText && texts[answer] == texts[i]; a.Right[i] {
			a.Correct++
		}
	}
	return a
}

// Retrieval is the retrieval test of EMS (Li et al. 2024): 2,000 ParaCrawl sentences against 200,000.
var Retrieval = &Protocol{
	Name: "retrieval",
	Definition: [2]string{
		"Each query with the one of its 4 nearest targets that has the highest ratio margin (k = 4); targets are the queries' translations and distractors.",
		"P@1 in percent: the target on the query's line was found. EMS's figures are for 2,000 queries against 200,000 targets.",
	},
	Columns: []report.Column{
		{Name: "accuracy", Kind: report.Percentage}, {Name: "queries", Kind: report.Count},
		{Name: "correct", Kind: report.Count}, {Name: "targets", Kind: report.Count},
	},
	Sampled:     "accuracy",
	Dataset:     "flores200",
	ByText:      true,
	distractors: true,
	aligned: eachSet(func(ctx context.Context, r *Runner, set alignedSet) (report.Row, error) {
		a, err := ScoreXSim(ctx, r.Searcher, set.source, set.target, set.byText)
		return report.Row{Cells: []any{a.Percent(), a.Queries, a.Correct, len(set.target.Texts)}, Items: items(a.Right)}, err
	}),
}
