package view

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

func TestEach(t *testing.T) {
	const n = 3*step + 1
	var sum atomic.Int64
	if err := Parallel(t.Context(), 3, n, func(i int) { sum.Add(int64(i)) }); err != nil || sum.Load() != n*(n-1)/2 {
		t.Errorf("sum %d, %v", sum.Load(), err)
	}
}

// TestEachEnds: of work that was cancelled, only what goroutines have begun is done.
func TestEachEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var done atomic.Int64
	err := Parallel(ctx, 2, 100*step, func(int) {
		cancel()
		done.Add(1)
	})
	if !errors.Is(err, context.Canceled) || done.Load() > 2*step {
		t.Errorf("%d done, %v", done.Load(), err)
	}
}
