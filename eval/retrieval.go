package eval

import (
	"context"

	"bitextmine/eval/report"
)

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
	Dataset:     "flores200",
	distractors: true,
	aligned: eachSet(func(ctx context.Context, r *Runner, set alignedSet) ([]any, error) {
		a, err := ScoreXSim(ctx, r.Searcher, set.source, set.target, set.byText)
		return []any{a.Percent(), a.Queries, a.Correct, len(set.target.Texts)}, err
	}),
}
