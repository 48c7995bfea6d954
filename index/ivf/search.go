package ivf

import (
	"context"
	"math"

	"bitextmine/index"
	"bitextmine/internal/spill"
	"bitextmine/internal/usage"
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

// neighbours searches a cell and measures recall. The cell is closed when it returns.
func (s *searcher) neighbours(ctx context.Context, space spill.Space, src, tgt index.Side, k int,
	report func(float64)) (result index.Result, err error) {
	cell, err := index.NewCellIn(ctx, space, src, tgt, k)
	if err != nil {
		return index.Result{}, err
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
	passes, err := s.passes(ctx, cell, [2]*index.Half{forward, backward}, report)
	for _, p := range passes {
		if p != nil {
			defer p.lists.close()
		}
	}
	if err != nil {
		return index.Result{}, err
	}
	if err := propose(ctx, passes, k); err != nil {
		return index.Result{}, err
	}
	chosenForward, chosenBackward := cell.Halves()
	if err := passes[0].choose(ctx, chosenForward, chosenBackward); err != nil {
		return index.Result{}, err
	}
	if err := passes[1].choose(ctx, chosenBackward, chosenForward); err != nil {
		return index.Result{}, err
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

// choose fills the visitors' lists of chosen with the nearest of what is proposed. Where whole numbers might not tell
// the k nearest from what they did not propose, the row visits once more, exactly.
func (p *pass) choose(ctx context.Context, chosen, others *index.Half) error {
	const part = 1 << 14
	proposed, apart := p.visitors, float32(p.apart())
	candidates := make([]int64, 0, part*proposed.K)
	var crowded []int32
	for lo := 0; lo < proposed.Queries.Len(); lo += part {
		hi := min(lo+part, proposed.Queries.Len())
		candidates = candidates[:0]
		for q := lo; q < hi; q++ {
			ids, products := proposed.List(q)
			if ids[proposed.K-1] >= 0 && products[chosen.K-1]-products[proposed.K-1] < apart {
				crowded = append(crowded, int32(q))
			}
			candidates = appendWide(candidates, ids)
		}
		if err := chosen.Refine(ctx, p.opts.Threads, lo, hi, candidates); err != nil {
			return err
		}
	}
	if len(crowded) == 0 {
		return nil
	}
	return p.again(ctx, chosen, others, crowded)
}

// appendWide appends rows as Refine takes them.
func appendWide(to []int64, rows []int32) []int64 {
	for _, row := range rows {
		to = append(to, int64(row))
	}
	return to
}

// apart is how far two products of a row must be apart so that the larger hardly ever has the smaller cosine: four
// standard deviations of what rounding does to their difference. Each value is off by up to half a unit, evenly, and
// meets the other row's.
func (p *pass) apart() float64 {
	a, b := p.visitors.Queries.Kernel.WholeLength(), p.visited.Queries.Kernel.WholeLength()
	return 4 * math.Sqrt((a*a+b*b)/12)
}

// passes returns the two directions, which fill the halves. Close those that are not nil, also after an error.
func (s *searcher) passes(ctx context.Context, cell *index.Cell, halves [2]*index.Half,
	report func(float64)) (passes [2]*pass, err error) {
	n, m := float64(cell.Source.Len()), float64(cell.Target.Len())
	progress := index.NewProgress(
		2*(n+m)*float64(s.lists)+2*n*m*float64(membersOf(s.lists)*s.opts.NProbe)/float64(s.lists), report)
	sides := []*index.Distinct{cell.Source, cell.Target}
	for i, side := range sides {
		if err := s.kernel.MeasureTop(ctx, side.Kernel); err != nil {
			return passes, err
		}
		sized := s.of(side.Len(), sides[1-i].Len())
		lists, err := sized.open(ctx, side)
		if err != nil {
			return passes, err
		}
		progress.Add(float64(side.Len()) * float64(s.lists))
		passes[1-i] = &pass{searcher: sized, visitors: halves[1-i], visited: halves[i], lists: lists, progress: progress}
	}
	return passes, nil
}

// propose fills lists with the largest products of the rows that are compared. Rows that met fewer than k others on
// their visits then visit all lists.
func propose(ctx context.Context, passes [2]*pass, k int) error {
	for _, p := range passes {
		if err := p.measureSpan(ctx); err != nil {
			return err
		}
		if err := p.run(ctx); err != nil {
			return err
		}
	}
	// Of both, before either is extended.
	short := [2][]int32{shortRows(passes[0].visitors, k), shortRows(passes[1].visitors, k)}
	for i, p := range passes {
		if len(short[i]) == 0 {
			continue
		}
		if err := p.visitAll(ctx, short[i]); err != nil {
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
