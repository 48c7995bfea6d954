// Package calibrate is the stage that injects known pairs into a pair's corpora and records what became of them, from
// which the precision and recall of margin thresholds are estimated. It is no part of a run: mine calibrate asks for
// it.
package calibrate

import (
	"context"
	"path/filepath"

	"bitextmine/bitext/exchange"
	"bitextmine/mine"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/stage"
	stageinject "bitextmine/pipeline/stage/fit"
	"bitextmine/pipeline/stage/merge"
	"bitextmine/pipeline/view"
	"bitextmine/score/calibration"
	"bitextmine/score/inject"
)

// Stage is the descriptor.
var Stage = &stage.Descriptor{
	Name: "calibrate", Version: 1, Unit: "known pairs", After: []string{view.Merge}, Wide: true, OnDemand: true,
}

func init() { // not in the declaration, as the functions refer to it
	Stage.Check, Stage.Run = stage.CheckPair, run
	stage.Register(Stage)
}

// OutcomesFile is the name of the file in the output.
const OutcomesFile = "outcomes.json"

// args is a pair of languages, the known pairs, and the margin that they are mined by.
type args struct {
	Pair   int             `json:"pair"`
	Known  []exchange.Pair `json:"known"`
	Margin mine.Margin     `json:"margin"`
}

// spec lists all that the outcomes depend on.
type spec struct {
	Merges [2][]string
	Known  []exchange.Pair
	Margin mine.Margin
}

// Want asks for the outcomes of known pairs in a pair of languages, and returns their key.
func Want(b *stage.Builder, pair int, known []exchange.Pair, margin mine.Margin) string {
	merge.Want(b, pair)
	key := Stage.Key(spec{b.Pairs[pair].Merges, known, margin})
	b.Add(Stage, key, int64(len(known)), stageinject.InjectionCost(b, pair), args{pair, known, margin})
	return key
}

// run injects the known pairs and writes what became of them. Nothing injected gets into an output.
func run(ctx context.Context, e *stage.Env, t *plan.Task, dir string, meter progress.Meter) (any, error) {
	a, err := stage.Args[args](t)
	if err != nil {
		return nil, err
	}
	return nil, stageinject.WithHost(ctx, e, a.Pair, func(host *inject.Host) error {
		outcomes, err := calibration.Collect(ctx, host, a.Known, a.Margin)
		if err != nil {
			return err
		}
		meter.Add(t.Items)
		return outcomes.Write(filepath.Join(dir, OutcomesFile))
	})
}
