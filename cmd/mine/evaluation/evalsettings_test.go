package evaluation

import (
	"context"
	"testing"

	"bitextmine/eval"
	"bitextmine/eval/report"
	"bitextmine/index"
	"bitextmine/pipeline"
)

// measuring is an approximate search that finds this share of the neighbours.
type measuring float64

func (measuring) Name() string { return "ivf:64" }

func (m measuring) Search(context.Context, index.Side, index.Side, int, func(float64)) (index.Result, error) {
	return index.Result{Recall: index.Recall{Source: float64(m), Target: 1, SourceRows: 1, TargetRows: 1}}, nil
}

// TestRecallIsOfTheReportsOwnSets: a report does not give the recall of a search in the sets of another.
func TestRecallIsOfTheReportsOwnSets(t *testing.T) {
	o := evalOptions{engine: engine{cfg: &pipeline.Config{}}, dir: t.TempDir(), target: "en", dtype: "float32", searcher: &measuredSearch{}}
	finding := func(share float64) func(*evalOptions, context.Context, *eval.Runner, []*eval.Protocol) ([]*report.Report, error) {
		return func(o *evalOptions, ctx context.Context, _ *eval.Runner, _ []*eval.Protocol) ([]*report.Report, error) {
			o.searcher.Searcher = measuring(share)
			_, err := o.searcher.Search(ctx, index.Side{}, index.Side{}, 1, nil)
			return []*report.Report{{}}, err
		}
	}
	all := testSets
	testSets = testSets[:0:0]
	for i, share := range []float64{0.5, 0.9} {
		kind := all[i]
		kind.run = finding(share)
		testSets = append(testSets, kind)
	}
	defer func() { testSets = all }()
	protocols, err := o.protocols([]string{"bucc-laser", "tatoeba"})
	if err != nil {
		t.Fatal(err)
	}
	reports, err := o.evaluate(t.Context(), nil, protocols)
	if err != nil || len(reports) != 2 {
		t.Fatalf("%d reports, %v", len(reports), err)
	}
	for i, want := range []float64{0.5, 0.9} {
		for _, s := range reports[i].Settings {
			if s.Name == "recall" && s.Value != want {
				t.Errorf("report %d: the recall is %v, want %v", i, s.Value, want)
			}
		}
	}
}
