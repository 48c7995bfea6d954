package faiss

import (
	"context"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/index/exact"
	"bitextmine/mine"
)

// measureRecall compares the lists of an even sample of each side's rows with an exact search's.
func measureRecall(ctx context.Context, src, tgt index.Side, result index.Result, opts Options) (index.Recall, error) {
	var r index.Recall
	var err error
	if r.Source, r.SourceRows, err = recallOf(ctx, src, tgt, result.Source, opts); err != nil {
		return r, err
	}
	r.Target, r.TargetRows, err = recallOf(ctx, tgt, src, result.Target, opts)
	return r, err
}

func recallOf(ctx context.Context, queries, base index.Side, lists mine.Neighbours, opts Options) (recall float64, rows int, err error) {
	searcher, err := exact.Open(exact.Options{Threads: opts.Threads})
	if err != nil {
		return 0, 0, err
	}
	rows = min(opts.RecallRows, queries.Vectors.N)
	truth, err := searcher.Search(ctx, index.Side{Vectors: every(queries.Vectors, rows)}, base, lists.K, nil)
	if err != nil {
		return 0, 0, err
	}
	var found, sought int
	for i := range rows {
		ids, want := truth.Source.Row(i)
		_, got := lists.Row(spread(i, rows, queries.Vectors.N))
		f, s := matches(ids, want, got)
		found, sought = found+f, sought+s
	}
	return float64(found) / float64(sought), rows, nil
}

// spread is the row that is number i of n spread evenly over all rows.
func spread(i, n, all int) int { return int(int64(i) * int64(all) / int64(n)) }

// every copies n rows spread evenly over m.
func every(m embedding.Matrix, n int) embedding.Matrix {
	out := embedding.Matrix{N: n, Dim: m.Dim}
	for i := range n {
		lo := spread(i, n, m.N) * m.Dim
		if m.F16 != nil {
			out.F16 = append(out.F16, m.F16[lo:lo+m.Dim]...)
		} else {
			out.F32 = append(out.F32, m.F32[lo:lo+m.Dim]...)
		}
	}
	return out
}

// matches counts how many of the true list's places are filled, by cosine: a row that ties with the last place is as
// good as it.
func matches(ids []int32, want, got []float32) (found, sought int) {
	for sought < len(ids) && ids[sought] != mine.None {
		sought++
	}
	for found < sought && got[found] >= want[sought-1] {
		found++
	}
	return found, sought
}
