package view

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// step is how many texts a goroutine takes at once.
const step = 4096

// Parallel calls do with every number below n, until the context ends.
func Parallel(ctx context.Context, threads, n int, do func(i int)) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, threads))
	for begin := 0; begin < n; begin += step {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			for i := begin; i < min(begin+step, n); i++ {
				do(i)
			}
			return nil
		})
	}
	return group.Wait()
}
