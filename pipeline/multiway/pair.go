package multiway

import (
	"bytes"
	"cmp"
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
		readings := parsePair(name)
		if len(readings) == 0 {
			return nil, badinput.Errorf("lang_pairs: %q is no pair of language codes; write it like de-en", name)
		}
		p := readings[0]
		switch {
		case len(readings) > 1:
			return nil, badinput.Errorf("lang_pairs: %s may be %s with %s or %s with %s; write it without regions",
				name, p.Source, p.Target, readings[1].Source, readings[1].Target)
		case p.Source == p.Target:
			return nil, badinput.Errorf("lang_pairs: %s has one language on both sides", name)
		case slices.Contains(pairs, p), slices.Contains(pairs, Pair{p.Target, p.Source}):
			return nil, badinput.Errorf("lang_pairs: %s stands twice, perhaps the other way round", name)
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// parsePair divides a name at every hyphen that leaves two codes: a code may have one itself, as zh-Hant has.
func parsePair(name string) (readings []Pair) {
	for i, r := range name {
		if r != '-' {
			continue
		}
		source, noSource := corpus.ParseLanguage(name[:i])
		target, noTarget := corpus.ParseLanguage(name[i+1:])
		p := Pair{source, target}
		if noSource == nil && noTarget == nil && !slices.Contains(readings, p) {
			readings = append(readings, p)
		}
	}
	return readings
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
	configs, lacking, err := configsOf(cfg, pairs)
	return configs, cmp.Or(err, cmp.Or(lacking...))
}

// configsOf is Configs, with the error of each pair whose text cannot be found.
func configsOf(cfg config.Config, pairs []Pair) (configs []config.Config, lacking []error, err error) {
	if err := check(&cfg); err != nil {
		return nil, nil, err
	}
	corpora, err := texts(&cfg, languages(pairs))
	if err != nil {
		return nil, nil, err
	}
	if cfg.Work == "" {
		cfg.Work = filepath.Join(cfg.Out, "work")
	}
	configs, lacking = make([]config.Config, len(pairs)), make([]error, len(pairs))
	for i, p := range pairs {
		one := Of(cfg, p)
		one.Corpora = corpora
		if err := one.Validate(); err != nil {
			return nil, nil, badinput.Errorf("%s: %w", p, err)
		}
		if _, _, err := one.Inputs(); err != nil {
			lacking[i] = badinput.Errorf("%s: %w", p, err)
		}
		configs[i] = one
	}
	return configs, lacking, nil
}

// Of returns the settings of a pair, but for its text.
func Of(cfg config.Config, p Pair) config.Config {
	cfg.Langs, cfg.Pivot, cfg.LangPairs, cfg.LanguageText = "", "", "", nil
	cfg.Source, cfg.Target, cfg.OneOfMany = p.Source, p.Target, true
	cfg.Out = filepath.Join(cfg.Out, p.String())
	if cfg.Metrics != "" {
		kind := filepath.Ext(cfg.Metrics) // the collector reads only .prom
		cfg.Metrics = strings.TrimSuffix(cfg.Metrics, kind) + "." + p.String() + kind
	}
	return cfg
}

// check refuses settings that are of one pair.
func check(cfg *config.Config) error {
	for _, s := range []struct {
		name string
		set  bool
	}{
		{"src", cfg.Source != ""}, {"tgt", cfg.Target != ""}, {"src_text", len(cfg.SourceText) > 0}, {"tgt_text", len(cfg.TargetText) > 0},
		{"src_format, src_text_column and the like", cfg.Sides != config.Config{}.Sides}, {"gold", cfg.Gold != ""}, {"doc_pairs", cfg.DocPairs != ""},
		{"src_emb and tgt_emb", cfg.HasVectors()},
	} {
		if s.set {
			return badinput.Errorf("%s: a run over many pairs has no sides; name text with --text LANGUAGE=FILES or under `corpora`, in one format", s.name)
		}
	}
	if strings.Contains(cfg.DocMeta, "=") {
		return badinput.Errorf("doc_meta = %s: a run over many pairs has no sides; give a column one name in all languages", cfg.DocMeta)
	}
	return nil
}

// named are the files that --text names, by language, which must be among some.
func named(cfg *config.Config, languages []string) (map[string][]string, error) {
	all := map[string][]string{}
	for _, text := range cfg.LanguageText {
		name, files, ok := strings.Cut(text, "=")
		if !ok || files == "" {
			return nil, badinput.Errorf("text: %q is not of the form LANGUAGE=FILES, such as de=news.de.gz", text)
		}
		code, err := corpus.ParseLanguage(name)
		if err != nil {
			return nil, badinput.Errorf("text: %s: %w", text, err)
		}
		if !slices.Contains(languages, code) {
			slices.Sort(languages)
			return nil, badinput.Errorf("text: %s names text in %s, but the run is of %s", text, code, strings.Join(languages, ", "))
		}
		all[code] = append(all[code], files)
	}
	return all, nil
}

// texts are the files by language: those of text, else those of corpora.
func texts(cfg *config.Config, languages []string) (map[string][]string, error) {
	all, err := named(cfg, languages)
	for code, files := range cfg.Corpora {
		if err == nil && all[code] == nil {
			all[code] = files
		}
	}
	for _, code := range languages {
		if err == nil {
			err = cfg.Outside(all[code])
		}
	}
	return all, err
}

// maxLanguages bounds the languages of a table: a group's are a bit set.
const maxLanguages = 64

// sentence is one of a language, by its key.
type sentence struct {
	language int // place among the table's
	key      [16]byte
}

// link is a kept pair, by places among the sentences.
type link struct {
	a, b  int32
	score float32
}

// Group is sentences that are translations of each other, at most one of a language.
type group struct {
	members []int32 // places among the sentences, in the order of the languages
	links   int     // kept pairs among them; n(n-1)/2 if every pair of them was kept
	score   float32 // lowest score of the links that joined it, its maximum spanning tree; other links may be lower
}

// conflict is a kept pair that would bring two sentences of one language together.
type conflict struct {
	link
	first, second int32 // those sentences
}

// closure joins sentences by their links, best first: what is joined stays, and a link that would bring two sentences
// of one language into a group is a conflict. Equal scores go by languages and keys, so that the order of the links
// does not matter.
func closure(sentences []sentence, links []link) (groups []group, conflicts []conflict) {
	slices.SortFunc(links, func(x, y link) int {
		return cmp.Or(cmp.Compare(y.score, x.score), compare(sentences[x.a], sentences[y.a]), compare(sentences[x.b], sentences[y.b]))
	})
	f := newForest(sentences)
	for _, l := range links {
		a, b := f.root(l.a), f.root(l.b)
		switch shared := f.languages[a] & f.languages[b]; {
		case a == b:
			f.groups[a].links++
		case shared != 0:
			conflicts = append(conflicts, f.conflict(l, a, b, shared))
		default:
			f.join(a, b, l.score)
		}
	}
	for i := range sentences {
		if g := f.groups[i]; f.root(int32(i)) == int32(i) && len(g.members) > 1 {
			slices.SortFunc(g.members, func(x, y int32) int { return cmp.Compare(sentences[x].language, sentences[y].language) })
			groups = append(groups, g)
		}
	}
	slices.SortFunc(groups, func(x, y group) int {
		return cmp.Or(cmp.Compare(len(y.members), len(x.members)), cmp.Compare(y.score, x.score),
			compare(sentences[x.members[0]], sentences[y.members[0]]))
	})
	return groups, conflicts
}

func compare(x, y sentence) int {
	return cmp.Or(cmp.Compare(x.language, y.language), bytes.Compare(x.key[:], y.key[:]))
}

// forest is the groups so far.
type forest struct {
	parents   []int32
	languages []uint64 // bits of the languages in a root's group
	groups    []group  // group of each root
	sentences []sentence
}

func newForest(sentences []sentence) *forest {
	f := &forest{make([]int32, len(sentences)), make([]uint64, len(sentences)), make([]group, len(sentences)), sentences}
	for i := range sentences {
		f.parents[i] = int32(i)
		f.languages[i] = 1 << sentences[i].language
		f.groups[i] = group{members: []int32{int32(i)}}
	}
	return f
}

func (f *forest) root(i int32) int32 {
	for f.parents[i] != i {
		f.parents[i] = f.parents[f.parents[i]]
		i = f.parents[i]
	}
	return i
}

// join puts the smaller of two groups into the larger.
func (f *forest) join(a, b int32, score float32) {
	if len(f.groups[a].members) < len(f.groups[b].members) {
		a, b = b, a
	}
	into, from := &f.groups[a], &f.groups[b]
	into.members = append(into.members, from.members...)
	into.links += from.links + 1
	into.score = score // the links come by falling score
	f.languages[a] |= f.languages[b]
	f.parents[b] = a
	*from = group{}
}

// conflict names the sentences of the first language that two groups share.
func (f *forest) conflict(l link, a, b int32, shared uint64) conflict {
	of := func(root int32) int32 {
		for _, m := range f.groups[root].members {
			if shared&(1<<f.sentences[m].language) != 0 && 1<<f.sentences[m].language == shared&-shared {
				return m
			}
		}
		panic("a group's languages are not those of its sentences")
	}
	return conflict{l, of(a), of(b)}
}
