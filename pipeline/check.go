package pipeline

import (
	"log/slog"
	"strings"

	"bitextmine/corpus"
	"bitextmine/encode/model"
	"bitextmine/index/backend"
	"bitextmine/index/exact"
	"bitextmine/index/faiss"
	"bitextmine/index/xla"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/setting"
)

// checkSearch refuses a search that could not run. remote: other machines search.
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

// checkLanguages warns of a language that an encoder was not trained on: it encodes any
// text, but the pairs mean little.
func checkLanguages(log *slog.Logger, m *model.Model, languages setting.Languages) {
	for _, code := range []string{languages.Source, languages.Target} {
		if !corpus.Lists(m.Languages, code) {
			log.Warn("the encoder was not trained on the language; look at the pairs before they are used, "+
				"or name another encoder", "language", code, "encoder", m.Name, "languages", strings.Join(m.Languages, " "))
		}
	}
}
