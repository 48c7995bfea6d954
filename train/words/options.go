package words

import (
	"slices"
	"strconv"
	"strings"

	"bitextmine/align/word"
	"bitextmine/internal/badinput"
)

// VocabularyOptions is the vocabulary section of a training preset. Every field changes the model.
type VocabularyOptions struct {
	Size         int     `yaml:"size"` // number of pieces, including special ones
	Kind         string  `yaml:"kind"` // unigram or bpe
	Coverage     float64 `yaml:"character_coverage"`
	ByteFallback bool    `yaml:"byte_fallback"` // unknown characters become bytes, which takes 256 more pieces
	// one of the library's: nmt_nfkc, nmt_nfkc_cf (also folds case), nfkc, nfkc_cf, identity
	Normaliser string `yaml:"normaliser"`
	// lower-case before the normaliser, as encode does if the manifest says so
	Lowercase bool     `yaml:"lowercase"`
	Symbols   []string `yaml:"symbols"` // pieces at which text is always split
	// pieces that cannot occur in text, such as <2de>; only their ids are used
	Control    []string `yaml:"control"`
	SampleSize int      `yaml:"sample_size"` // number of sentences to train on, drawn by Seed; 0 means all
	Seed       uint64   `yaml:"seed"`
	Threads    int      `yaml:"threads"`
}

// DefaultVocabularyOptions returns the default settings.
func DefaultVocabularyOptions() VocabularyOptions {
	return VocabularyOptions{
		Size:     32000, // the size of the default encoder
		Kind:     "unigram",
		Coverage: 0.9995, // recommended by spm_train for scripts with many characters
		// The normaliser of published multilingual encoders. It keeps case; Lowercase can remove it as encode does.
		Normaliser: "nmt_nfkc",
		SampleSize: 2_000_000, // limits memory; more sentences hardly change the pieces
		// Not the number of cores: the library adds the float sums of its threads, so their number changes the scores.
		Threads: 8,
	}
}

// The special pieces are first in every vocabulary, with these ids.
const (
	Unknown = 0 // <unk>
	BOS     = 1 // <s>
	EOS     = 2 // </s>
)

var (
	kinds       = []string{"unigram", "bpe"}
	normalisers = []string{"nmt_nfkc", "nmt_nfkc_cf", "nfkc", "nfkc_cf", "identity"}
)

// Validate reports all problems of the options in one badinput error.
func (o VocabularyOptions) Validate() error {
	var wrong badinput.Problems
	check := wrong.Unless
	check(o.Size > 0 && o.Size < 1<<24, "vocabulary.size must be a positive number of pieces")
	check(slices.Contains(kinds, o.Kind), "vocabulary.kind must be unigram or bpe, not %q", o.Kind)
	check(o.Coverage > 0.9 && o.Coverage <= 1, "vocabulary.character_coverage must be above 0.9 and at most 1")
	check(slices.Contains(normalisers, o.Normaliser),
		"vocabulary.normaliser must be one of %s", strings.Join(normalisers, ", "))
	check(o.SampleSize >= 0, "vocabulary.sample_size must not be negative (0 takes every sentence)")
	check(o.Threads > 0 && o.Threads <= 128, "vocabulary.threads must be from 1 to 128")
	seen := map[string]bool{"<unk>": true, "<s>": true, "</s>": true}
	for _, s := range slices.Concat(o.Symbols, o.Control) {
		check(s != "" && !strings.ContainsAny(s, ",\"\x00▁") && strings.Join(strings.Fields(s), "") == s,
			"vocabulary symbol %q must be without spaces, commas, quotes and ▁", s)
		check(!seen[s], "vocabulary symbol %q is there already", s)
		seen[s] = true
	}
	return wrong.Err("")
}

// settings returns the library's names and values, alternately.
func (o VocabularyOptions) settings() []string {
	s := []string{
		"vocab_size", strconv.Itoa(o.Size),
		"model_type", o.Kind,
		"character_coverage", strconv.FormatFloat(o.Coverage, 'f', -1, 64),
		"byte_fallback", strconv.FormatBool(o.ByteFallback),
		"normalization_rule_name", o.Normaliser,
		"num_threads", strconv.Itoa(o.Threads),
		"unk_id", strconv.Itoa(Unknown), "bos_id", strconv.Itoa(BOS), "eos_id", strconv.Itoa(EOS), "pad_id", "-1",
		"shuffle_input_sentence", "false", // it would use a generator that cannot be seeded
		"minloglevel", "2",
	}
	if len(o.Symbols) > 0 {
		s = append(s, "user_defined_symbols", strings.Join(o.Symbols, ","))
	}
	if len(o.Control) > 0 {
		s = append(s, "control_symbols", strings.Join(o.Control, ","))
	}
	return s
}

// Config are the settings of word alignment.
type Config struct {
	Split    word.Splitter `yaml:"split"`     // definition of words: text, or spaces if they are separated by spaces
	Symmetry word.Symmetry `yaml:"symmetry"`  // the way to combine both directions
	MinScore float64       `yaml:"min_score"` // links with a lower score are left out
}

// Defaults are the default settings. The minimum score is WACSE's.
func Defaults() Config {
	d := word.DefaultFileAligner()
	return Config{Split: d.Splitter, Symmetry: d.Symmetry, MinScore: 0.9}
}

// UnmarshalYAML sets the defaults first.
func (c *Config) UnmarshalYAML(unmarshal func(any) error) error {
	type plain Config
	*c = Defaults()
	return unmarshal((*plain)(c))
}

// Validate reports the first setting that is not valid.
func (c Config) Validate() error {
	if _, err := word.ParseSplitter(string(c.Split)); err != nil {
		return err
	}
	if _, err := word.ParseSymmetry(string(c.Symmetry), false); err != nil {
		return err
	}
	if !(c.MinScore >= 0 && c.MinScore <= 1) {
		return badinput.Errorf("min_score is %v but must be from 0 to 1", c.MinScore)
	}
	return nil
}
