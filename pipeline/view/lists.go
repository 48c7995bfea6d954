package view

import (
	"errors"
	"io"
	"math"
	"sync/atomic"

	"bitextmine/internal/spill"
	"bitextmine/mine"
)

// spilled is what a pair has in temporary files.
type spilled struct {
	closers []io.Closer
	failed  atomic.Pointer[error] // the first failure to read a list
}

// Close frees what deciding did not keep in memory. It returns the first failure to read any of it.
func (p *Pair) Close() (err error) {
	for _, one := range p.spilled.closers {
		err = errors.Join(err, one.Close())
	}
	p.spilled.closers = nil
	return errors.Join(p.readFailure(), err)
}

// readFailure is the first failure to read a list. What was decided since is worth nothing.
func (p *Pair) readFailure() error {
	if failed := p.spilled.failed.Load(); failed != nil {
		return *failed
	}
	return nil
}

// newLists returns n empty lists of k neighbours and what sets one of them.
func (p *Pair) newLists(n, k int) (_ mine.Neighbours, set func(i int, ids []int32, cosines []float32) error, err error) {
	const bytes = 8 // of a neighbour
	if p.Space.Holds(n * k * bytes) {
		lists := mine.NewNeighbours(n, k)
		return lists, func(i int, ids []int32, cosines []float32) error {
			intoIDs, intoCosines := lists.Row(i)
			copy(intoIDs, ids)
			copy(intoCosines, cosines)
			return nil
		}, nil
	}
	table, err := spill.NewTable[int32](p.Space, n, 2*k)
	if err != nil {
		return mine.Neighbours{}, nil, err
	}
	p.spilled.closers = append(p.spilled.closers, table)
	row := make([]int32, 2*k)
	set = func(i int, ids []int32, cosines []float32) error {
		copy(row, ids)
		for j, cosine := range cosines {
			row[k+j] = int32(math.Float32bits(cosine))
		}
		return table.Write(i, row)
	}
	read := func(i int, ids []int32, cosines []float32) {
		row := make([]int32, 2*k)
		if err := table.Read(i, row); err != nil {
			p.spilled.failed.CompareAndSwap(nil, &err)
			for j := range ids {
				ids[j] = mine.None
			}
			return
		}
		copy(ids, row)
		for j := range cosines {
			cosines[j] = math.Float32frombits(uint32(row[k+j]))
		}
	}
	return mine.Neighbours{K: k, N: n, Read: read}, set, nil
}
