package index

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"

	"bitextmine/index/kernel"
	"bitextmine/internal/badinput"
	"bitextmine/internal/spill"
	"bitextmine/mine"
)

// MaxK is the maximum length of a neighbour list.
const MaxK = 64

// Cell is a checked pair of sides in which equal rows are merged. Implementations of Searcher fill the lists of its
// distinct rows; Result expands them to all rows.
type Cell struct {
	Source, Target *Distinct
	halves         [2]*Half
	room           *spill.Arena // nil: the result has it
}

// NewCell checks both sides and merges their equal rows. Close it after the last use; until then the memory of both
// sides is pinned. Errors are badinput: an empty side, different dims, k outside 1 to MaxK, or a row with a value that
// is not finite or with a length far from 1.
func NewCell(ctx context.Context, src, tgt Side, k int) (*Cell, error) {
	return NewCellIn(ctx, spill.Space{}, src, tgt, k)
}

// NewCellIn is NewCell with lists and numbers of rows in a space. The result of the cell closes what it has there, or
// the cell where there is none.
func NewCellIn(ctx context.Context, space spill.Space, src, tgt Side, k int) (*Cell, error) {
	if err := check(src, tgt, k); err != nil {
		return nil, err
	}
	room := &spill.Arena{Space: space}
	var source, target *Distinct
	var failures [2]error // both sides may fail; the first side's error is returned
	var both sync.WaitGroup
	both.Go(func() { source, failures[0] = newDistinct(ctx, room, "source", src) })
	both.Go(func() { target, failures[1] = newDistinct(ctx, room, "target", tgt) })
	both.Wait()
	if err := cmp.Or(failures[:]...); err != nil {
		for _, d := range []*Distinct{source, target} {
			if d != nil {
				d.close()
			}
		}
		return nil, errors.Join(err, room.Close())
	}
	c := &Cell{Source: source, Target: target, room: room}
	for i, half := range [2][2]*Distinct{{source, target}, {target, source}} {
		var err error
		if c.halves[i], err = newHalf(room, half[0], half[1], k); err != nil {
			c.Close()
			return nil, err
		}
	}
	return c, nil
}

// Close releases the sides' memory.
func (c *Cell) Close() {
	for _, h := range c.halves {
		if h != nil {
			h.Lists.Close()
		}
	}
	c.Source.close()
	c.Target.close()
	if c.room != nil {
		_ = c.room.Close() // another error is told where there is no result
	}
}

// Halves returns the two directions of the search: targets for every source row, then sources for every target row.
func (c *Cell) Halves() (forward, backward *Half) { return c.halves[0], c.halves[1] }

// Proposals returns the two directions with other lists, of n neighbours, in a room, for a search that first orders
// them by other numbers than cosines. Close their lists after the last use.
func (c *Cell) Proposals(room *spill.Arena, n int) (forward, backward *Half, err error) {
	if forward, err = newHalf(room, c.Source, c.Target, n); err != nil {
		return nil, nil, err
	}
	if backward, err = newHalf(room, c.Target, c.Source, n); err != nil {
		forward.Lists.Close()
		return nil, nil, err
	}
	return forward, backward, nil
}

// Result returns the lists of all rows of both sides. It may share memory with the cell. The lists of the distinct rows
// are gone after it.
func (c *Cell) Result() (Result, error) {
	var lists [2]mine.Neighbours
	for i, h := range c.halves {
		var err error
		if lists[i], err = h.open(c.room); err != nil {
			return Result{}, err
		}
		h.Lists.Close()
		h.lists = mine.Neighbours{} // may be freed before the other half is opened
	}
	result := Result{Source: lists[0], Target: lists[1], room: c.room}
	c.room = nil
	return result, nil
}

func check(src, tgt Side, k int) error {
	if k < 1 || k > MaxK {
		return badinput.Errorf("k is %d; choose a number of neighbours from 1 to %d", k, MaxK)
	}
	if err := checkSide("source", src); err != nil {
		return err
	}
	if err := checkSide("target", tgt); err != nil {
		return err
	}
	if src.Vectors.Dim != tgt.Vectors.Dim {
		return badinput.Errorf(
			"source embeddings have %d dimensions and target embeddings %d; encode both sides with the same encoder",
			src.Vectors.Dim, tgt.Vectors.Dim)
	}
	return nil
}

func checkSide(name string, side Side) error {
	m := side.Vectors
	switch {
	case m.N == 0:
		return badinput.Errorf("the %s side has no rows; check that its text, or its file of vectors, is not empty", name)
	case m.Dim < 1:
		return badinput.Errorf("the %s side has rows of %d values; an embedding must have at least one", name, m.Dim)
	case m.N < 0 || m.N > math.MaxInt32:
		return badinput.Errorf("the %s side has %d rows, more than a cell can have; use a smaller shard_size", name,
			m.N)
	case (m.F16 == nil) == (m.F32 == nil), len(m.F16)+len(m.F32) != m.N*m.Dim:
		return badinput.Errorf(
			"the %s side is declared as %d rows of %d values but has %d float16 and %d float32 values; encode that shard again",
			name, m.N, m.Dim, len(m.F16), len(m.F32))
	case side.Order != nil && len(side.Order) != m.N:
		return badinput.Errorf("the %s side has %d rows but an order of %d; it must have one position for each row",
			name, m.N, len(side.Order))
	}
	return nil
}

// Half is one direction of a cell's search, in distinct rows.
type Half struct {
	Queries, Base *Distinct
	K             int
	Lists         *kernel.Lists // lists of the distinct queries
	lists         mine.Neighbours
}

func newHalf(room *spill.Arena, queries, base *Distinct, k int) (*Half, error) {
	lists, err := newLists(room, queries.Len(), k)
	return &Half{Queries: queries, Base: base, K: k, lists: lists, Lists: kernel.NewLists(lists.IDs, lists.Cosines, k)}, err
}

// newLists returns lists for n rows, filled with mine.None, in a room.
func newLists(room *spill.Arena, n, k int) (mine.Neighbours, error) {
	ids, err := spill.Make[int32](room, n*k)
	if err != nil {
		return mine.Neighbours{K: k}, err
	}
	for i := range ids {
		ids[i] = mine.None
	}
	cosines, err := spill.Make[float32](room, n*k)
	return mine.Neighbours{K: k, IDs: ids, Cosines: cosines}, err
}

// List returns the list of distinct query q for reading and writing.
func (h *Half) List(q int) ([]int32, []float32) { return h.lists.Row(q) }

// RowBytes is the size of a query's embedding.
func (h *Half) RowBytes() int { return len(rowBytes(h.Queries.vectors, 0)) }

// Release drops the queries' rows of a mapped file from memory until they are read again.
func (h *Half) Release() error { return h.Queries.vectors.Release() }

// open returns the lists of all query rows: each row gets the list of its distinct row, and each entry is expanded to
// the rows that it stands for.
func (h *Half) open(room *spill.Arena) (mine.Neighbours, error) {
	if h.Queries.first == nil && h.Base.first == nil {
		return h.lists, nil
	}
	out, err := newLists(room, h.Queries.vectors.N, h.K)
	if err != nil {
		return out, err
	}
	opened := make([]neighbour, 0, h.K*h.K)
	for q := range h.Queries.Len() {
		opened = h.openList(q, opened[:0])
		for _, row := range h.Queries.rows(q) {
			ids, cosines := out.Row(int(row))
			for i, n := range opened {
				ids[i], cosines[i] = n.row, n.cosine
			}
		}
	}
	return out, nil
}
