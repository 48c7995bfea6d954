package stage

import (
	"context"
	"errors"
	"log/slog"

	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/store"
)

// Ledger reads and writes what runs leave of a stage's outputs for later runs. A ledger saves work and changes no
// result: a damaged one is reported and ignored.
type Ledger interface {
	// Read returns what earlier runs left for the pairs of a request, in the form that the stage asks [Before] for.
	Read(ctx context.Context, st *store.Store, r Request, log *slog.Logger) (any, error)
	// Write records the outputs of a plan that has been executed.
	Write(ctx context.Context, st *store.Store, p *plan.Plan) error
}

// ReadLedgers sets the request's Earlier from the ledgers of all stages.
func ReadLedgers(ctx context.Context, st *store.Store, r *Request, log *slog.Logger) error {
	earlier := map[string]any{}
	for _, d := range All() {
		if d.Ledger == nil {
			continue
		}
		left, err := d.Ledger.Read(ctx, st, *r, log)
		if err != nil {
			return err
		}
		earlier[d.Name] = left
	}
	r.Earlier = earlier
	return ctx.Err()
}

// WriteLedgers records the outputs of an executed plan in the ledgers of all stages.
func WriteLedgers(ctx context.Context, st *store.Store, p *plan.Plan) (err error) {
	for _, d := range All() {
		if d.Ledger != nil {
			err = errors.Join(err, d.Ledger.Write(ctx, st, p))
		}
	}
	return err
}

// Before returns what earlier runs left of a stage for a pair; nil: nothing.
func Before[T any](b *Builder, d *Descriptor, pair int) *T {
	all, _ := b.earlier[d.Name].([]*T)
	if pair < len(all) {
		return all[pair]
	}
	return nil
}

// ReadPairs reads the ledger of every pair of a request under its name. damage is the warning about a damaged one.
func ReadPairs[T any](
	ctx context.Context, st *store.Store, r Request, log *slog.Logger, name func(*plan.Plan, int) string, damage string,
) ([]*T, error) {
	p := &plan.Plan{Settings: r.Settings, Languages: r.Languages, Pairs: r.Pairs}
	all := make([]*T, len(p.Pairs))
	for pair := range all {
		var err error
		if all[pair], err = record.ReadLedger[T](ctx, st, name(p, pair)); err != nil {
			log.Warn(damage, "damage", err)
		}
	}
	return all, ctx.Err()
}

// ShardLedger is a ledger of one output for each shard: a task takes rows over from the newest outputs of its shard.
type ShardLedger struct {
	// Wanted says whether the settings ask for the stage.
	Wanted func(s *plan.Settings) bool
	// Name is the note of a pair: it holds all that the outputs depend on besides their rows.
	Name func(p *plan.Plan, pair int) string
	// Outputs are the keys of a pair's outputs by side and shard; nil for both sides: the plan has none.
	Outputs func(p *plan.Plan, pair int) [2][]string
	Kept    int    // outputs of a shard that are remembered
	Damage  string // the warning about a damaged ledger
}

// Read implements [Ledger]; it returns a []*plan.Earlier.
func (l *ShardLedger) Read(ctx context.Context, st *store.Store, r Request, log *slog.Logger) (any, error) {
	if !l.Wanted(&r.Settings) {
		return nil, nil
	}
	return ReadPairs[plan.Earlier](ctx, st, r, log, l.Name, l.Damage)
}

// Write implements [Ledger].
func (l *ShardLedger) Write(ctx context.Context, st *store.Store, p *plan.Plan) error {
	for pair := range p.Pairs {
		keys := l.Outputs(p, pair)
		if keys[0] == nil && keys[1] == nil {
			continue
		}
		before, _ := record.ReadLedger[plan.Earlier](ctx, st, l.Name(p, pair)) // damaged: the outputs of this run suffice
		now := &plan.Earlier{}
		for side := range keys {
			now.Sides[side] = map[string][]string{}
			for i, key := range keys[side] {
				digest := p.Side(pair, side).Shards[i].SHA256
				outputs := append([]string{key}, before.Others(side, digest, key)...)
				now.Sides[side][digest] = outputs[:min(len(outputs), l.Kept)]
			}
		}
		if err := record.WriteLedger(ctx, st, l.Name(p, pair), now); err != nil {
			return err
		}
	}
	return ctx.Err()
}
