package ivf

import (
	"context"
	"math"

	"bitextmine/index"
	"bitextmine/index/exact"
	"bitextmine/internal/spill"
	"bitextmine/internal/usage"
	"bitextmine/mine"
)

// Search implements index.Searcher.
func (s *searcher) Search(ctx context.Context, src, tgt index.Side, k int, report func(float64)) (index.Result, error) {
	defer usage.SteadyHeap()()
	usage.TrimHeap() // a cell leaves much that the next one need not keep
	space := spill.Space{Dir: s.opts.Dir, Memory: s.inMemory}
	result, err := s.neighbours(ctx, space, src, tgt, k, report)
	if err != nil {
		return index.Result{}, err
	}
	if report != nil {
		report(1)
	}
	return result, nil
}

// neighbours searches a cell and measures recall. A cell of which a side has fewer different rows than lists is
// compared whole. The cell is closed when it returns.
func (s *searcher) neighbours(ctx context.Context, space spill.Space, src, tgt index.Side, k int,
	report func(float64)) (result index.Result, err error) {
	cell, err := index.NewCellIn(ctx, space, src, tgt, k)
	if err != nil {
		return index.Result{}, err
	}
	if divided(cell.Source.Len(), cell.Target.Len()) < s.lists {
		cell.Close()
		whole, err := exact.Open(exact.Options{Threads: s.opts.Threads, Kernel: s.opts.Kernel, Space: space})
		if err != nil {
			return index.Result{}, err
		}
		return whole.Search(ctx, src, tgt, k, report)
	}
	defer cell.Close()
	room := &spill.Arena{Space: space}
	defer func() { _ = room.Close() }() // nothing of it is needed any more
	forward, backward, err := cell.Proposals(room, proposals(k))
	if err != nil {
		return index.Result{}, err
	}
	defer forward.Lists.Close()
	defer backward.Lists.Close()
	p, err := s.passes(ctx, cell, [2]*index.Half{forward, backward}, report)
	defer p.close()
	if err != nil {
		return index.Result{}, err
	}
	if err := p.propose(ctx, k); err != nil {
		return index.Result{}, err
	}
	chosenForward, chosenBackward := cell.Halves()
	chosen, proposed := [2]*index.Half{chosenForward, chosenBackward}, [2]*index.Half{forward, backward}
	for i := range chosen {
		if err := p.choose(ctx, i, proposed[i], chosen); err != nil {
			return index.Result{}, err
		}
	}
	var r index.Recall
	if r.Source, r.SourceRows, err = s.recall(ctx, chosenForward); err != nil {
		return index.Result{}, err
	}
	if r.Target, r.TargetRows, err = s.recall(ctx, chosenBackward); err != nil {
		return index.Result{}, err
	}
	result, err = cell.Result()
	result.Recall = r
	return result, err
}

// choose fills the lists of one direction with the nearest of what is proposed, by the cosines of what whole numbers
// may not tell from them. Where that may be rows that were not proposed, the row is compared once more, exactly.
func (p *passes) choose(ctx context.Context, direction int, proposed *index.Half, chosen [2]*index.Half) error {
	const part = 1 << 14
	own, other := chosen[direction], chosen[1-direction]
	const sure = 1.5 // six standard deviations: a row that is left out is not looked at again
	distance := float32(tellable(proposed))
	candidates := make([]int64, 0, part*proposed.K)
	var crowded []int32
	for lo := 0; lo < proposed.Queries.Len(); lo += part {
		hi := min(lo+part, proposed.Queries.Len())
		candidates = candidates[:0]
		for q := lo; q < hi; q++ {
			ids, products := proposed.List(q)
			if ids[proposed.K-1] >= 0 && products[own.K-1]-products[proposed.K-1] < distance {
				crowded = append(crowded, int32(q))
			}
			near := own.K
			for near < proposed.K && ids[near] >= 0 && products[own.K-1]-products[near] < sure*distance {
				near++
			}
			candidates = appendWide(candidates, ids[:near])
			for range proposed.K - near {
				candidates = append(candidates, int64(mine.None))
			}
		}
		if err := own.Refine(ctx, p.opts.Threads, lo, hi, candidates); err != nil {
			return err
		}
	}
	switch {
	case len(crowded) == 0:
		return nil
	case p.each[direction] != nil:
		return p.each[direction].again(ctx, own, other, crowded)
	default:
		return p.each[1-direction].visitedAgain(ctx, own, other, crowded)
	}
}

// appendWide appends rows as Refine takes them.
func appendWide(to []int64, rows []int32) []int64 {
	for _, row := range rows {
		to = append(to, int64(row))
	}
	return to
}

// tellable is how far two products of a row must be apart so that the larger hardly ever has the smaller cosine: four
// standard deviations of what rounding does to their difference. Each value is off by up to half a unit, evenly, and
// meets the other row's.
func tellable(half *index.Half) float64 {
	a, b := half.Queries.Kernel.WholeLength(), half.Base.Kernel.WholeLength()
	return 4 * math.Sqrt((a*a+b*b)/12)
}

// passes are the two directions of a cell.
type passes struct {
	*searcher
	each [2]*pass // nil: the rows of that direction visit no lists
}

func (p *passes) close() {
	for _, one := range p.each {
		if one != nil {
			one.lists.close()
		}
	}
}

// passes returns the two directions, which fill the halves. Close them after an error, too.
func (s *searcher) passes(ctx context.Context, cell *index.Cell, halves [2]*index.Half,
	report func(float64)) (*passes, error) {
	p := &passes{searcher: s}
	sides := []*index.Distinct{cell.Source, cell.Target}
	small := smaller(cell)
	progress := index.NewProgress(s.work(cell, small >= 0), report)
	for _, side := range sides {
		if err := s.kernel.MeasureTop(ctx, side.Kernel); err != nil {
			return p, err
		}
	}
	for i, side := range sides {
		if i == small {
			continue
		}
		lists, err := s.open(ctx, side)
		if err != nil {
			return p, err
		}
		progress.Add(float64(side.Len()) * float64(s.lists))
		one := &pass{
			searcher: s, visitors: halves[1-i], visited: halves[i], lists: lists, longest: lists.longest(), progress: progress,
		}
		if small >= 0 {
			one.ofSmaller()
		}
		p.each[1-i] = one
	}
	return p, nil
}

// work is the number of comparisons of a cell, about.
func (s *searcher) work(cell *index.Cell, uneven bool) float64 {
	n, m, lists := float64(cell.Source.Len()), float64(cell.Target.Len()), float64(s.lists)
	each := 2 * n * m * float64(membersOf(s.lists)*s.opts.NProbe) / lists
	if uneven {
		return max(n, m)*lists + 2*min(n, m)*lists + (moreVisits+takers)/2*each
	}
	return 2*(n+m)*lists + each
}

// propose fills lists with the largest products of the rows that are compared. Rows that met fewer than k others on
// their visits then visit all lists.
func (p *passes) propose(ctx context.Context, k int) error {
	for _, one := range p.each {
		if one == nil {
			continue
		}
		if err := one.measureSpan(ctx); err != nil {
			return err
		}
		if err := one.run(ctx); err != nil {
			return err
		}
	}
	var short [2][]int32 // found in both directions before either is extended
	for i, one := range p.each {
		if one != nil {
			short[i] = shortRows(one.visitors, k)
		}
	}
	for i, one := range p.each {
		if len(short[i]) == 0 {
			continue
		}
		if err := one.visitAll(ctx, short[i]); err != nil {
			return err
		}
	}
	return nil
}

// shortRows returns the queries whose lists have fewer than k rows and could have more.
func shortRows(half *index.Half, k int) (rows []int32) {
	full := min(k, half.Base.Len())
	for q := range half.Queries.Len() {
		if ids, _ := half.List(q); ids[full-1] < 0 {
			rows = append(rows, int32(q))
		}
	}
	return rows
}
