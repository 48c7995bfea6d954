// This file refuses, before anything is computed, what a run could not do or what would mean nothing.

package pipeline

import (
	"bytes"
	"context"
	"io/fs"
	"log/slog"
	"slices"
	"strings"

	"bitextmine/configs"
	"bitextmine/corpus"
	"bitextmine/encode/model"
	"bitextmine/index/backend"
	"bitextmine/index/exact"
	"bitextmine/index/faiss"
	"bitextmine/index/xla"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/view"
)

// Neighbours refuses a language that has fewer sentences than the lists have places. A shard may: its lists are
// merged with others'.
func checkNeighbours(ctx context.Context, files *view.Files, k int, languages []plan.Language) error {
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
func checkIndex(search string, languages []plan.Language) error {
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

// Search refuses a search that could not run. remote: other machines search.
func checkSearch(cfg *config.Config, dim int, remote bool) error {
	names := cfg.Approximate()
	switch {
	case cfg.Search != backend.Auto:
		names = []string{cfg.Search}
	case len(names) == 0:
		names = []string{exact.Name}
	}
	for _, name := range names {
		if remote && (strings.HasPrefix(name, faiss.PrefixGPU) || strings.HasPrefix(name, xla.Prefix)) {
			continue // the machines that search have the GPUs
		}
		if err := backend.Check(name, dim, cfg.SearchOptions()); err != nil {
			return err
		}
	}
	return nil
}

// checkLanguages warns of a language that an encoder was not trained on, and names encoders that were. Pairs of such a
// language are kept for precision alone.
func checkLanguages(log *slog.Logger, m *model.Model, languages setting.Languages) {
	for _, code := range []string{languages.Source, languages.Target} {
		if !corpus.Lists(m.Languages, code) {
			log.Warn("the encoder was not trained on the language, so few pairs are kept; name another encoder with --encoder",
				"language", code, "encoder", m.Name, "languages", strings.Join(m.Languages, " "), "know it", strings.Join(encodersOf(languages), " "))
		}
	}
}

// encodersOf are the encoders in configs/models that were trained on both languages.
func encodersOf(languages setting.Languages) (names []string) {
	files, err := fs.Glob(configs.Models, "models/*/"+model.FileName)
	if err != nil {
		return nil // the pattern is fixed
	}
	for _, file := range files {
		raw, err := fs.ReadFile(configs.Models, file)
		if err != nil {
			continue
		}
		m, err := model.Decode(bytes.NewReader(raw), "configs/"+file)
		if err == nil && corpus.Lists(m.Languages, languages.Source) && corpus.Lists(m.Languages, languages.Target) {
			names = append(names, m.Name)
		}
	}
	return names
}
