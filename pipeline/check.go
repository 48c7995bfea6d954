package pipeline

import (
	"bytes"
	"io/fs"
	"log/slog"
	"strings"

	"bitextmine/configs"
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
