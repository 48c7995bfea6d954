package eval

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/mine"
)

// exactSearch is a slow implementation of the contract of index.Searcher: every cosine by embedding.Dot, lists sorted
// by (cosine, row).
type exactSearch struct{}

func (exactSearch) Name() string { return "test" }

func (exactSearch) Search(_ context.Context, src, tgt index.Side, k int, _ func(float64)) (index.Result, error) {
	cosine := func(i, j int) float32 {
		return embedding.Dot(src.Vectors.F32[i*src.Vectors.Dim:][:src.Vectors.Dim], tgt.Vectors.F32[j*src.Vectors.Dim:][:src.Vectors.Dim])
	}
	return index.Result{
		Source: nearestOf(src.Vectors.N, tgt.Vectors.N, k, cosine),
		Target: nearestOf(tgt.Vectors.N, src.Vectors.N, k, func(j, i int) float32 { return cosine(i, j) }),
	}, nil
}

func nearestOf(n, m, k int, cosine func(i, j int) float32) mine.Neighbours {
	nb := mine.NewNeighbours(n, k)
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wait.Go(func() {
			row := make([]float32, m)
			order := make([]int32, m)
			for i := w; i < n; i += workers {
				for j := range row {
					row[j], order[j] = cosine(i, j), int32(j)
				}
				slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(row[b], row[a]), cmp.Compare(a, b)) })
				for at := range min(k, m) {
					nb.IDs[i*k+at], nb.Cosines[i*k+at] = order[at], row[order[at]]
				}
			}
		})
	}
	wait.Wait()
	return nb
}
