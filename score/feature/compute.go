package feature

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"bitextmine/internal/spill"
	"bitextmine/mine"
)

// candidateBlock is the number of candidates that a thread takes at a time.
const candidateBlock = 256

// Compute returns the features of candidates: the ScoredCandidates of lists, or some of them in the same order. Each
// value depends only on the pair, the lists and the two sides, so the number of threads changes nothing. Features that
// do not fit in the space's memory are in a file, which the caller must close with the table.
func Compute(
	ctx context.Context, space spill.Space, lists *mine.Lists, candidates []mine.Candidate, source, target *Side, threads int,
) (*Table, error) {
	if err := errors.Join(source.finish(lists.Source.Len()), target.finish(lists.Target.Len())); err != nil {
		return nil, fmt.Errorf("describe candidates: %w", err)
	}
	if (source.dim == 0) != (target.dim == 0) {
		return nil, errors.New("describe candidates: only one side has tokens")
	}
	values, err := newTable(space, len(candidates))
	if err != nil {
		return nil, err
	}
	d := describer{lists: lists, source: source, target: target, length: math.Log(max(1, target.meanLength()) / max(1, source.meanLength()))}
	if source.dim > 0 {
		source.weigh()
		target.weigh()
		d.rivals = newRivals(lists)
	}
	if err := d.compute(ctx, candidates, values, threads); err != nil {
		return nil, errors.Join(fmt.Errorf("describe candidates: %w", err), values.Close())
	}
	return values, nil
}

// compute sets all values: first those of each pair alone, then those that compare it with its rivals.
func (d *describer) compute(ctx context.Context, candidates []mine.Candidate, values *Table, threads int) error {
	err := inBlocks(ctx, len(candidates), threads, func(lo, hi int, m *coverage) error {
		block := m.block[:(hi-lo)*Count]
		for i := lo; i < hi; i++ {
			p, err := m.describe(d, &candidates[i])
			if err != nil {
				return err
			}
			p.set(block.Of(i - lo))
			m.means[i-lo] = meansOf(&p)
		}
		if d.rivals != nil {
			d.rivals.add(hi-lo, func(i int) mine.Pair { return candidates[lo+i].Pair() }, m.means)
		}
		return values.write(lo, block)
	})
	if err == nil && d.rivals != nil {
		err = d.measureRivals(ctx, candidates, threads)
	}
	if err != nil {
		return err
	}
	return inBlocks(ctx, len(candidates), threads, func(lo, hi int, m *coverage) error {
		block := m.block[:(hi-lo)*Count]
		if err := values.read(lo, block); err != nil {
			return err
		}
		for i := lo; i < hi; i++ {
			if d.rivals != nil {
				d.rivals.gaps(candidates[i].Pair(), block.Of(i-lo))
			}
			clamp(block.Of(i - lo))
		}
		return values.write(lo, block)
	})
}

// measureRivals measures the token coverage of the candidates' rivals.
func (d *describer) measureRivals(ctx context.Context, candidates []mine.Candidate, threads int) error {
	group, ctx := errgroup.WithContext(ctx)
	blocks := make(chan []mine.Pair, threads)
	group.Go(func() error {
		defer close(blocks)
		for block := range chunks(d.lists.Rivals(candidates), candidateBlock) {
			select {
			case blocks <- block:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range max(1, threads) {
		group.Go(func() error {
			m := newCoverage()
			for pairs := range blocks {
				for i, at := range pairs {
					if err := m.load(d, at.Source, at.Target); err != nil {
						return err
					}
					var p pair
					m.measure(&p)
					m.means[i] = meansOf(&p)
				}
				d.rivals.add(len(pairs), func(i int) mine.Pair { return pairs[i] }, m.means)
			}
			return nil
		})
	}
	return group.Wait()
}

// chunks yields what a sequence yields, n at a time.
func chunks[T any](all iter.Seq[T], n int) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		chunk := make([]T, 0, n)
		for one := range all {
			if chunk = append(chunk, one); len(chunk) == n {
				if !yield(chunk) {
					return
				}
				chunk = make([]T, 0, n)
			}
		}
		if len(chunk) > 0 {
			yield(chunk)
		}
	}
}

// inBlocks calls each for the blocks of 0 to n-1 on several threads. Each thread has its own buffers.
func inBlocks(ctx context.Context, n, threads int, each func(lo, hi int, m *coverage) error) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range max(1, threads) {
		group.Go(func() error {
			m := newCoverage()
			for ctx.Err() == nil {
				lo := int(next.Add(candidateBlock)) - candidateBlock
				if lo >= n {
					return nil
				}
				if err := each(lo, min(lo+candidateBlock, n), m); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// describer holds the data that all candidates share.
type describer struct {
	lists          *mine.Lists
	source, target *Side
	rivals         *rivals // nil without tokens
	length         float64 // log of the target's mean length over the source's
}

// describe measures a candidate.
func (m *coverage) describe(d *describer, c *mine.Candidate) (p pair, err error) {
	if err := m.load(d, c.Source, c.Target); err != nil {
		return p, err
	}
	p.compareVectors(d.lists, c)
	p.compareSurface(&m.a.surface, &m.b.surface, d.length)
	if d.rivals != nil {
		m.measure(&p)
	}
	if d.source.Names != nil && d.target.Names != nil {
		m.compareNames(d, &p)
	}
	return p, nil
}
