package index

import (
	"context"

	"bitextmine/encode/embedding"
	"bitextmine/mine"
)

// Side is one side of a cell.
type Side struct {
	Vectors embedding.Matrix
	// Order[i] is row i's place in the order of sentence keys, every place once; it breaks ties between equal cosines.
	// Nil means that rows already stand in key order.
	Order []int32
}

// Result holds the lists of both sides of a cell: row i of Source are the k nearest target rows of source row i.
type Result struct {
	Source, Target mine.Neighbours
	Recall         Recall
}

// Recall is the share of true neighbours in the lists of an approximate search, measured on a sample of each side. Zero rows:
// the search was exact.
type Recall struct {
	Source, Target         float64
	SourceRows, TargetRows int
}

// Least returns the lower of both sides' recall, 1 for an exact search.
func (r Recall) Least() float64 {
	if r.SourceRows+r.TargetRows == 0 {
		return 1
	}
	return min(r.Source, r.Target)
}

// Searcher finds, for every row of either side of a cell, its k nearest rows on the other side by inner product
// (the cosine, as rows are L2-normalised).
//
// The cosines are recomputed from the stored vectors by embedding.Dot and each list is ordered by (cosine descending,
// Order ascending), so an exact implementation's result depends on the two sides and k alone: not on threads, BLAS
// or CPU. A list is shorter than k only when the other side has fewer than k rows; its last places are mine.None.
//
// Search may be called concurrently. It stops soon after ctx is done and returns ctx.Err(). progress, which may be nil, is
// called from any goroutine, one call at a time, with the work done so far as a fraction that never falls and ends
// at 1. An empty side, unequal dims, k outside 1 to MaxK, and a row that is not finite are badinput errors.
type Searcher interface {
	Name() string // as given in the settings: "exact", "faiss:Flat"
	Search(ctx context.Context, src, tgt Side, k int, progress func(fraction float64)) (Result, error)
}
