package pipeline

import (
	"context"
	"errors"
	"testing"

	"bitextmine/pipeline/admin"
	"bitextmine/pipeline/store"
)

// withStore opens a store as the administrating commands do.
func withStore(ctx context.Context, work string, do func(*store.Store) error) (err error) {
	st, err := store.OpenExisting(ctx, work, options().Log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return do(st)
}

func sweepWork(t testing.TB, work string, sweep admin.Sweep) (swept *admin.Swept, err error) {
	t.Helper()
	err = withStore(t.Context(), work, func(st *store.Store) (err error) {
		swept, err = admin.GC(t.Context(), st, sweep, options().Version, options().Log)
		return err
	})
	return swept, err
}

func statusOf(t testing.TB, work string) (status *admin.Status, err error) {
	t.Helper()
	err = withStore(t.Context(), work, func(st *store.Store) (err error) {
		status, err = admin.ReadStatus(t.Context(), st, options().Version)
		return err
	})
	return status, err
}

// tasksOf is the number of tasks of an estimate's plan.
func tasksOf(e *Estimate) int {
	n := 0
	for _, s := range e.Stages {
		n += s.Tasks
	}
	return n
}
