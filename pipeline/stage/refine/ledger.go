package refine

import (
	"context"

	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
)

// noteName is the note of what earlier runs left of a pair's strong vectors.
func noteName(p *plan.Plan, pair int) string {
	return plan.RefinedFamily(p.Settings, p.Side(pair, 0).Code, p.Side(pair, 1).Code) + ".json"
}

// ReadLedger reads what earlier runs left of a pair's strong vectors; nil: nothing.
func ReadLedger(ctx context.Context, st *store.Store, p *plan.Plan, pair int) (*plan.Earlier, error) {
	return record.ReadLedger[plan.Earlier](ctx, st, noteName(p, pair))
}

// WriteLedger leaves for the next run the strong vectors that a plan's tasks have made.
func WriteLedger(ctx context.Context, st *store.Store, p *plan.Plan) error {
	for pair := range p.Pairs {
		if p.Pairs[pair].Refined == nil {
			continue
		}
		before, _ := ReadLedger(ctx, st, p, pair) // damaged: what this run has is enough
		if err := record.WriteLedger(ctx, st, noteName(p, pair), plan.NewRefined(p, pair, before)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Estimate is what the strong encoder would be given.
type Estimate struct {
	Encoder   string `json:"encoder"`
	Sentences int64  `json:"sentences"` // to encode, of all languages
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
