package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"bitextmine/corpus"
	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/index/backend"
	"bitextmine/index/faiss"
	"bitextmine/index/neighbours"
	"bitextmine/internal/atomicfile"
	"bitextmine/pipeline/open"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/store"
)

const cellName = "neighbours.cell"

// search writes the neighbours of one cell.
func (w *worker) search(ctx context.Context, t *plan.Task, dir string, meter progress.Meter) (_ any, err error) {
	var sides [2]index.Side
	var shards [2]*plan.ShardFile
	for s := range sides {
		shards[s] = &w.plan.Sides[s].Shards[t.Shards[s]]
		file, err := w.vectors(ctx, shards[s])
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		sides[s].Vectors = file.Matrix
		if sides[s].Order, err = w.order(ctx, shards[s]); err != nil {
			return nil, err
		}
	}
	searcher, err := w.searcherOf(min(shards[0].Rows, shards[1].Rows))
	if err != nil {
		return nil, err
	}
	result, err := searcher.Search(ctx, sides[0], sides[1], w.plan.Settings.K, stepsOf(t.Items, meter))
	if err != nil {
		return nil, fmt.Errorf("search %s x %s: %w", shards[0].Name, shards[1].Name, err)
	}
	if result.Source.Len() != shards[0].Rows || result.Target.Len() != shards[1].Rows {
		return nil, fmt.Errorf("search %s x %s gave lists of %d and %d rows instead of %d and %d",
			shards[0].Name, shards[1].Name, result.Source.Len(), result.Target.Len(), shards[0].Rows, shards[1].Rows)
	}
	var found recall
	if result.Recall.SourceRows+result.Recall.TargetRows > 0 {
		found.add(result.Recall.Min())
	}
	return found, atomicfile.Write(filepath.Join(dir, cellName), func(f *os.File) error { return neighbours.WriteCell(f, result.Source, result.Target) })
}

// indexesName is where approximate indexes are kept in a store: they can be made again.
const indexesName = "indexes"

// searcherOf opens the plan's backend, or exact search for a cell whose thinner side has too few rows for an index.
func (w *worker) searcherOf(rows int) (index.Searcher, error) {
	if rows < backend.MinRows(w.plan.Searcher()) {
		return w.exact()
	}
	return w.searcher()
}

// openSearcher opens the backend that a plan names. Its index files are kept beside the store's outputs.
func (w *worker) openSearcher() (index.Searcher, error) {
	name := w.plan.Searcher()
	opts := open.SearchOptions(w.plan.Settings.Searching, w.cfg.Resources)
	if backend.Exact(name) {
		opts.FAISS = faiss.Options{} // auto took it: the settings are of an approximate search that it did not take
	} else {
		opts.FAISS.Dir = w.store.Local(indexesName)
		if err := os.MkdirAll(opts.FAISS.Dir, 0o755); err != nil {
			return nil, fmt.Errorf("make the directory of index files: %w", err)
		}
	}
	return backend.Open(name, opts)
}

// recall is what a search or a merge of searches says of itself: the least recall that was measured; nil for an exact search.
type recall struct {
	Least *float64 `json:"least_recall,omitempty"`
}

func (r *recall) add(measured float64) {
	if r.Least == nil || measured < *r.Least {
		r.Least = &measured
	}
}

// addOf adds the recall that an output's record tells.
func (r *recall) addOf(out *store.Output) error {
	var of recall
	if err := json.Unmarshal(out.Info, &of); err != nil {
		return fmt.Errorf("read the record of %s: %w", out.Dir, err)
	}
	if of.Least != nil {
		r.add(*of.Least)
	}
	return nil
}

// vectors opens a shard's embedding file.
func (w *worker) vectors(ctx context.Context, s *plan.ShardFile) (*embedding.File, error) {
	out, err := w.input(ctx, plan.Encode, s.Vector)
	if err != nil {
		return nil, err
	}
	file, err := embedding.Open(out.Path(embeddingName), embedding.Want{Encoder: w.plan.Settings.Encoder, Shard: s.SHA256})
	if err != nil {
		return nil, err
	}
	if file.N != s.Rows {
		return nil, errors.Join(fmt.Errorf("embedding file of %s has %d rows, its shard %d", s.Name, file.N, s.Rows), file.Close())
	}
	return file, nil
}

// stepsOf turns a searcher's fraction into steps of a meter.
func stepsOf(items int64, meter progress.Meter) func(float64) {
	var shown atomic.Int64
	return func(fraction float64) {
		now := int64(fraction * float64(items))
		if before := shown.Swap(now); now > before {
			meter.Add(now - before)
		}
	}
}

// order returns each row's place in the order of the shard's sentence keys, and remembers it for the shard's other cells.
func (w *worker) order(ctx context.Context, s *plan.ShardFile) ([]int32, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if order, ok := w.orders[s.SHA256]; ok {
		return order, nil
	}
	path, err := w.shardPath(ctx, s)
	if err != nil {
		return nil, err
	}
	keys, err := readKeys(path, s.Rows)
	if err != nil {
		return nil, err
	}
	order := make([]int32, len(keys))
	for place, o := range byKey(appendOccurrences(make([]occurrence, 0, len(keys)), 0, keys)) {
		order[o.row] = int32(place)
	}
	w.orders[s.SHA256] = order
	return order, nil
}

// readKeys reads the sentence keys of a shard file of so many rows.
func readKeys(path string, rows int) ([]corpus.Key, error) {
	reader, err := corpus.OpenShard(path)
	if err != nil {
		return nil, err
	}
	keys, err := reader.Keys()
	if err == nil && len(keys) != rows {
		err = fmt.Errorf("shard %s has %d keys for %d rows", path, len(keys), rows)
	}
	return keys, errors.Join(err, reader.Close())
}
