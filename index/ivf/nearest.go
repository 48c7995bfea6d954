package ivf

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"bitextmine/index/kernel"
)

// nearestRows is the number of rows that are compared with the centroids at a time.
const nearestRows = 1024

// near is the nearest centroids of some rows, at most n for each.
type near struct {
	n        int
	ids      []int32   // [rows, n] in no order
	products []float32 // [rows, n] with them, as whole numbers
	counts   []int32   // [rows] how many each has
}

func makeNear(rows, n int) near {
	return near{n, make([]int32, rows*n), make([]float32, rows*n), make([]int32, rows)}
}

func nearBytes(rows, n int) int64 { return int64(rows) * int64(8*n+4) }

// of returns the nearest centroids of a row, and the products.
func (l near) of(row int) ([]int32, []float32) {
	lo := row * l.n
	hi := lo + int(l.counts[row])
	return l.ids[lo:hi], l.products[lo:hi]
}

// nearest finds the n nearest centroids of each of the given rows of a side, of those whose cosines are at most span
// below the nearest's. take gets those of a part of the rows, from position lo on, valid until it returns. It is called
// in several threads. unit is the product of two vectors whose inner product is 1.
//
// Nearest is by the products of rows that are rounded to whole numbers: it takes little more than the products, and all
// kernels agree on it without float64 cosines.
func (s *searcher) nearest(ctx context.Context, side *kernel.Side, rows []int32, centroids *kernel.Side, n int,
	span float64, take func(lo int, found near)) (unit float64, err error) {
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range min(s.opts.Threads, (len(rows)+nearestRows-1)/nearestRows) {
		g.Go(func() error {
			scanner, err := s.kernel.NewNearest(side, centroids, n, nearestRows, centroids.N)
			if err != nil {
				return err
			}
			defer scanner.Close()
			scanner.Base(kernel.Span{Hi: centroids.N, Step: 1}, nil)
			scanner.OnlyNearest(span)
			found := makeNear(nearestRows, n)
			for {
				lo := int(next.Add(1)-1) * nearestRows
				if lo >= len(rows) {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				part := rows[lo:min(lo+nearestRows, len(rows))]
				scanner.Queries(kernel.All(part), nil)
				scanner.Scan()
				scanner.Nearest(found.ids, found.products, found.counts)
				take(lo, near{n, found.ids[:len(part)*n], found.products[:len(part)*n], found.counts[:len(part)]})
			}
		})
	}
	return kernel.WholeUnit(side, centroids), g.Wait()
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
