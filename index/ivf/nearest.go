package ivf

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"bitextmine/index/kernel"
)

// nearestRows is the number of rows that are compared with the centroids at a time.
const nearestRows = 1024

// nearest writes the n nearest centroids of each of the given rows of a side to out [rows, n], in no order. With one
// thread it starts none.
func (s *searcher) nearest(ctx context.Context, side *kernel.Side, rows []int32, centroids *kernel.Side, n, threads int, out []int32) error {
	var next atomic.Int64
	work := func() error {
		scanner, err := s.kernel.NewScanner(side, centroids, n, min(nearestRows, len(rows)), centroids.N)
		if err != nil {
			return err
		}
		defer scanner.Close()
		scanner.Base(kernel.Span{Hi: centroids.N, Step: 1}, nil)
		scanner.MuteBase()
		for {
			lo := int(next.Add(1)-1) * nearestRows
			if lo >= len(rows) {
				return nil
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			hi := min(lo+nearestRows, len(rows))
			scanner.Queries(kernel.All(rows[lo:hi]), nil)
			scanner.Scan()
			scanner.Nearest(out[lo*n : hi*n])
		}
	}
	if threads == 1 {
		return work()
	}
	g, ctx2 := errgroup.WithContext(ctx)
	ctx = ctx2
	for range min(threads, (len(rows)+nearestRows-1)/nearestRows) {
		g.Go(work)
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
