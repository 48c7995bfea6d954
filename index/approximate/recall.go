package approximate

import (
	"context"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/index/exact"
	"bitextmine/mine"
)

// RecallRows puts a recall of 0.95 within 0.015 (two standard deviations).
const RecallRows = 1000

// MeasureRecall compares the lists of an even sample of rows of each side with an exact search's.
func MeasureRecall(ctx context.Context, src, tgt index.Side, result index.Result, rows, threads int) (index.Recall, error) {
	var r index.Recall
	searcher, err := exact.Open(exact.Options{Threads: threads, SourceOnly: true})
	if err != nil {
		return r, err
	}
	if r.Source, r.SourceRows, err = of(ctx, searcher, src, tgt, result.Source, rows); err != nil {
		return r, err
	}
	r.Target, r.TargetRows, err = of(ctx, searcher, tgt, src, result.Target, rows)
	return r, err
}

func of(ctx context.Context, searcher index.Searcher, queries, base index.Side, lists mine.Neighbours,
	n int) (recall float64, rows int, err error) {
	rows = min(n, queries.Vectors.N)
	truth, err := searcher.Search(ctx, index.Side{Vectors: Sample(queries.Vectors, rows)}, base, lists.K, nil)
	if err != nil {
		return 0, 0, err
	}
	var found, sought int
	for i := range rows {
		ids, want := truth.Source.Row(i)
		_, got := lists.Row(index.Spread(i, rows, queries.Vectors.N))
		f, s := Matches(ids, want, got)
		found, sought = found+f, sought+s
	}
	return float64(found) / float64(sought), rows, truth.Close()
}

// Sample copies n rows spread evenly over m.
func Sample(m embedding.Matrix, n int) embedding.Matrix {
	out := embedding.Matrix{N: n, Dim: m.Dim}
	for i := range n {
		lo := index.Spread(i, n, m.N) * m.Dim
		if m.F16 != nil {
			out.F16 = append(out.F16, m.F16[lo:lo+m.Dim]...)
		} else {
			out.F32 = append(out.F32, m.F32[lo:lo+m.Dim]...)
		}
	}
	return out
}

// Matches counts how many of the true list's places are filled, by cosine: a row that ties with the last place is as
// good as it.
func Matches(ids []int32, want, got []float32) (found, sought int) {
	for sought < len(ids) && ids[sought] != mine.None {
		sought++
	}
	for found < sought && got[found] >= want[sought-1] {
		found++
	}
	return found, sought
}
