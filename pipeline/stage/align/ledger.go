package align

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
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
func ReadLedgers(ctx context.Context, st *store.Store, r stage.Request, log *slog.Logger) ([]*plan.Refined, error) {
	if r.Settings.Documents == "" {
		return nil, nil
	}
	p := &plan.Plan{Settings: r.Settings, Languages: r.Languages, Pairs: r.Pairs}
	all := make([]*plan.Refined, len(p.Pairs))
	for pair := range p.Pairs {
		var err error
		if all[pair], err = readLedger(ctx, st, p, pair); err != nil {
			log.Warn("the ledger of aligned documents is damaged; they are aligned again", "damage", err)
		}
	}
	return all, ctx.Err()
}

func readLedger(ctx context.Context, st *store.Store, p *plan.Plan, pair int) (*plan.Refined, error) {
	data, err := st.ReadNote(ctx, record.LedgerNote, noteName(p, pair))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	before := &plan.Refined{}
	if err := json.Unmarshal(data, before); err != nil {
		return nil, err
	}
	return before, nil
}

// WriteLedger leaves for the next run the beads that a plan's tasks have made.
func WriteLedger(ctx context.Context, st *store.Store, p *plan.Plan) error {
	for pair := range p.Pairs {
		if p.Pairs[pair].Aligned == nil {
			continue
		}
		before, err := readLedger(ctx, st, p, pair)
		if err != nil {
			before = nil // damaged: what this run has is enough
		}
		data, err := json.Marshal(plan.NewAligned(p, pair, before))
		if err != nil {
			return err
		}
		if err := st.WriteNote(ctx, record.LedgerNote, noteName(p, pair), data); err != nil {
			return err
		}
	}
	return ctx.Err()
}
