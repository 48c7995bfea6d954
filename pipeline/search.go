package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"bitextmine/corpus"
	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/internal/atomicfile"
	"bitextmine/pipeline/store"
)

const (
	searchVersion = 1
	cellName      = "neighbours.cell"
)

// searchSpec is what a cell's neighbours depend on. The keys of embedding tasks stand for the embeddings' digests: they are
// derived from the digests of everything that an embedding is made from.
type searchSpec struct {
	Source, Target string // keys of the embedding tasks
	Search         string
	K              int
}

// cell is a searched cell: a source shard, a target shard, and the file of their neighbours.
type cell struct {
	source, target int // places among their side's shards
	path           string
}

// searchCells searches every source shard against every target shard.
func (r *run) searchCells(ctx context.Context, source, target *side) ([]cell, error) {
	total := int64(source.rows()) * int64(len(target.shards))
	stage := r.start("search", total, "sentences")
	orders := map[string][]int32{}
	var cells []cell
	for i := range source.shards {
		for j := range target.shards {
			s, t := &source.shards[i], &target.shards[j]
			spec := searchSpec{s.embedding.key, t.embedding.key, r.searcher.Name(), r.cfg.K}
			out, err := r.store.Do(store.Task{Stage: "search", Key: store.Key("search", searchVersion, spec)}, func(dir string) (any, error) {
				return spec, r.searchCell(ctx, s, t, orders, filepath.Join(dir, cellName), stage.meter.Add)
			})
			if err != nil {
				return nil, err
			}
			stage.task(out.Cached)
			if !out.Cached {
				stage.items += int64(s.rows)
			}
			cells = append(cells, cell{i, j, out.Path(cellName)})
		}
	}
	stage.done(r.report)
	return cells, nil
}

// searchCell writes the neighbours of one cell. orders remembers each shard's key order by its digest.
func (r *run) searchCell(ctx context.Context, s, t *shard, orders map[string][]int32, path string, progress func(int64)) (err error) {
	var sides [2]index.Side
	for n, one := range []*shard{s, t} {
		file, err := embedding.Open(one.embedding.path, embedding.Want{Encoder: r.model.Digest, Shard: one.digest})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		if file.N != one.rows {
			return fmt.Errorf("embedding file of %s has %d rows, its shard %d", one.name, file.N, one.rows)
		}
		if orders[one.digest] == nil {
			if orders[one.digest], err = keyOrder(one.path); err != nil {
				return err
			}
		}
		sides[n] = index.Side{Vectors: file.Matrix, Order: orders[one.digest]}
	}
	result, err := r.searcher.Search(ctx, sides[0], sides[1], r.cfg.K, inRows(s.rows, progress))
	if err != nil {
		return fmt.Errorf("search %s x %s: %w", s.name, t.name, err)
	}
	if result.Source.Len() != s.rows || result.Target.Len() != t.rows {
		return fmt.Errorf("search %s x %s gave lists of %d and %d rows instead of %d and %d",
			s.name, t.name, result.Source.Len(), result.Target.Len(), s.rows, t.rows)
	}
	return atomicfile.Write(path, func(f *os.File) error { return index.WriteResult(f, result) })
}

// inRows turns a searcher's fraction into rows for a meter.
func inRows(rows int, progress func(int64)) func(float64) {
	var shown atomic.Int64
	return func(fraction float64) {
		now := int64(fraction * float64(rows))
		if before := shown.Swap(now); now > before {
			progress(now - before)
		}
	}
}

// keyOrder returns each row's place in the order of the shard's sentence keys.
func keyOrder(path string) ([]int32, error) {
	keys, err := readKeys(path)
	if err != nil {
		return nil, err
	}
	rows := make([]int32, len(keys))
	for i := range rows {
		rows[i] = int32(i)
	}
	slices.SortFunc(rows, func(a, b int32) int { return keys[a].Compare(keys[b]) })
	order := make([]int32, len(keys))
	for place, row := range rows {
		order[row] = int32(place)
	}
	return order, nil
}

// readKeys reads the sentence key of every row of a shard file.
func readKeys(path string) ([]corpus.Key, error) {
	reader, err := corpus.OpenShard(path)
	if err != nil {
		return nil, err
	}
	keys, err := reader.Keys()
	return keys, errors.Join(err, reader.Close())
}
