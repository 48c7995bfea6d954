// Package exact finds the nearest neighbours of both sides of a cell in one pass over their inner products.
//
// The larger side is cut into blocks, the base; a worker takes a block and runs all queries of the other side past it,
// one block of queries after another. A tile of scores serves both sides: whatever is above the floor of its row or of
// its column becomes a candidate there. The base block's lists are complete when the last queries have passed; they
// belong to that worker alone. The queries' lists are shared: after each block the worker merges its candidates into
// them under a lock. What is merged are exact cosines in a fixed order, so it does not matter who comes first.
//
// Rows are visited by the golden ratio: every block is an even sample of its side. On rows in their own order, which
// may be sorted by similarity, floors would rise row by row and everything would become a candidate for a while.
//
// The base's blocks are runs of rows, so a worker reads few pages of the base's file at a time and releases them with
// the block. A base block's candidates may be anywhere among the queries, so the queries' file stays in memory during a
// block. Many queries are therefore divided into parts, and the base passes over one part after the other.
package exact

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"bitextmine/index"
	"bitextmine/index/kernel"
	"bitextmine/internal/badinput"
	"bitextmine/internal/spill"
	"bitextmine/internal/usage"
)

// Name is the searcher's name in the settings.
const Name = "exact"

// Options are the settings of an exact search.
type Options struct {
	Threads int    // 0: all processors that Go may use
	Kernel  string // empty: the fastest that this CPU runs
	// SourceOnly leaves the lists of the target rows empty.
	SourceOnly bool
	// Space takes lists and numbers of rows; the zero value keeps them in memory.
	Space spill.Space
}

// Block sizes. The queries are packed again for each base block; a block of queries is about a fifth of a second's
// work at 1,024 dimensions, the time that a search takes to notice that it was cancelled.
const (
	baseRows  = 16384
	queryRows = 2048
)

// partBytes is the size of the embeddings of a part of the queries.
const partBytes = 96 << 20

type searcher struct {
	threads    int
	kernel     *kernel.Kernel
	sourceOnly bool
	space      spill.Space
}

// Open returns an exact searcher. Errors are badinput: options out of range, a kernel that this CPU cannot run.
func Open(opts Options) (index.Searcher, error) {
	if opts.Threads < 0 {
		return nil, badinput.Errorf(
			"threads is %d: give a positive number, or 0 for all processors", opts.Threads)
	}
	s := &searcher{threads: opts.Threads, kernel: kernel.Best, sourceOnly: opts.SourceOnly, space: opts.Space}
	if s.threads == 0 {
		s.threads = runtime.GOMAXPROCS(0)
	}
	if opts.Kernel != "" {
		if s.kernel = kernel.Get(opts.Kernel); s.kernel == nil {
			return nil, badinput.Errorf("this CPU cannot run the search kernel %q; leave it out to use %s", opts.Kernel,
				kernel.Best.Name)
		}
	}
	return s, nil
}

func (s *searcher) Name() string { return Name }

// Search implements index.Searcher.
func (s *searcher) Search(ctx context.Context, src, tgt index.Side, k int, report func(float64)) (index.Result, error) {
	cell, err := index.NewCellIn(ctx, s.space, src, tgt, k)
	if err != nil {
		return index.Result{}, err
	}
	defer cell.Close()
	for _, side := range []*index.Distinct{cell.Source, cell.Target} {
		if err := s.kernel.MeasureLoss(ctx, side.Kernel); err != nil {
			return index.Result{}, err
		}
	}
	defer usage.TrimC()
	if err := s.pass(ctx, cell, partBytes, report); err != nil {
		return index.Result{}, err
	}
	if report != nil {
		report(1)
	}
	return cell.Result()
}

// pass is one search under way.
type pass struct {
	kernel        *kernel.Kernel
	rows, cols    *index.Half  // the queries' lists and the base rows'
	rowsOnly      bool         // the base rows' lists are not wanted
	queries, base blocks       // a part of the queries
	locks         []sync.Mutex // one for each block of queries: guards those queries' lists
	next          atomic.Int64 // the next base block without a worker
	progress      *index.Progress
}

// pass runs all queries past the base, a part of at most so many bytes of embeddings after the other.
func (s *searcher) pass(ctx context.Context, cell *index.Cell, partBytes int, report func(float64)) error {
	rows, cols := cell.Halves()
	if !s.sourceOnly && rows.Queries.Len() > cols.Queries.Len() {
		rows, cols = cols, rows
	}
	base := cut(cols.Queries.Len(), baseRows, s.threads).inRuns(cols.RowBytes())
	progress := index.NewProgress(float64(rows.Queries.Len())*float64(base.n), report)
	partRows := max(partBytes/rows.RowBytes(), queryRows)
	parts := inParts(rows.Queries.Len(), partRows, queryRows)
	scanners, err := s.scanners(rows, cols,
		slices.MaxFunc(parts, func(a, b blocks) int { return a.size - b.size }).size, base)
	defer func() {
		for _, scanner := range scanners {
			scanner.Close()
		}
	}()
	if err != nil {
		return err
	}
	for _, part := range parts {
		p := &pass{kernel: s.kernel, rows: rows, cols: cols, rowsOnly: s.sourceOnly, queries: part, base: base,
			progress: progress}
		p.locks = make([]sync.Mutex, part.count)
		if err := errors.Join(p.run(ctx, scanners), rows.Release()); err != nil {
			return err
		}
	}
	return nil
}

// scanners makes one for each worker.
func (s *searcher) scanners(rows, cols *index.Half, queryRows int, base blocks) (all []*kernel.Scanner, err error) {
	for range min(s.threads, base.count) {
		scanner, err := s.kernel.NewScanner(rows.Queries.Kernel, cols.Queries.Kernel, rows.K, queryRows, base.size)
		if err != nil {
			return all, err
		}
		all = append(all, scanner)
	}
	return all, nil
}

func (p *pass) run(ctx context.Context, scanners []*kernel.Scanner) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, scanner := range scanners {
		g.Go(func() error { return p.work(ctx, scanner) })
	}
	return g.Wait()
}

// work takes base blocks until there are none left.
func (p *pass) work(ctx context.Context, scanner *kernel.Scanner) error {
	for {
		b := int(p.next.Add(1)) - 1
		if b >= p.base.count {
			return nil
		}
		if err := p.searchBlock(ctx, scanner, b); err != nil {
			return err
		}
	}
}

// searchBlock runs all queries past base block b. Each block starts at other queries, so that workers seldom meet at a
// lock.
func (p *pass) searchBlock(ctx context.Context, scanner *kernel.Scanner, b int) error {
	block := p.base.span(b)
	scanner.Base(block, p.cols.Lists) // lists from earlier parts of the queries
	if p.rowsOnly {
		scanner.OnlyNearest(math.Inf(1))
	}
	for i := range p.queries.count {
		if err := ctx.Err(); err != nil {
			return err
		}
		q := (i + b*p.queries.count/p.base.count) % p.queries.count
		p.searchTile(scanner, q, block)
		from, to := p.queries.bounds(q)
		p.progress.Add(float64(block.Hi-block.Lo) * float64(to-from))
	}
	if !p.rowsOnly {
		if err := p.cols.Exhaust(ctx, scanner.SettleBase(p.cols.Lists)); err != nil {
			return err
		}
	}
	return p.cols.Release()
}

func (p *pass) searchTile(scanner *kernel.Scanner, q int, block kernel.Span) {
	p.locks[q].Lock()
	scanner.Queries(p.queries.span(q), p.rows.Lists)
	p.locks[q].Unlock()

	scanner.Scan()

	p.locks[q].Lock()
	defer p.locks[q].Unlock()
	unproven := scanner.SettleQueries(p.rows.Lists)
	p.kernel.Exhaust(p.rows.Queries.Kernel, p.cols.Queries.Kernel, p.rows.Lists, unproven, block)
}

// Memory is how many bytes the blocks of a search of sides of so many rows take. The lists of the result come to that.
func Memory(rows, cols, threads, dim, k int) int64 {
	n, size := max(rows, cols, 1), baseRows
	if n < threads*baseRows { // fewer or smaller blocks
		base := cut(n, baseRows, threads)
		size, threads = base.size, min(threads, base.count)
	}
	return int64(threads) * kernel.ScannerBytes(dim, k, queryRows, size)
}

// blocks cuts a side's n positions into count blocks of size (the last may be smaller). Position p stands for distinct
// row p*step mod n, or rows[p] where there are any.
type blocks struct {
	n, size, count, step int
	rows                 []int32
}

// cut makes blocks of nearly equal size, at most size rows each. Their number is a multiple of workers if there are at
// least that many blocks.
func cut(n, size, workers int) blocks {
	count := (n + size - 1) / size
	// A block below a thousand rows is not worth a worker's while.
	if rounded := (count + workers - 1) / workers * workers; n/rounded >= 1024 {
		count = rounded
	}
	size = (n + count - 1) / count
	return blocks{n: n, size: size, count: (n + size - 1) / size, step: goldenStep(n)}
}

// runBytes is the size of the rows that stand together in a block in runs. The system maps a file in the pieces that
// its cache has, of up to 2 MiB, so with less more of the side would be in memory.
const runBytes = 2 << 20

// inRuns has the blocks take runs of consecutive rows instead of single ones, of which a large side has hundreds. Then
// the rows of a block are in a small part of the side's file.
func (b blocks) inRuns(rowBytes int) blocks {
	run := max(1, min(runBytes/rowBytes, b.n/256))
	runs := (b.n + run - 1) / run
	step := goldenStep(runs)
	b.rows = make([]int32, 0, b.n)
	for i := range runs {
		first := i * step % runs * run
		for row := first; row < min(first+run, b.n); row++ {
			b.rows = append(b.rows, int32(row))
		}
	}
	return b
}

// inParts divides rows 0 to n-1 into parts of at most size consecutive rows, nearly equal, and each part into blocks.
func inParts(n, size, blockRows int) []blocks {
	count := (n + size - 1) / size
	parts := make([]blocks, count)
	for i := range parts {
		lo, hi := i*n/count, (i+1)*n/count
		parts[i] = cut(hi-lo, blockRows, 1)
		if count > 1 {
			parts[i].rows = make([]int32, hi-lo)
			for p := range parts[i].rows {
				parts[i].rows[p] = int32(lo + p*parts[i].step%(hi-lo))
			}
		}
	}
	return parts
}

// span is the rows of block i.
func (b blocks) span(i int) kernel.Span {
	lo, hi := b.bounds(i)
	return kernel.Span{Lo: lo, Hi: hi, Step: b.step, Rows: b.rows}
}

func (b blocks) bounds(i int) (lo, hi int) { return i * b.size, min((i+1)*b.size, b.n) }

// goldenStep returns the number nearest above n divided by the golden ratio that has no divisor in common with n.
func goldenStep(n int) int {
	step := max(int(float64(n)/math.Phi), 1)
	for gcd(step, n) != 1 {
		step++
	}
	return step
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
