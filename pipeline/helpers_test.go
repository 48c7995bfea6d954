package pipeline

import (
	"testing"

	"bitextmine/pipeline/admin"
	"bitextmine/pipeline/store"
)

func sweepWork(t testing.TB, work string, sweep admin.Sweep) (swept *admin.Swept, err error) {
	t.Helper()
	err = store.WithExisting(t.Context(), work, options().Log, func(st *store.Store) (err error) {
		swept, err = admin.GC(t.Context(), st, sweep, options().Version, options().Log)
		return err
	})
	return swept, err
}

func statusOf(t testing.TB, work string) (status *admin.Status, err error) {
	t.Helper()
	err = store.WithExisting(t.Context(), work, options().Log, func(st *store.Store) (err error) {
		status, err = admin.ReadStatus(t.Context(), st, admin.Into{}, options().Version)
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
