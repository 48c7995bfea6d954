package pipeline

import (
	"context"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/encode/model"
	"bitextmine/index/backend"
	"bitextmine/index/exact"
	"bitextmine/index/faiss"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/view"
)

// checkNeighbours refuses a language that has fewer sentences than the lists have places. A shard may: its lists are
// merged with others'.
func (r *run) checkNeighbours(ctx context.Context, languages []plan.Language) error {
	files := view.NewFiles(r.store, &plan.Plan{}, r.cfg.Work)
	for _, language := range languages {
		if slices.ContainsFunc(language.Shards, func(s plan.Shard) bool { return s.Rows >= r.cfg.K }) {
			continue
		}
		keys := map[corpus.Key]bool{} // a sentence may stand in several shards
		for i := 0; i < len(language.Shards) && len(keys) < r.cfg.K; i++ {
			found, err := files.Keys(ctx, &language.Shards[i])
			if err != nil {
				return err
			}
			for _, key := range found {
				keys[key] = true
			}
		}
		if len(keys) < r.cfg.K {
			return badinput.Errorf("the %s text has %d different sentences and k = %d neighbours of each are asked for; give more text, or lower --k",
				language.Code, len(keys), r.cfg.K)
		}
	}
	return nil
}

// checkIndex refuses an index with more lists than any shard has rows: no cell would be searched by it.
func (r *run) checkIndex(languages []plan.Language) error {
	minRows := backend.MinRows(r.cfg.Search)
	for _, language := range languages {
		maxRows := 0
		for _, s := range language.Shards {
			maxRows = max(maxRows, s.Rows)
		}
		if maxRows < minRows {
			return badinput.Errorf("search %s has %d lists but no shard of the %s text more than %d sentences to train them on; use fewer lists, or exact",
				r.cfg.Search, minRows, language.Code, maxRows)
		}
	}
	return nil
}

// checkSearch refuses, before anything is done, a search that could not run.
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

// warnLanguages warns of a language that the encoder was not trained on: it encodes any text, but pairs of it mean
// little.
func (r *run) warnLanguages() {
	for _, m := range []*model.Model{r.model, r.refiner} {
		for _, code := range []string{r.cfg.Source, r.cfg.Target} {
			if m != nil && !corpus.Lists(m.Languages, code) {
				r.Log.Warn("the encoder was not trained on the language; look at the pairs before they are used, or name another encoder",
					"language", code, "encoder", m.Name, "languages", strings.Join(m.Languages, " "))
			}
		}
	}
}
