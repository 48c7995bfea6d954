package cut

import (
	"context"
	"slices"

	"bitextmine/corpus"
	"bitextmine/index/backend"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/view"
)

// Neighbours refuses a language that has fewer sentences than the lists have places. A shard may: its lists are
// merged with others'.
func Neighbours(ctx context.Context, files *view.Files, k int, languages []plan.Language) error {
	for _, language := range languages {
		if slices.ContainsFunc(language.Shards, func(s plan.Shard) bool { return s.Rows >= k }) {
			continue
		}
		keys := map[corpus.Key]bool{} // a sentence may stand in several shards
		for i := 0; i < len(language.Shards) && len(keys) < k; i++ {
			found, err := files.Keys(ctx, &language.Shards[i])
			if err != nil {
				return err
			}
			for _, key := range found {
				keys[key] = true
			}
		}
		if len(keys) < k {
			return badinput.Errorf("the %s text has %d different sentences and k = %d neighbours of each are asked for; give more text, or lower --k",
				language.Code, len(keys), k)
		}
	}
	return nil
}

// Index refuses an index with more lists than any shard has rows: no cell would be searched by it.
func Index(search string, languages []plan.Language) error {
	minRows := backend.MinRows(search)
	for _, language := range languages {
		maxRows := 0
		for _, s := range language.Shards {
			maxRows = max(maxRows, s.Rows)
		}
		if maxRows < minRows {
			return badinput.Errorf("search %s has %d lists but no shard of the %s text more than %d sentences to train them on; use fewer lists, or exact",
				search, minRows, language.Code, maxRows)
		}
	}
	return nil
}
