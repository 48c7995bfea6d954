package ivf

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"bitextmine/index/kernel"
)

// nearestRows is the number of rows that are compared with the centroids at a time.
const nearestRows = 1024

// finder finds the nearest centroids of a side's rows.
type finder struct {
	kernel          *kernel.Kernel
	side, centroids *kernel.Side
	scanner         *kernel.Scanner
	n               int
	ids, counts     []int32
}

// newFinder returns a finder of at most n centroids, of those whose cosines are at most span below the nearest's.
func (s *searcher) newFinder(side, centroids *kernel.Side, n int, span float64) (*finder, error) {
	scanner, err := s.kernel.NewScanner(side, centroids, n, nearestRows, centroids.N)
	if err != nil {
		return nil, err
	}
	scanner.Base(kernel.Span{Hi: centroids.N, Step: 1}, nil)
	scanner.OnlyNearest(span)
	return &finder{s.kernel, side, centroids, scanner, n, make([]int32, nearestRows*n), make([]int32, nearestRows)}, nil
}

func (f *finder) close() { f.scanner.Close() }

// find returns the nearest centroids [rows, n] of at most nearestRows rows, in no order, and how many each row has.
// Both are valid until the next call.
func (f *finder) find(rows []int32) (ids, counts []int32) {
	f.scanner.Queries(kernel.All(rows), nil)
	f.scanner.Scan()
	f.scanner.Nearest(f.ids, f.counts)
	return f.ids[:len(rows)*f.n], f.counts[:len(rows)]
}

// nearest finds the n nearest centroids of each of the given rows of a side, of those whose cosines are at most span
// below the nearest's. take gets those of a part of the rows, from position lo on: ids [rows, n], in no order, and how
// many each row has. It is called in several threads.
func (s *searcher) nearest(ctx context.Context, side *kernel.Side, rows []int32, centroids *kernel.Side, n int, span float64, take func(f *finder, lo int, rows, ids, counts []int32)) error {
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range min(s.opts.Threads, (len(rows)+nearestRows-1)/nearestRows) {
		g.Go(func() error {
			f, err := s.newFinder(side, centroids, n, span)
			if err != nil {
				return err
			}
			defer f.close()
			for {
				lo := int(next.Add(1)-1) * nearestRows
				if lo >= len(rows) {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				part := rows[lo:min(lo+nearestRows, len(rows))]
				ids, counts := f.find(part)
				take(f, lo, part, ids, counts)
			}
		})
	}
	return g.Wait()
}

// grouped returns the positions of ids by id, ascending within one: those of id i are at[start[i]:start[i+1]].
func grouped(ids []int32, n int) (start, at []int32) {
	start = make([]int32, n+1)
	for _, id := range ids {
		start[id+1]++
	}
	for i := range n {
		start[i+1] += start[i]
	}
	next := append([]int32(nil), start[:n]...)
	at = make([]int32, len(ids))
	for i, id := range ids {
		at[next[id]] = int32(i)
		next[id]++
	}
	return start, at
}
