package index

import (
	"context"

	"golang.org/x/sync/errgroup"

	"bitextmine/index/kernel"
)

// exhaustRows is the number of base rows that Exhaust compares between two checks of the context.
const exhaustRows = 16384

// RefineExact fills the lists of distinct queries lo to hi-1 from their candidates [hi-lo, keep] (-1 for none).
// ceilings [hi-lo] are upper bounds of each query's inner product with any row that is not a candidate. A list that
// these bounds do not prove is computed from all rows.
func (h *Half) RefineExact(ctx context.Context, threads, lo, hi int, candidates []int64, ceilings []float64) error {
	keep := len(candidates) / (hi - lo)
	return inParts(ctx, threads, lo, hi, func(ctx context.Context, from, to int) error {
		unproven := kernel.Best.Refine(h.Queries.Kernel, h.Base.Kernel, h.Lists, from, to,
			candidates[(from-lo)*keep:(to-lo)*keep], ceilings[from-lo:to-lo])
		return h.Exhaust(ctx, unproven)
	})
}

// Refine fills the lists of distinct queries lo to hi-1 with the best of their candidates [hi-lo, keep] (-1 for none).
func (h *Half) Refine(ctx context.Context, threads, lo, hi int, candidates []int64) error {
	keep := len(candidates) / (hi - lo)
	return inParts(ctx, threads, lo, hi, func(ctx context.Context, from, to int) error {
		kernel.Best.Refine(h.Queries.Kernel, h.Base.Kernel, h.Lists, from, to, candidates[(from-lo)*keep:(to-lo)*keep],
			make([]float64, to-from))
		return ctx.Err()
	})
}

// Exhaust compares the given distinct queries with all base rows.
func (h *Half) Exhaust(ctx context.Context, queries []int32) error {
	for lo := 0; len(queries) > 0 && lo < h.Base.Len(); lo += exhaustRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		kernel.Best.Exhaust(h.Queries.Kernel, h.Base.Kernel, h.Lists, queries,
			kernel.Span{Lo: lo, Hi: min(lo+exhaustRows, h.Base.Len()), Step: 1})
	}
	return nil
}

// inParts divides lo to hi-1 into one part for each thread and calls do for each.
func inParts(ctx context.Context, threads, lo, hi int, do func(ctx context.Context, from, to int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	part := max((hi-lo+threads-1)/threads, 1)
	for from := lo; from < hi; from += part {
		g.Go(func() error { return do(ctx, from, min(from+part, hi)) })
	}
	return g.Wait()
}
