package index

import (
	"context"
	"sync"

	"bitextmine/encode/embedding"
	"bitextmine/mine"
)

// Side is one side of a cell.
type Side struct {
	Vectors embedding.Matrix
	// Order[i] is the position of row i in the order of sentence keys. Each position occurs once. It breaks ties
	// between equal cosines. Nil means that the rows are already in key order.
	Order []int32
}

// Result holds the lists of both sides of a cell: row i of Source is the k nearest target rows of source row i.
type Result struct {
	Source, Target mine.Neighbours
	Recall         Recall
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
