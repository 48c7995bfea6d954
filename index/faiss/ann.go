package faiss

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"strconv"

	"bitextmine/index"
	"bitextmine/index/approximate"
)

// ann searches an approximate index of each side. What it finds is re-ranked with the true vectors; what it misses is
// measured.
type ann struct {
	on      processor
	factory string
	opts    Options
}

func (a *ann) Name() string { return a.on.prefix() + a.factory }

// Search implements index.Searcher. Half of its progress is the making of the two indexes.
func (a *ann) Search(ctx context.Context, src, tgt index.Side, k int, report func(float64)) (index.Result, error) {
	cell, err := index.NewCell(ctx, src, tgt, k)
	if err != nil {
		return index.Result{}, err
	}
	defer cell.Close()
	forward, backward := cell.Halves()
	rows := float64(cell.Source.Len() + cell.Target.Len())
	progress := index.NewProgress(2*rows, report)
	for _, half := range []*index.Half{forward, backward} {
		if err := a.searchHalf(ctx, half, progress); err != nil {
			return index.Result{}, err
		}
	}
	result := cell.Result()
	if result.Recall, err = approximate.MeasureRecall(ctx, src, tgt, result, a.opts.RecallRows,
		a.opts.Threads); err != nil {
		return index.Result{}, err
	}
	progress.Finish()
	return result, nil
}

func (a *ann) searchHalf(ctx context.Context, half *index.Half, progress *index.Progress) error {
	idx, err := open(ctx, a.on, a.factory, half.Base, a.opts)
	if err != nil {
		return err
	}
	defer idx.Delete()
	progress.Add(float64(half.Base.Len()))

	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	SetBLASThreads(a.opts.Threads)
	keep := min(a.opts.Rerank*half.K, half.Base.Len())
	buf := make([]float32, min(annChunk, half.Queries.Len())*half.Queries.Dim())
	for lo := 0; lo < half.Queries.Len(); lo += annChunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+annChunk, half.Queries.Len())
		_, ids, err := idx.Search(half.Queries.Block(lo, hi, buf), int64(keep))
		if err != nil {
			return failed("search", err)
		}
		for _, id := range ids {
			if id >= int64(half.Base.Len()) {
				return fmt.Errorf("FAISS found row %d of %d: its index is damaged in memory", id, half.Base.Len())
			}
		}
		if err := half.Refine(ctx, a.opts.Threads, lo, hi, ids); err != nil {
			return err
		}
		progress.Add(float64(hi - lo))
	}
	return nil
}

// annChunk is how many queries go into one FAISS call, which cannot be interrupted. An approximate search takes at most
// a few milliseconds a query.
const annChunk = 512

// Check tells whether FAISS can make an index by this factory string for vectors of dim values, with these search
// settings; its error is badinput.
func Check(factory string, dim int, opts Options) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	idx, err := cpu{}.create(factory, dim, 0, opts)
	if err != nil {
		return err
	}
	idx.Delete()
	return nil
}

var ivf = regexp.MustCompile(`IVF(\d+)`)

// MinRows is how many different rows a side must have for an index by this factory string: one for each of its
// inverted lists.
func MinRows(factory string) int { return lists(factory) }

// lists returns the number of inverted lists that a factory string asks for, 0 for none.
func lists(factory string) int {
	m := ivf.FindStringSubmatch(factory)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0 // too long a number for FAISS as well
	}
	return n
}

var where = regexp.MustCompile(`^Error in .* at [^ ]*:\d+: `)

// reason takes FAISS's own words from an error text that begins with a C++ function and a source line.
func reason(err error) string { return where.ReplaceAllString(err.Error(), "") }
