package merge

import (
	"context"
	"log/slog"

	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/store"
)

// ledger names the merged neighbours of every shard and the shards that they have seen, as [plan.Ledger].
type ledger struct{}

// noteName names the runs whose merges differ in nothing but shards.
func noteName(p *plan.Plan, pair int) string {
	return plan.Family(p.Settings, p.Side(pair, 0).Code, p.Side(pair, 1).Code) + ".json"
}

// Read implements [stage.Ledger]. It leaves out the merged neighbours that a plan would start from and that are missing
// or damaged.
func (ledger) Read(ctx context.Context, st *store.Store, r stage.Request, log *slog.Logger) (any, error) {
	left, err := stage.ReadPairs[plan.Ledger](
		ctx, st, r, log, noteName, "the ledger of merged neighbours is damaged; every cell is read again")
	if err != nil {
		return nil, err
	}
	r.Earlier = map[string]any{Stage.Name: left}
	r.Goal = planPairs
	trial, err := stage.Build(r)
	if err != nil {
		return nil, err
	}
	bases(trial, func(key string, pair, side int, vector string) {
		if _, damage := st.Get(ctx, store.Task{Stage: Stage.Name, Key: key}); damage != nil && ctx.Err() == nil {
			log.Warn("merged neighbours are missing or damaged; their cells are read again", "key", key, "damage", damage)
			delete(left[pair].Sides[side], vector)
		}
	})
	return left, ctx.Err()
}

// Write implements [stage.Ledger].
func (ledger) Write(ctx context.Context, st *store.Store, p *plan.Plan) error {
	for pair := range p.Pairs {
		if err := record.WriteLedger(ctx, st, noteName(p, pair), plan.NewLedger(p, pair)); err != nil {
			return err
		}
	}
	return nil
}
