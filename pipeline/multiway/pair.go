package multiway

import (
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/config"
)

// Asked says whether the settings are of a run over many pairs.
func Asked(cfg *config.Config) bool { return cfg.Langs != "" || cfg.LangPairs != "" || cfg.Pivot != "" }

// Pair is a pair of languages, by their codes.
type Pair struct{ Source, Target string }

// String is the pair's name, of its directory and in settings.
func (p Pair) String() string { return p.Source + "-" + p.Target }

// Pairs are the pairs of a run: those that lang_pairs lists, each language of langs with the pivot as target, or every
// two of langs in their order.
func Pairs(cfg *config.Config) ([]Pair, error) {
	switch {
	case cfg.LangPairs != "" && (cfg.Langs != "" || cfg.Pivot != ""):
		return nil, badinput.Errorf("lang_pairs = %s says all that langs and pivot say; leave those out", cfg.LangPairs)
	case cfg.LangPairs != "":
		return listed(cfg.LangPairs)
	}
	langs, err := codes("langs", cfg.Langs)
	if err != nil {
		return nil, err
	}
	if cfg.Pivot == "" {
		return everyTwo(langs)
	}
	pivot, err := corpus.ParseLanguage(cfg.Pivot)
	if err != nil {
		return nil, badinput.Errorf("pivot: %w", err)
	}
	var pairs []Pair
	for _, l := range langs {
		if l != pivot {
			pairs = append(pairs, Pair{l, pivot})
		}
	}
	if len(pairs) == 0 {
		return nil, badinput.Errorf("langs = %q names no language beside the pivot %s; name two at least", cfg.Langs, pivot)
	}
	return pairs, nil
}

func everyTwo(langs []string) (pairs []Pair, err error) {
	if len(langs) < 2 {
		return nil, badinput.Errorf("langs = %s names one language; name two at least, with commas between them", strings.Join(langs, ","))
	}
	for i, source := range langs {
		for _, target := range langs[i+1:] {
			pairs = append(pairs, Pair{source, target})
		}
	}
	return pairs, nil
}

func listed(names string) (pairs []Pair, err error) {
	for _, name := range fields(names) {
		p, ok := parsePair(name)
		switch {
		case !ok:
			return nil, badinput.Errorf("lang_pairs: %q is no pair of language codes; write it like de-en", name)
		case p.Source == p.Target:
			return nil, badinput.Errorf("lang_pairs: %s has one language on both sides", name)
		case slices.Contains(pairs, p), slices.Contains(pairs, Pair{p.Target, p.Source}):
			return nil, badinput.Errorf("lang_pairs: %s stands twice, perhaps the other way round", name)
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// parsePair divides a name at the hyphen that leaves two codes: a code may have one itself, as zh-Hant has.
func parsePair(name string) (Pair, bool) {
	for i, r := range name {
		if r != '-' {
			continue
		}
		source, noSource := corpus.ParseLanguage(name[:i])
		target, noTarget := corpus.ParseLanguage(name[i+1:])
		if noSource == nil && noTarget == nil {
			return Pair{source, target}, true
		}
	}
	return Pair{}, false
}

// codes are the languages of a list, each once.
func codes(setting, list string) (found []string, err error) {
	for _, name := range fields(list) {
		code, err := corpus.ParseLanguage(name)
		if err != nil {
			return nil, badinput.Errorf("%s: %w", setting, err)
		}
		if slices.Contains(found, code) {
			return nil, badinput.Errorf("%s: %s stands twice", setting, name)
		}
		found = append(found, code)
	}
	return found, nil
}

func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// Configs are the settings of each pair's own run.
func Configs(cfg config.Config, pairs []Pair) ([]config.Config, error) {
	if err := check(&cfg); err != nil {
		return nil, err
	}
	corpora, err := texts(&cfg)
	if err != nil {
		return nil, err
	}
	if strings.Contains(cfg.DocMeta, "=") {
		return nil, badinput.Errorf("doc_meta = %s: a run over many pairs has no sides; give a column one name in all languages", cfg.DocMeta)
	}
	if cfg.Work == "" {
		cfg.Work = filepath.Join(cfg.Out, "work")
	}
	configs := make([]config.Config, len(pairs))
	for i, p := range pairs {
		one := cfg
		one.Langs, one.Pivot, one.LangPairs, one.LanguageText, one.Corpora = "", "", "", nil, corpora
		one.Source, one.Target = p.Source, p.Target
		one.Out = filepath.Join(cfg.Out, p.String())
		if cfg.Metrics != "" {
			kind := filepath.Ext(cfg.Metrics) // the collector reads only .prom
			one.Metrics = strings.TrimSuffix(cfg.Metrics, kind) + "." + p.String() + kind
		}
		if err := one.Validate(); err != nil {
			return nil, badinput.Errorf("%s: %w", p, err)
		}
		if _, _, err := one.Inputs(); err != nil {
			return nil, badinput.Errorf("%s: %w", p, err)
		}
		configs[i] = one
	}
	return configs, nil
}

// check refuses settings that are of one pair.
func check(cfg *config.Config) error {
	for _, s := range []struct {
		name string
		set  bool
	}{
		{"src", cfg.Source != ""}, {"tgt", cfg.Target != ""}, {"src_text", len(cfg.SourceText) > 0}, {"tgt_text", len(cfg.TargetText) > 0},
		{"src_format, src_text_column and the like", cfg.Sides != config.Config{}.Sides}, {"gold", cfg.Gold != ""}, {"doc_pairs", cfg.DocPairs != ""},
	} {
		if s.set {
			return badinput.Errorf("%s: a run over many pairs has no sides; name text with --text LANGUAGE=FILES or under `corpora`, in one format", s.name)
		}
	}
	return nil
}

// texts are the files by language: those of text, else those of corpora.
func texts(cfg *config.Config) (map[string][]string, error) {
	all := map[string][]string{}
	for _, text := range cfg.LanguageText {
		name, files, ok := strings.Cut(text, "=")
		code, err := corpus.ParseLanguage(name)
		if !ok || files == "" || err != nil {
			return nil, badinput.Errorf("text: %q is not of the form LANGUAGE=FILES, such as de=news.de.gz", text)
		}
		all[code] = append(all[code], files)
	}
	for code, files := range cfg.Corpora {
		if all[code] == nil {
			all[code] = files
		}
	}
	return all, nil
}
