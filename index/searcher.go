// Package index finds nearest neighbours between the two sides of a cell.
//
// A cell is one source shard and one target shard. Searching it yields, for every row of either side, its k nearest
// rows on the other side. The implementations are in the packages below this one (exact, cuda, ivf, faiss).
// backend.Open opens one by name.
//
// This package has what they share. Every implementation finds candidates with arithmetic of its own, which is fast and
// slightly inaccurate. Then the candidates' cosines are computed again in one fixed order, and the k nearest are chosen
// from these. An exact implementation also proves that no other row belongs in the list: the approximate score of every
// such row, plus a bound on its error, is below the last cosine in the list. If this cannot be proven for a list,
// because many rows tie at its end, it is computed from all rows. So the result equals a float64 brute force, whatever
// the source of the candidates.
//
// # Neighbour lists
//
// The package also reads and writes neighbour lists: cell files, which have the lists of both sides of a cell, and
// list files, which have the lists of one shard over several shards of the other side. docs/formats.md has both
// formats.
package index

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"bitextmine/encode/embedding"
	"bitextmine/index/kernel"
	"bitextmine/internal/spill"
	"bitextmine/mine"
)

// Side is one side of a cell.
type Side struct {
	Vectors embedding.Matrix
	// Order[i] is the position of row i in the order of sentence keys. Each position occurs once. It breaks ties
	// between equal cosines. Nil means that the rows are already in key order.
	Order []int32
	// Digest names the vectors where they have one already, as those of a stored file have; otherwise it is empty.
	Digest string
}

// Result holds the lists of both sides of a cell: row i of Source is the k nearest target rows of source row i. They
// may be in mapped files and are gone when it is closed.
type Result struct {
	Source, Target mine.Neighbours
	Recall         Recall
	room           *spill.Arena // nil: memory
}

// Close frees the lists.
func (r Result) Close() error {
	if r.room == nil {
		return nil
	}
	return r.room.Close()
}

// Recall is the share of true neighbours in the lists of an approximate search, measured on a sample of each side. If
// no rows were sampled, the search was exact.
type Recall struct {
	Source, Target         float64
	SourceRows, TargetRows int
}

// Min returns the lower recall of the two sides, 1 for an exact search.
func (r Recall) Min() float64 {
	if r.SourceRows+r.TargetRows == 0 {
		return 1
	}
	return min(r.Source, r.Target)
}

// Searcher finds, for every row of either side of a cell, its k nearest rows on the other side by inner product. Rows
// are L2-normalised, so the inner product is the cosine.
//
// The cosines are recomputed from the stored vectors by embedding.Dot, and each list is ordered by (cosine descending,
// Order ascending). So the result of an exact implementation depends only on the two sides and k, and not on threads,
// BLAS or CPU. A list is shorter than k only if the other side has fewer than k rows; the remaining entries are
// mine.None.
//
// Search may be called concurrently. It stops soon after ctx is done and returns ctx.Err(). progress may be nil. It is
// called from any goroutine, one call at a time, with the finished fraction of the work, which never falls and ends at
// 1. An empty side, different dims, k outside 1 to MaxK, and a row that is not finite are badinput errors.
type Searcher interface {
	Name() string // the name in the settings: "exact", "faiss:Flat"
	Search(ctx context.Context, src, tgt Side, k int, progress func(fraction float64)) (Result, error)
}

// Progress sums the work of several goroutines and reports it as a rising fraction. report may be nil.
type Progress struct {
	mu          sync.Mutex
	done, total float64
	report      func(fraction float64)
}

// NewProgress starts at zero of total units of work.
func NewProgress(total float64, report func(fraction float64)) *Progress {
	return &Progress{total: total, report: report}
}

// Add reports that work more units are done.
func (p *Progress) Add(work float64) {
	if p.report == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += work
	p.report(min(p.done/p.total, 0.999))
}

// Finish reports that all work is done.
func (p *Progress) Finish() {
	if p.report != nil {
		p.report(1)
	}
}

// exhaustRows is the number of base rows that Exhaust compares between two checks of the context.
const exhaustRows = 16384

// RefineExact fills the lists of distinct queries lo to hi-1 from their candidates [hi-lo, keep] (-1 for none).
// ceilings [hi-lo] are upper bounds of each query's inner product with any row that is not a candidate. A list that
// these bounds do not prove is computed from all rows.
func (h *Half) RefineExact(ctx context.Context, threads, lo, hi int, candidates []int64, ceilings []float64) error {
	keep := len(candidates) / (hi - lo)
	return InParts(ctx, threads, lo, hi, func(ctx context.Context, from, to int) error {
		unproven := kernel.Best.Refine(h.Queries.Kernel, h.Base.Kernel, h.Lists, from, to,
			candidates[(from-lo)*keep:(to-lo)*keep], ceilings[from-lo:to-lo])
		return h.Exhaust(ctx, unproven)
	})
}

// Refine fills the lists of distinct queries lo to hi-1 with the best of their candidates [hi-lo, keep] (-1 for none).
func (h *Half) Refine(ctx context.Context, threads, lo, hi int, candidates []int64) error {
	keep := len(candidates) / (hi - lo)
	return InParts(ctx, threads, lo, hi, func(ctx context.Context, from, to int) error {
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

// InParts divides lo to hi-1 into one part for each thread and calls do for each.
func InParts(ctx context.Context, threads, lo, hi int, do func(ctx context.Context, from, to int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	part := max((hi-lo+threads-1)/threads, 1)
	for from := lo; from < hi; from += part {
		g.Go(func() error { return do(ctx, from, min(from+part, hi)) })
	}
	return g.Wait()
}

// Spread returns the row that is number i of n spread evenly over all rows.
func Spread(i, n, all int) int { return int(int64(i) * int64(all) / int64(n)) }
