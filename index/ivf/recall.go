package ivf

import (
	"context"
	"math"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"bitextmine/index"
	"bitextmine/index/approximate"
	"bitextmine/index/kernel"
	"bitextmine/mine"
)

// recall compares the lists of an even sample of a half's distinct queries with the truth. Whole numbers propose four
// times as many rows for it as a list has, of all rows, and float64 cosines decide. Queries that are few beside the
// rows of a lopsided cell have a tenth of the sample: it takes as long as their visits, and such cells count little.
func (s *searcher) recall(ctx context.Context, half *index.Half) (recall float64, rows int, err error) {
	n := s.opts.RecallRows
	if lopsided*half.Queries.Len() < half.Base.Len() {
		n = max(n/10, 1)
	}
	sample := evenSample(half.Queries, n)
	truth, err := s.nearestOfAll(ctx, half, sample, half.K)
	if err != nil {
		return 0, 0, err
	}
	var found, sought int
	for i, row := range sample {
		ids, want := truth.Row(i)
		_, got := half.List(int(row))
		f, s := approximate.Matches(ids, want, got)
		found, sought = found+f, sought+s
	}
	return float64(found) / float64(sought), len(sample), nil
}

// nearestOfAll returns the k nearest of all distinct base rows for some distinct queries.
func (s *searcher) nearestOfAll(ctx context.Context, half *index.Half, queries []int32, k int) (mine.Neighbours, error) {
	base, dim := half.Base.Kernel, half.Base.Dim()
	rows := make([]float32, len(queries)*dim)
	for i, q := range queries {
		copyRow(rows[i*dim:(i+1)*dim], half.Queries, q)
	}
	side, err := s.ownSide(ctx, rows, dim)
	if err != nil {
		return mine.Neighbours{}, err
	}
	defer side.Close()
	proposed := mine.NewNeighbours(len(queries), 4*k)
	lists := kernel.NewLists(proposed.IDs, proposed.Cosines, proposed.K)
	defer lists.Close()
	lists.Share()
	if err := s.proposeOfAll(ctx, side, base, lists, proposed.K); err != nil {
		return mine.Neighbours{}, err
	}
	nearest := mine.NewNeighbours(len(queries), k)
	chosen := kernel.NewLists(nearest.IDs, nearest.Cosines, k)
	defer chosen.Close()
	s.kernel.Refine(side, base, chosen, 0, len(queries), appendWide(nil, proposed.IDs), make([]float64, len(queries)))
	return nearest, nil
}

// proposeOfAll fills lists of k with the base rows of the largest products.
func (s *searcher) proposeOfAll(ctx context.Context, queries, base *kernel.Side, lists *kernel.Lists, k int) error {
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range s.opts.Threads {
		g.Go(func() error {
			scanner, err := s.kernel.NewWhole(queries, base, k, min(visitorRows, queries.N), min(listRows, base.N))
			if err != nil {
				return err
			}
			defer scanner.Close()
			for {
				lo := int(next.Add(1)-1) * listRows
				if lo >= base.N || ctx.Err() != nil {
					return ctx.Err()
				}
				part := kernel.Span{Lo: lo, Hi: min(lo+listRows, base.N), Step: 1}
				scanner.Base(part, nil)
				scanner.OnlyNearest(math.Inf(1))
				for from := 0; from < queries.N; from += visitorRows {
					scanner.Queries(kernel.Span{Lo: from, Hi: min(from+visitorRows, queries.N), Step: 1}, lists)
					scanner.Scan()
					scanner.ExhaustQueries(lists, scanner.SettleQueries(lists), part)
				}
			}
		})
	}
	return g.Wait()
}
