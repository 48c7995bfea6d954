// Package fit has the two stages that inject known pairs into a pair's corpora: Stage collects the examples that a
// scorer is fitted on, Calibrate what became of the pairs. Neither is a part of every run.
package fit

import (
	"context"
	"fmt"
	"path/filepath"

	"bitextmine/bitext/exchange"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/merge"
	"bitextmine/pipeline/view"
	"bitextmine/score"
	"bitextmine/score/fit"
	"bitextmine/score/inject"
)

// Stage collects examples. mine fit-scorer asks for it, and a run with a scorer of its own.
var Stage = &stage.Descriptor{
	Name: "fit", Version: 6, Unit: "known pairs", After: []string{view.Merge}, Wide: true, OnDemand: true,
}

func init() { // not in the declaration, as the functions refer to it
	Stage.Check, Stage.Run = stage.CheckPair, run
	stage.Register(Stage)
}

// ExamplesFile is the name of the file in the output.
const ExamplesFile = "examples.json"

// Known is the known pairs to inject and where they came from.
type Known struct {
	Name  string          `json:"name"`
	Pairs []exchange.Pair `json:"pairs"`
}

// args is a pair of languages, the known pairs, and whether a run asks, for its own scorer.
type args struct {
	Pair     int   `json:"pair"`
	Known    Known `json:"known"`
	OnTheWay bool  `json:"on_the_way,omitempty"`
}

// spec lists all that the examples depend on.
type spec struct {
	Merges           [2][]string
	Known            Known
	Features         []string
	OnTheWay         bool   `json:",omitempty"`
	KeepCopies       bool   `json:",omitempty"` // untranslated text is a candidate
	Tokens           string `json:",omitempty"` // stage.Tokens.Output
	setting.Refining        // both fields are empty for one encoder
}

// Want asks for the examples of known pairs in a pair of languages, and returns their key. Those of a run's own scorer
// (onTheWay) have no features of token vectors that depend on the sentence: with them the encoder would compute every
// sentence again, in each round of the fit and then in every night.
func Want(b *stage.Builder, pair int, known Known, onTheWay bool) string {
	merge.Want(b, pair)
	of := spec{b.Pairs[pair].Merges, known, fit.FeatureVersions(), onTheWay, b.Settings.KeepCopies, b.Tokens.Output, b.Settings.Refining}
	if onTheWay { // what the strong encoder adds is learnt from the run's own candidates
		of.Refining = setting.Refining{}
	}
	key := Stage.Key(of)
	b.Add(Stage, key, int64(len(known.Pairs)), injectionCost(b, pair), args{pair, known, onTheWay})
	return key
}

// run injects the known pairs and writes the examples that they and their rivals make. Nothing injected gets into an
// output.
func run(ctx context.Context, e *stage.Env, t *plan.Task, dir string, meter progress.Meter) (any, error) {
	a, err := stage.Args[args](t)
	if err != nil {
		return nil, err
	}
	return nil, withHost(ctx, e, a.Pair, !a.OnTheWay, func(host *inject.Host) error {
		if a.OnTheWay {
			if host.Tokens != nil && !host.Tokens.Static() {
				host.Tokens = nil
			}
		}
		told := int64(0)
		examples, found, err := fit.Collect(ctx, host, a.Known.Pairs, func(part, parts int) {
			meter.Add(t.Items*int64(part)/int64(parts) - told)
			told = t.Items * int64(part) / int64(parts)
		})
		if err != nil {
			return err
		}
		meter.Add(t.Items - told)
		set := fit.NewSet(e.Model, e.Plan.Settings.K, score.KnownPairs{
			Pairs: a.Known.Name, Source: host.Languages[0], Target: host.Languages[1], Seen: fit.SeenSource(e.Model, a.Known.Name) != "",
			Corpus:   fmt.Sprintf("%d and %d sentences", len(host.Texts[0]), len(host.Texts[1])),
			Injected: len(a.Known.Pairs), Found: found, Candidates: len(examples.True),
		}, examples)
		set.Tokens = host.Tokens != nil
		if a.OnTheWay {
			if set.Own, err = fit.Own(ctx, host); err != nil {
				return err
			}
		}
		if refiner := e.Plan.Refiner; host.Strong != nil {
			set.Refine = &fit.Refiner{Encoder: score.Encoder{Name: refiner.Name, Digest: e.Plan.Settings.Refine}, Floor: e.Plan.Settings.RefineFloor}
		}
		return set.Write(filepath.Join(dir, ExamplesFile))
	})
}
