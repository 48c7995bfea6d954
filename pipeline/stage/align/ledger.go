package align

import (
	"context"
	"log/slog"

	"bitextmine/align/bead"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/store"
)

// noteName is the note of what earlier runs left of a pair's beads: those that depend on the same encoder and options.
func noteName(p *plan.Plan, pair int) string {
	s := p.Settings
	return plan.Key("aligned", Stage.Version, []any{s.Encoder, s.EncoderDevice, bead.DefaultOptions(), p.Side(pair, 0).Code, p.Side(pair, 1).Code}) + ".json"
}

// ReadLedgers reads what earlier runs left of the beads of a request's pairs. A ledger that is damaged only costs time.
func ReadLedgers(ctx context.Context, st *store.Store, r stage.Request, log *slog.Logger) ([]*plan.Earlier, error) {
	if r.Settings.Documents == "" {
		return nil, nil
	}
	p := &plan.Plan{Settings: r.Settings, Languages: r.Languages, Pairs: r.Pairs}
	all := make([]*plan.Earlier, len(p.Pairs))
	for pair := range p.Pairs {
		var err error
		if all[pair], err = record.ReadLedger[plan.Earlier](ctx, st, noteName(p, pair)); err != nil {
			log.Warn("the ledger of aligned documents is damaged; they are aligned again", "damage", err)
		}
	}
	return all, ctx.Err()
}

// WriteLedger leaves for the next run the beads that a plan's tasks have made.
func WriteLedger(ctx context.Context, st *store.Store, p *plan.Plan) error {
	for pair := range p.Pairs {
		if p.Pairs[pair].Aligned == nil {
			continue
		}
		before, _ := record.ReadLedger[plan.Earlier](ctx, st, noteName(p, pair)) // damaged: what this run has is enough
		if err := record.WriteLedger(ctx, st, noteName(p, pair), plan.NewAligned(p, pair, before)); err != nil {
			return err
		}
	}
	return ctx.Err()
}
