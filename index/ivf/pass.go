package ivf

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"bitextmine/index"
	"bitextmine/index/kernel"
)

// pass is one direction under way: the rows of one side visit the lists of the other. Both sides' neighbour lists take
// what is near. A worker takes a chunk of visitors, whose neighbour lists then are its own. The rows of a list may be
// with several workers. What is merged are exact cosines in a fixed order, so it does not matter who comes first.
type pass struct {
	*searcher
	visitors, visited *index.Half // by whose neighbour lists they hold
	lists             *lists
	span              float64
	progress          *index.Progress
}

// Block sizes. visitorRows is that of exact search's queries. listRows bounds what a long list takes.
const (
	visitorRows = 2048
	listRows    = 8192
)

func newPass(ctx context.Context, s *searcher, visitors, visited *index.Half, lists *lists, progress *index.Progress) (*pass, error) {
	p := &pass{searcher: s, visitors: visitors, visited: visited, lists: lists, progress: progress}
	return p, p.measureSpan(ctx)
}

// run has the given rows visit all lists, or, if they are nil, all rows their nearest lists.
func (p *pass) run(ctx context.Context, rows []int32) error {
	n := p.visitors.Queries.Len()
	if rows != nil {
		n = len(rows)
	}
	p.visitors.Lists.Share(false)
	p.visited.Lists.Share(true)
	size := p.chunkRows(n)
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range min(p.opts.Threads, (n+size-1)/size) {
		g.Go(func() error {
			w, err := newWorker(p)
			if err != nil {
				return err
			}
			defer w.scanner.Close()
			for {
				lo := int(next.Add(1)-1) * size
				if lo >= n {
					return nil
				}
				var err error
				if hi := min(lo+size, n); rows != nil {
					err = w.visitAll(ctx, rows[lo:hi])
				} else {
					err = w.visitNearest(ctx, lo, hi)
				}
				if err != nil {
					return err
				}
			}
		})
	}
	return g.Wait()
}

// chunkRows is the number of visitors of a chunk: the more, the more seldom a list is packed. At least as many chunks
// are made as there are threads.
func (p *pass) chunkRows(n int) int {
	size := max(maxVisits/p.opts.NProbe, 1)
	chunks := (n + size - 1) / size
	chunks = (chunks + p.opts.Threads - 1) / p.opts.Threads * p.opts.Threads
	return max((n+chunks-1)/chunks, min(n, 1024))
}

// maxVisits bounds the memory of a chunk: twelve bytes a visit.
const maxVisits = 1 << 24

type worker struct {
	*pass
	scanner *kernel.Scanner // queries: visitors, base: rows of a list
}

func newWorker(p *pass) (*worker, error) {
	visitors, visited := p.visitors.Queries.Kernel, p.visited.Queries.Kernel
	scanner, err := p.kernel.NewScanner(visitors, visited, p.visitors.K, visitorRows, min(listRows, max(p.lists.longest(), 1)))
	if err != nil {
		return nil, err
	}
	// A pair is compared again if either row visits another list of the other, or both visit.
	if err := scanner.ExpectRepeats(); err != nil {
		scanner.Close()
		return nil, err
	}
	return &worker{p, scanner}, nil
}

func (w *worker) visitAll(ctx context.Context, rows []int32) error {
	for list := range w.searcher.lists {
		if err := w.compare(ctx, list, rows); err != nil {
			return err
		}
	}
	return nil
}

// visitNearest has the visitors lo to hi visit their nearest lists.
func (w *worker) visitNearest(ctx context.Context, lo, hi int) error {
	start, visitors, err := w.visits(ctx, lo, hi)
	if err != nil {
		return err
	}
	for list := range w.searcher.lists {
		// Chunks begin with different lists, so that workers seldom meet.
		list = (list + lo) % w.searcher.lists
		if err := w.compare(ctx, list, visitors[start[list]:start[list+1]]); err != nil {
			return err
		}
	}
	return nil
}

// visits finds who of the visitors lo to hi visits which list: list i has visitors[start[i]:start[i+1]].
func (w *worker) visits(ctx context.Context, lo, hi int) (start, visitors []int32, err error) {
	f, err := w.newFinder(w.visitors.Queries.Kernel, w.lists.centroids, w.mostVisits(), w.span)
	if err != nil {
		return nil, nil, err
	}
	defer f.close()
	near, by := make([]int32, 0, (hi-lo)*w.opts.NProbe), make([]int32, 0, (hi-lo)*w.opts.NProbe)
	rows := make([]int32, 0, nearestRows)
	for at := lo; at < hi; at += nearestRows {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		rows = rows[:0]
		for row := at; row < min(at+nearestRows, hi); row++ {
			rows = append(rows, int32(row))
		}
		ids, counts := f.find(rows)
		for i, row := range rows {
			near = append(near, ids[i*f.n:i*f.n+int(counts[i])]...)
			for range counts[i] {
				by = append(by, row)
			}
		}
		w.progress.Add(float64(len(rows)) * float64(w.searcher.lists))
	}
	start, at := grouped(near, w.searcher.lists)
	for i, position := range at {
		at[i] = by[position]
	}
	return start, at, nil
}

// compare compares a list's rows with its visitors.
func (w *worker) compare(ctx context.Context, list int, visitors []int32) error {
	rows := w.lists.rowsOf(list)
	if len(visitors) == 0 {
		return nil
	}
	for lo := 0; lo < len(rows); lo += listRows {
		part := kernel.All(rows[lo:min(lo+listRows, len(rows))])
		w.scanner.Base(part, w.visited.Lists)
		for from := 0; from < len(visitors); from += visitorRows {
			if err := ctx.Err(); err != nil {
				return err
			}
			block := kernel.All(visitors[from:min(from+visitorRows, len(visitors))])
			w.scanner.Queries(block, w.visitors.Lists)
			w.scanner.Scan()
			unproven := w.scanner.SettleQueries(w.visitors.Lists)
			w.kernel.Exhaust(w.visitors.Queries.Kernel, w.visited.Queries.Kernel, w.visitors.Lists, unproven, part)
		}
		unproven := w.scanner.SettleBase(w.visited.Lists)
		w.kernel.Exhaust(w.visited.Queries.Kernel, w.visitors.Queries.Kernel, w.visited.Lists, unproven, kernel.All(visitors))
		w.progress.Add(float64(part.Hi) * float64(len(visitors)))
	}
	return nil
}
