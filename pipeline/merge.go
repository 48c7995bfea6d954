package pipeline

import (
	"context"
	"os"
	"path/filepath"

	"bitextmine/index/neighbours"
	"bitextmine/internal/atomicfile"
	"bitextmine/mine"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
)

const listsName = "neighbours.list"

// merge joins a shard's base and new cells into its neighbours over every shard of the other side. The file's bytes depend on
// the shard and the cover alone, not on the base.
func (w *worker) merge(ctx context.Context, t *plan.Task, dir string, meter progress.Meter) (any, error) {
	s := w.plan.Settings
	shard, other := &w.plan.Sides[t.Side].Shards[t.Shards[0]], &w.plan.Sides[1-t.Side]
	partners, err := w.sentences[1-t.Side]()
	if err != nil {
		return nil, err
	}
	var found recall
	merger := mine.NewMerger(shard.Rows, s.K)
	own := make([]int32, shard.Rows)
	for i := range own {
		own[i] = int32(i)
	}
	if t.Base != nil {
		laid, err := w.laid(1-t.Side, t.Base.Cover)
		if err != nil {
			return nil, err
		}
		base, err := w.lists(ctx, t.Base.Key, shard.Rows, len(laid), &found)
		if err != nil {
			return nil, err
		}
		merger.Add(base, own, laid)
	}
	for _, cell := range t.Cells {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		lists, err := w.cell(ctx, t.Side, cell, shard.Rows, other.Shards[cell.Other].Rows, &found)
		if err != nil {
			return nil, err
		}
		merger.Add(lists, own, partners.rows[cell.Other])
	}
	merged := merger.Neighbours()
	for i, number := range merged.IDs {
		if number != mine.None {
			merged.IDs[i] = partners.covered[number]
		}
	}
	meter.Add(t.Items)
	return found, atomicfile.Write(filepath.Join(dir, listsName), func(f *os.File) error {
		return neighbours.WriteList(f, merged, coverRows(other))
	})
}

// cell reads the lists that a cell has for one of its sides.
func (w *worker) cell(ctx context.Context, side int, ref plan.CellRef, rows, others int, found *recall) (mine.Neighbours, error) {
	out, err := w.input(ctx, plan.Search, ref.Key)
	if err == nil {
		err = found.addOf(out)
	}
	if err != nil {
		return mine.Neighbours{}, err
	}
	if side == 1 {
		rows, others = others, rows
	}
	source, target, err := neighbours.OpenCell(out.Path(cellName), rows, others, w.plan.Settings.K)
	if side == 1 {
		return target, err
	}
	return source, err
}

// lists reads a shard's merged neighbours.
func (w *worker) lists(ctx context.Context, key string, rows, others int, found *recall) (mine.Neighbours, error) {
	out, err := w.input(ctx, plan.Merge, key)
	if err == nil {
		err = found.addOf(out)
	}
	if err != nil {
		return mine.Neighbours{}, err
	}
	return neighbours.OpenList(out.Path(listsName), rows, others, w.plan.Settings.K)
}

// laid returns the numbers of the rows of one of the plan's covers, which is of a side's shards.
func (w *worker) laid(side, cover int) ([]int32, error) {
	numbered, err := w.sentences[side]()
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	key := coverOf{side, cover}
	if w.covers[key] == nil {
		w.covers[key] = numbered.laid(&w.plan.Sides[side], w.plan.Covers[cover])
	}
	return w.covers[key], nil
}

// coverRows is the number of rows of a side's cover: a shard that stands in two files counts once.
func coverRows(side *plan.Side) int {
	seen, rows := map[string]bool{}, 0
	for _, s := range side.Shards {
		if !seen[s.Vector] {
			seen[s.Vector] = true
			rows += s.Rows
		}
	}
	return rows
}
