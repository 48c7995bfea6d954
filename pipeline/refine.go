package pipeline

import (
	"context"

	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/refine"
)

// addRefiner adds to a request the strong encoder and what earlier runs left of its vectors.
func (r *run) addRefiner(ctx context.Context, request *stage.Request) error {
	if r.refiner == nil {
		return nil
	}
	request.Refiner = &plan.Refiner{Encoder: r.cfg.Refine, Name: r.refiner.Name, Dim: r.refiner.Dim}
	p := &plan.Plan{Settings: request.Settings, Languages: request.Languages, Pairs: request.Pairs}
	for pair := range request.Pairs {
		before, err := refine.ReadLedger(ctx, r.store, p, pair)
		if err != nil {
			r.Log.Warn("the ledger of strong vectors is damaged; their sentences are encoded again", "damage", err)
		}
		request.Refined = append(request.Refined, before)
	}
	return ctx.Err()
}
