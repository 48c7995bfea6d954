package ivf

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"bitextmine/index"
	"bitextmine/index/kernel"
)

// pass is one direction under way: rows of one side visit the lists of the other. Both sides' neighbour lists take the
// largest products. Or, exactly, the visitors' alone take the largest cosines. A worker takes a list and compares it
// with its visitors, so that the list is packed once for all of them. The neighbour lists are all workers'. What is
// merged are exact products, or exact cosines, in a fixed order, so it does not matter who comes first.
type pass struct {
	*searcher
	visitors, visited *index.Half // the rows that visit lists, and the rows in the lists
	lists             *lists
	longest           int // rows of the visited side that are compared at a time, at most
	taken             int // how many lists take a row on average although it does not visit them; 0: none does
	span              float64
	progress          *index.Progress
	exactly           bool
}

// Block sizes. visitorRows is the query block size of exact search. listRows bounds the memory of a long list. More
// than turnRows visitors of a list are compared in several turns, which different workers may take.
const (
	visitorRows = 2048
	listRows    = 8192
	turnRows    = 8 * visitorRows
)

// maxVisits bounds the memory for visits, of visitBytes each, and mostVisitors that for the visitors of the lists that
// are compared at a time.
const (
	maxVisits    = 1 << 25
	visitBytes   = 2
	mostVisitors = 1 << 22
)

// visitorsAtOnce is the number of rows whose visits are found before those are made.
func visitorsAtOnce(nprobe int) int { return max(maxVisits/max(nprobe, 1), nearestRows) }

// run has all rows visit their nearest lists.
func (p *pass) run(ctx context.Context) error {
	return p.visit(ctx, p, p.visitors.Queries.Len(), between, p.withRows)
}

// withRows is what visitors of a list are compared with, its rows, and they themselves.
func (p *pass) withRows(list int, visitors []int32) (base, queries []int32) {
	return p.lists.rowsOf(list), visitors
}

// again has some rows visit their nearest lists once more, exactly, for their lists of chosen, which hold cosines. The
// lists of the other side's rows are not changed.
func (p *pass) again(ctx context.Context, chosen, others *index.Half, rows []int32) error {
	exact := *p
	exact.visitors, exact.visited, exact.exactly, exact.taken = chosen, others, true, 0
	return exact.visit(ctx, &exact, len(rows), func(lo, hi int) []int32 { return rows[lo:hi] }, exact.withRows)
}

// visit finds the visitors of each list among n rows, and has the workers of a pass compare what compared makes of
// them: base rows, and queries.
func (p *pass) visit(ctx context.Context, by *pass, n int, rows func(lo, hi int) []int32,
	compared func(list int, visitors []int32) (base, queries []int32)) error {
	var workers workers
	defer func() { workers.close() }()
	size := visitorsAtOnce(p.opts.NProbe + 2*p.taken) // what is taken has twice the bytes of visits
	for lo := 0; lo < n; lo += size {
		v, err := p.visits(ctx, rows(lo, min(lo+size, n)))
		if err == nil && p.taken > 0 {
			err = p.take(ctx, v)
		}
		if err == nil && workers == nil { // not before visits are found, which takes memory, too
			workers, err = by.workers()
		}
		if err != nil {
			return err
		}
		for from := 0; from < p.searcher.lists; {
			to := v.upTo(from, mostVisitors)
			start, visitors := v.of(from, to)
			if err := workers.compare(ctx, from, to, func(list int) (base, queries []int32) {
				return compared(list, visitors[start[list-from]:start[list-from+1]])
			}); err != nil {
				return err
			}
			from = to
		}
	}
	return nil
}

// visitAll has the given rows visit all lists.
func (p *pass) visitAll(ctx context.Context, rows []int32) error {
	workers, err := p.workers()
	defer workers.close()
	if err != nil {
		return err
	}
	return workers.compare(ctx, 0, p.searcher.lists, func(list int) (base, queries []int32) { return p.withRows(list, rows) })
}

// visits are the lists that some rows visit.
type visits struct {
	rows  []int32
	each  []int32    // how many lists each row visits
	lists [][]uint16 // the lists, of nearestRows rows each
	taken [][]int32  // rows that a list takes, ascending; nil: no list takes any
	sizes []int32    // how many rows visit each list, or are taken, at most
}

// visits finds which lists rows visit.
func (p *pass) visits(ctx context.Context, rows []int32) (*visits, error) {
	v := &visits{
		rows: rows, each: make([]int32, len(rows)), lists: make([][]uint16, (len(rows)+nearestRows-1)/nearestRows),
		sizes: make([]int32, p.searcher.lists),
	}
	centroids := p.lists.centroids
	_, err := p.nearest(ctx, p.visitors.Queries.Kernel, rows, centroids, allOf(centroids), p.mostVisits(), p.span,
		func(at int, found near) {
			copy(v.each[at:], found.counts)
			sum := 0
			for _, n := range found.counts {
				sum += int(n)
			}
			visited := make([]uint16, 0, sum)
			for row := range found.counts {
				ids, _ := found.of(row)
				for _, id := range ids {
					visited = append(visited, uint16(id)) // below MaxLists
				}
			}
			v.lists[at/nearestRows] = visited
			p.progress.Add(float64(len(found.counts)) * float64(p.searcher.lists))
		})
	for _, visited := range v.lists {
		for _, list := range visited {
			v.sizes[list]++
		}
	}
	return v, err
}

// upTo returns where the lists from a list on end that have so many visitors together, or the list that has more.
func (v *visits) upTo(from, most int) (to int) {
	sum := int(v.sizes[from])
	for to = from + 1; to < len(v.sizes) && sum+int(v.sizes[to]) <= most; to++ {
		sum += int(v.sizes[to])
	}
	return to
}

// of returns the visitors of lists: list from+i has visitors[start[i]:start[i+1]].
func (v *visits) of(from, to int) (start, visitors []int32) {
	start = make([]int32, to-from+1)
	for i, n := range v.sizes[from:to] {
		start[i+1] = start[i] + n
	}
	next, visitors := slices.Clone(start), make([]int32, start[to-from])
	var visited []uint16
	for row, n := range v.each {
		if row%nearestRows == 0 {
			visited = v.lists[row/nearestRows]
		}
		for _, list := range visited[:n] {
			if i := int(list) - from; i >= 0 && i < to-from {
				visitors[next[i]] = v.rows[row]
				next[i]++
			}
		}
		visited = visited[n:]
	}
	if v.taken != nil {
		visitors = v.withTaken(from, start, next, visitors)
	}
	return start, visitors
}

// workers are those of a pass. They keep their blocks from one comparison to the next.
type workers []*worker

func (p *pass) workers() (all workers, err error) {
	for range p.opts.Threads {
		w, err := newWorker(p)
		if err != nil {
			return all, err
		}
		all = append(all, w)
	}
	return all, nil
}

func (all workers) close() {
	for _, w := range all {
		w.scanner.Close()
	}
}

// compare compares base rows with queries, of each list from one to another.
func (all workers) compare(ctx context.Context, from, to int, of func(list int) (base, queries []int32)) error {
	type turn struct{ list, first int }
	var turns []turn
	for list := from; list < to; list++ {
		_, queries := of(list)
		for first := 0; first < len(queries); first += turnRows {
			turns = append(turns, turn{list, first})
		}
	}
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for _, w := range all {
		g.Go(func() error {
			for {
				i := int(next.Add(1) - 1)
				if i >= len(turns) {
					return nil
				}
				base, queries := of(turns[i].list)
				queries = queries[turns[i].first:]
				if err := w.compare(ctx, base, queries[:min(turnRows, len(queries))]); err != nil {
					return err
				}
			}
		})
	}
	return g.Wait()
}

type worker struct {
	*pass
	scanner *kernel.Scanner
}

func newWorker(p *pass) (*worker, error) {
	visitors, visited := p.visitors.Queries.Kernel, p.visited.Queries.Kernel
	newScanner := p.kernel.NewWhole
	if p.exactly {
		newScanner = p.kernel.NewScanner
	}
	p.visitors.Lists.Share()
	p.visited.Lists.Share()
	scanner, err := newScanner(visitors, visited, p.visitors.K, visitorRows, min(listRows, max(p.longest, 1)))
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

// compare compares rows of the visited side with visitors.
func (w *worker) compare(ctx context.Context, rows, visitors []int32) error {
	for lo := 0; lo < len(rows); lo += listRows {
		part := kernel.All(rows[lo:min(lo+listRows, len(rows))])
		w.scanner.Base(part, w.visited.Lists)
		if w.exactly {
			w.scanner.OnlyNearest(math.Inf(1))
		}
		for from := 0; from < len(visitors); from += visitorRows {
			if err := ctx.Err(); err != nil {
				return err
			}
			block := kernel.All(visitors[from:min(from+visitorRows, len(visitors))])
			w.scanner.Queries(block, w.visitors.Lists)
			w.scanner.Scan()
			unproven := w.scanner.SettleQueries(w.visitors.Lists)
			if w.exactly {
				w.kernel.Exhaust(w.visitors.Queries.Kernel, w.visited.Queries.Kernel, w.visitors.Lists, unproven, part)
			} else {
				w.scanner.ExhaustQueries(w.visitors.Lists, unproven, part)
			}
		}
		if !w.exactly {
			unproven := w.scanner.SettleBase(w.visited.Lists)
			w.scanner.ExhaustBase(w.visited.Lists, unproven, kernel.All(visitors))
		}
		w.progress.Add(float64(part.Hi) * float64(len(visitors)))
	}
	return nil
}

// spanRows is the number of rows by which the span is chosen.
const spanRows = 1000

// mostVisits bounds the number of lists that one row visits.
func mostVisits(nprobe, lists int) int { return min(2*nprobe, lists) }

func (p *pass) mostVisits() int { return mostVisits(p.opts.NProbe, p.searcher.lists) }

// measureSpan sets how far below the cosine of its nearest centroid that of another may be for a row to visit its list.
// A row near the middle of a list needs to visit few others, one between many lists visits many of them: the rows of a
// sample visit nprobe on average.
func (p *pass) measureSpan(ctx context.Context) error {
	p.span = math.Inf(1)
	if p.opts.NProbe == p.searcher.lists {
		return nil
	}
	visitors, lists := p.visitors.Queries, p.lists
	sample := evenSample(visitors, spanRows)
	most := p.mostVisits()
	below := make([]float64, len(sample)*most)
	unit, err := p.nearest(ctx, visitors.Kernel, sample, lists.centroids, allOf(lists.centroids), most,
		math.Inf(1), func(lo int, found near) {
			for row := range found.counts {
				_, products := found.of(row)
				best := slices.Max(products)
				for i, v := range products {
					below[(lo+row)*most+i] = float64(best) - float64(v)
				}
			}
		})
	if err != nil {
		return err
	}
	slices.Sort(below)
	p.span = below[len(sample)*p.opts.NProbe-1] / unit
	return nil
}
