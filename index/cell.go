package index

import (
	"context"
	"math"

	"bitextmine/internal/badinput"
	"bitextmine/mine"
)

// MaxK is the longest list that a search gives.
const MaxK = 64

// Cell is a checked pair of sides, equal rows folded into one: what an implementation of Searcher works on. An
// implementation searches the distinct rows alone; the lists that it hands back are opened up to all rows again.
type Cell struct {
	K              int
	Source, Target *Distinct
	result         Result
}

// NewCell checks both sides and folds their repeated rows. Errors are badinput: an empty side, unequal dims, k outside
// 1 to MaxK, a row with a value that is not finite or too long to be an embedding.
func NewCell(ctx context.Context, src, tgt Side, k int) (*Cell, error) {
	if err := check(src, tgt, k); err != nil {
		return nil, err
	}
	source, err := newDistinct(ctx, "source", src)
	if err != nil {
		return nil, err
	}
	target, err := newDistinct(ctx, "target", tgt)
	if err != nil {
		return nil, err
	}
	return &Cell{
		K: k, Source: source, Target: target,
		result: Result{
			Source: mine.NewNeighbours(src.Vectors.N, k),
			Target: mine.NewNeighbours(tgt.Vectors.N, k),
		},
	}, nil
}

func check(src, tgt Side, k int) error {
	if k < 1 || k > MaxK {
		return badinput.Errorf("k is %d; choose a number of neighbours from 1 to %d", k, MaxK)
	}
	for _, side := range []struct {
		name string
		Side
	}{{"source", src}, {"target", tgt}} {
		m := side.Vectors
		if m.N == 0 {
			return badinput.Errorf("the %s side has no rows; check that its shard and embedding file are not empty", side.name)
		}
		if m.Dim < 1 {
			return badinput.Errorf("the %s side has rows of %d values; an embedding has at least one", side.name, m.Dim)
		}
		if m.N > math.MaxInt32 {
			return badinput.Errorf("the %s side has %d rows, more than one cell can number; use a smaller shard_size", side.name, m.N)
		}
		if (m.F16 == nil) == (m.F32 == nil) || len(m.F16)+len(m.F32) != m.N*m.Dim {
			return badinput.Errorf("the %s side says %d rows of %d values but holds %d float16 and %d float32 values; encode that shard again", side.name, m.N, m.Dim, len(m.F16), len(m.F32))
		}
		if side.Order != nil && len(side.Order) != m.N {
			return badinput.Errorf("the %s side has %d rows but an order of %d; it must have one place for each row", side.name, m.N, len(side.Order))
		}
	}
	if src.Vectors.Dim != tgt.Vectors.Dim {
		return badinput.Errorf("source embeddings have %d dimensions and target embeddings %d; encode both sides with the same encoder", src.Vectors.Dim, tgt.Vectors.Dim)
	}
	return nil
}

// Halves returns the two directions of the search: targets for every source row, then sources for every target row.
func (c *Cell) Halves() [2]*Half {
	return [2]*Half{
		{Queries: c.Source, Base: c.Target, K: c.K, out: c.result.Source},
		{Queries: c.Target, Base: c.Source, K: c.K, out: c.result.Target},
	}
}

// Result returns the lists written so far; it shares their memory.
func (c *Cell) Result() Result { return c.result }

// Half is one direction of a cell's search.
type Half struct {
	Queries, Base *Distinct
	K             int
	out           mine.Neighbours // of all query rows, repeated ones too
}

// Slack bounds how far an inner product of a query and a base row computed in float32, in whatever order and with or
// without fused multiply-add, can be from its true value: (d + 2) u |a| |b| with u = 2^-24 (Higham, Accuracy and
// Stability of Numerical Algorithms, section 3.1), a percent more for the terms of second order, and the smallest
// normal numbers for underflow.
func (h *Half) Slack() float64 {
	const u = 1.0 / (1 << 24)
	d := float64(h.Base.Dim())
	return 1.01*(d+2)*u*h.Queries.MaxNorm*h.Base.MaxNorm + d*0x1p-126
}
