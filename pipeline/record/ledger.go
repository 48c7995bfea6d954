package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"bitextmine/pipeline/store"
)

// ReadLedger returns what earlier runs left under a name: a [plan.Ledger] or [plan.Earlier]; nil: nothing. A ledger is
// a hint, so callers go on without one that is damaged.
func ReadLedger[T any](ctx context.Context, st *store.Store, name string) (*T, error) {
	data, err := st.ReadNote(ctx, LedgerNote, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ledger := new(T)
	if err := json.Unmarshal(data, ledger); err != nil {
		return nil, fmt.Errorf("ledger %s: %w", name, err)
	}
	return ledger, nil
}

// WriteLedger leaves a ledger for the next run.
func WriteLedger(ctx context.Context, st *store.Store, name string, ledger any) error {
	data, err := json.Marshal(ledger)
	if err != nil {
		return err
	}
	return st.WriteNote(ctx, LedgerNote, name, data)
}
