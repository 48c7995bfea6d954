package pipeline

import (
	"context"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/index/backend"
	"bitextmine/index/exact"
	"bitextmine/index/faiss"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/store"
)

// checkNeighbours refuses a side that has fewer sentences than the lists are to have places. A shard may: its lists are merged with others'.
func (r *run) checkNeighbours(ctx context.Context, sides [2]plan.Side) error {
	for _, side := range sides {
		if slices.ContainsFunc(side.Shards, func(s plan.ShardFile) bool { return s.Rows >= r.cfg.K }) {
			continue
		}
		keys := map[corpus.Key]bool{} // a sentence may stand in several shards
		for i := 0; i < len(side.Shards) && len(keys) < r.cfg.K; i++ {
			out, err := r.store.Get(ctx, store.Task{Stage: plan.Shard, Key: side.Shards[i].Task})
			if err != nil {
				return err
			}
			found, err := readKeys(out.Path(side.Shards[i].File), side.Shards[i].Rows)
			if err != nil {
				return err
			}
			for _, key := range found {
				keys[key] = true
			}
		}
		if len(keys) < r.cfg.K {
			return badinput.Errorf("the %s text has %d different sentences and k = %d neighbours of each are asked for; give more text, or lower --k", side.Language, len(keys), r.cfg.K)
		}
	}
	return nil
}

// checkIndex refuses an index with more lists than any shard has rows: no cell would be searched by it.
func (r *run) checkIndex(sides [2]plan.Side) error {
	least := backend.MinRows(r.cfg.Search)
	for _, side := range sides {
		most := 0
		for _, s := range side.Shards {
			most = max(most, s.Rows)
		}
		if most < least {
			return badinput.Errorf("search %s has %d lists but no shard of the %s text more than %d sentences to train them on; use fewer lists, or exact", r.cfg.Search, least, side.Language, most)
		}
	}
	return nil
}

// checkSearch refuses, before anything is done, what could not search.
func (r *run) checkSearch() error {
	names := r.cfg.Approximate()
	switch {
	case r.cfg.Search != backend.Auto:
		names = []string{r.cfg.Search}
	case len(names) == 0:
		names = []string{exact.Name}
	}
	for _, name := range names {
		if r.remote && strings.HasPrefix(name, faiss.PrefixGPU) {
			continue // the machines that search have the GPUs
		}
		if err := backend.Check(name, r.model.Dim, r.cfg.SearchOptions()); err != nil {
			return err
		}
	}
	return nil
}
