package fit

import (
	"context"
	"path/filepath"

	"bitextmine/bitext/exchange"
	"bitextmine/mine"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/merge"
	"bitextmine/pipeline/view"
	"bitextmine/score/calibration"
	"bitextmine/score/inject"
)

// Calibrate is the stage that injects known pairs and records what became of them, from which the precision and recall
// of margin thresholds are estimated. mine calibrate asks for it.
var Calibrate = &stage.Descriptor{
	Name: "calibrate", Version: 3, Unit: "known pairs", After: []string{view.Merge}, Wide: true, OnDemand: true,
}

func init() { // not in the declaration, as the functions refer to it
	Calibrate.Check, Calibrate.Run = stage.CheckPair, calibrate
	stage.Register(Calibrate)
}

// OutcomesFile is the name of the file in the output.
const OutcomesFile = "outcomes.json"

// calibrateArgs is a pair of languages, the known pairs, and the margin that they are mined by.
type calibrateArgs struct {
	Pair   int             `json:"pair"`
	Known  []exchange.Pair `json:"known"`
	Margin mine.Margin     `json:"margin"`
}

// calibrateSpec lists all that the outcomes depend on.
type calibrateSpec struct {
	Merges [2][]string
	Known  []exchange.Pair
	Margin mine.Margin

	KeepCopies bool `json:",omitempty"` // untranslated text is a candidate
}

// WantOutcomes asks for the outcomes of known pairs in a pair of languages, and returns their key.
func WantOutcomes(b *stage.Builder, pair int, known []exchange.Pair, margin mine.Margin) string {
	merge.Want(b, pair)
	key := Calibrate.Key(calibrateSpec{b.Pairs[pair].Merges, known, margin, b.Settings.KeepCopies})
	b.Add(Calibrate, key, int64(len(known)), injectionCost(b, pair), calibrateArgs{pair, known, margin})
	return key
}

// calibrate injects the known pairs and writes what became of them. Nothing injected gets into an output.
func calibrate(ctx context.Context, e *stage.Env, t *plan.Task, dir string, meter progress.Meter) (any, error) {
	a, err := stage.Args[calibrateArgs](t)
	if err != nil {
		return nil, err
	}
	return nil, withHost(ctx, e, a.Pair, false, func(host *inject.Host) error {
		outcomes, err := calibration.Collect(ctx, host, a.Known, a.Margin)
		if err != nil {
			return err
		}
		meter.Add(t.Items)
		return outcomes.Write(filepath.Join(dir, OutcomesFile))
	})
}
