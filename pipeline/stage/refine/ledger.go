package refine

import (
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/view"
)

// ledger names the newest strong vectors of every shard. A sentence may leave the shortlist one night, as new text
// lowers its margin, and return another: four outputs are kept.
var ledger = &stage.ShardLedger{
	Wanted: wanted, Name: noteName, Kept: 4,
	Outputs: func(p *plan.Plan, pair int) (keys [2][]string) {
		if refined := p.Pairs[pair].Refined; refined != nil {
			keys = *refined
		}
		return keys
	},
	Damage: "the ledger of strong vectors is damaged; their sentences are encoded again",
}

// noteName names the runs that share strong vectors: these depend on the strong encoder, its device, the type of their
// numbers, the languages and how the stage reads text, not on the floor or on the fast encoder.
func noteName(p *plan.Plan, pair int) string {
	family := []any{p.Settings.Refine, p.Settings.DType, p.Side(pair, 0).Code, p.Side(pair, 1).Code}
	if p.Settings.RefineDevice != "" { // a run does not mix vectors of CPU and GPU
		family = append(family, p.Settings.RefineDevice)
	}
	return plan.Key("refined", Stage.Version, family) + ".json"
}

// Estimate is the work left for the strong encoder.
type Estimate struct {
	Encoder   string `json:"encoder"`
	Sentences int64  `json:"sentences"` // sentences of all languages to encode
	Exact     bool   `json:"exact"`     // false: the neighbours are not there yet
}

// EstimateOf adds up what is left for the strong encoder of a plan; nil: it has none.
func EstimateOf(p *plan.Plan, cost plan.Cost, done func(stage, key string) bool) *Estimate {
	if p.Refiner == nil {
		return nil
	}
	e := &Estimate{Encoder: p.Refiner.Name, Exact: true}
	for pair := range p.Pairs {
		e.Exact = e.Exact && done(view.Shortlisting, p.Pairs[pair].Shortlist)
	}
	for _, s := range cost.Stages {
		if s.Name == Stage.Name {
			e.Sentences = s.Items
		}
	}
	return e
}
