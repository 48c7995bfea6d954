package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"bitextmine/corpus/shard"
	"bitextmine/pipeline/plan"
)

// RowsOf calls each with the first occurrence of sentences of a side, given by their numbers: at is the place among
// numbers. It reads each shard once, in row order.
func (p *Pair) RowsOf(ctx context.Context, side int, numbers []int32, each func(at int, shard *plan.Shard, number uint32, row shard.Row)) error {
	order := make([]int32, len(numbers))
	for i := range order {
		order[i] = int32(i)
	}
	first := p.Sentences[side].First
	slices.SortFunc(order, func(a, b int32) int {
		x, y := first[numbers[a]], first[numbers[b]]
		return cmp.Or(cmp.Compare(x.Shard, y.Shard), cmp.Compare(x.Row, y.Row))
	})
	for len(order) > 0 {
		place, n := first[numbers[order[0]]], 1
		for n < len(order) && first[numbers[order[n]]].Shard == place.Shard {
			n++
		}
		shard := &p.Language(side).Shards[place.Shard]
		rows := make([]uint32, n)
		for i, at := range order[:n] {
			rows[i] = first[numbers[at]].Row
		}
		if err := p.rowsAt(ctx, shard, rows, order[:n], each); err != nil {
			return err
		}
		order = order[n:]
	}
	return nil
}

// rowsAt reads rows of one shard, in ascending order; a row may be wanted more than once.
func (p *Pair) rowsAt(
	ctx context.Context, s *plan.Shard, rows []uint32, order []int32, each func(at int, shard *plan.Shard, number uint32, row shard.Row),
) (err error) {
	path, err := p.ShardPath(ctx, s)
	if err != nil {
		return err
	}
	reader, err := shard.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	n := 0
	for row, err := range reader.RowsAt(rows) {
		if err != nil {
			return err
		}
		each(int(order[n]), s, rows[n], row)
		n++
	}
	if n != len(rows) {
		return fmt.Errorf("shard %s gave %d of %d rows", path, n, len(rows))
	}
	return nil
}
