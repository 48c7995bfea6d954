package data

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"bitextmine/bitext/exchange"
	"bitextmine/corpus"
	"bitextmine/internal/badinput"
	"bitextmine/train/words"
)

// Config is the bitext section of a training preset. Every field changes the batches.
type Config struct {
	Sources []Source `yaml:"sources"`
	// files of held-out sentences, one per line (in any format that corpus reads): pairs with a side among them are
	// dropped
	Exclude []string `yaml:"exclude"`
	// T: a language pair of n pairs is drawn with p ∝ n^(1/T); with 1 in proportion to n
	Temperature float64 `yaml:"temperature"`
	BatchSize   int     `yaml:"batch_size"` // pairs
	MaxTokens   int     `yaml:"max_tokens"` // maximum length of a side, with special tokens; longer text is truncated
	// lengths that batches are padded to, ascending; max_tokens is always the last
	Buckets []int `yaml:"buckets"`
	// batches are drawn without regard to length, so that in-batch negatives are of all lengths, and padded to the bucket
	// of their longest
	AnyLength bool `yaml:"any_length,omitempty"`
	Mixed     bool `yaml:"mixed"` // a batch may have pairs of several language pairs
	// half of all batches (if mixed: of all pairs), drawn by seed, have their sides swapped
	BothWays bool   `yaml:"both_ways"`
	Seed     uint64 `yaml:"seed"`
	// how words are aligned, for objectives that read them; the defaults if it is nil
	Words *words.Config `yaml:"words,omitempty"`
}

// Source is bitext of one format.
type Source struct {
	Files  []string `yaml:"files"`  // files, directories or globs
	Format Format   `yaml:"format"` // unset: determined by the file names
	// one file for each of files, whose lines are the translations of its lines; empty: files have both sides
	Aligned []string `yaml:"aligned,omitempty"`
	// language codes; a bitext file has its own, and if these are set, rows of other languages are dropped
	Src string `yaml:"src"`
	Tgt string `yaml:"tgt"`

	Licence string `yaml:"licence"` // licence of the text, for the model card

	DropSame bool `yaml:"drop_same"` // drop pairs whose two sides are the same text, which are untranslated lines

	// TSV and CSV: names of the columns in order, including src and tgt; all lines must have them
	Columns []string            `yaml:"columns"`
	Header  bool                `yaml:"header"` // the first line is a header
	Where   map[string][]string `yaml:"where"`  // use only lines whose column has one of the values

	// word alignments in Pharaoh's format, one file for each of files, with a line for each line, row or unit
	Alignments []string `yaml:"alignments,omitempty"`

	// the output directory of a run, whose labels (mine reject, mine accept) are obeyed: rejected pairs are dropped
	Labels   string `yaml:"labels,omitempty"`
	Accepted bool   `yaml:"accepted,omitempty"` // use only pairs that the labels accept

	MinScore *float64 `yaml:"min_score"` // bitext: use only rows with at least this margin
	MinProb  *float64 `yaml:"min_prob"`  // bitext: use only rows with at least this probability
	Keep     bool     `yaml:"keep"`      // bitext: use only rows that the run kept; default true
}

// Format is the format of a file of pairs: one of package exchange, or one of these.
type Format string

// Further formats.
const (
	Auto    Format = "auto"    // chosen by the name: .parquet, or as exchange.FormatOf says
	Parquet Format = "parquet" // the output of mine run
)

var formats = []Format{
	Auto, Parquet, Format(exchange.TSV), Format(exchange.CSV), Format(exchange.TMX), Format(exchange.XLIFF), Format(exchange.JSONL), Format(exchange.PO),
}

// DefaultConfig returns the default settings.
func DefaultConfig() Config {
	return Config{
		Temperature: 1,
		BatchSize:   512,
		MaxTokens:   128, // few sentences are longer
		// Close enough that short batches, which are the most frequent, waste little; few enough that each is soon
		// compiled.
		Buckets: []int{8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512},
		Mixed:   true,
	}
}

// DefaultSource returns the default source: src<TAB>tgt.
func DefaultSource() Source {
	return Source{Format: Auto, Columns: []string{sourceColumn, targetColumn}, Keep: true}
}

// UnmarshalYAML sets the defaults of DefaultSource first.
func (s *Source) UnmarshalYAML(unmarshal func(any) error) error {
	type plain Source
	*s = DefaultSource()
	return unmarshal((*plain)(s))
}

const sourceColumn, targetColumn = "src", "tgt"

// Validate reports all problems in one badinput error.
func (c Config) Validate() error {
	var wrong badinput.Problems
	wrong.Unless(len(c.Sources) > 0, "bitext.sources is empty: name at least one")
	for i, s := range c.Sources {
		s.validate(&wrong, fmt.Sprintf("bitext.sources[%d]", i))
	}
	wrong.Unless(c.Temperature >= 1 && c.Temperature <= 100,
		"bitext.temperature is %v but must be from 1 (in proportion) to 100 (nearly uniform)", c.Temperature)
	wrong.Unless(c.BatchSize > 0 && c.BatchSize <= 1<<20,
		"bitext.batch_size is %d but must be a positive number of pairs", c.BatchSize)
	wrong.Unless(c.MaxTokens > 0 && c.MaxTokens <= 1<<16,
		"bitext.max_tokens is %d but must be a positive number of tokens", c.MaxTokens)
	err := c.words().Validate()
	wrong.Unless(err == nil, "bitext.words: %v", err)
	last := 0
	for _, b := range c.Buckets {
		wrong.Unless(b > last, "bitext.buckets must be positive and ascending: %d stands after %d", b, last)
		last = b
	}
	return wrong.Err("")
}

func (s Source) validate(wrong *badinput.Problems, at string) {
	wrong.Unless(len(s.Files) > 0, "%s.files is empty: name the files", at)
	wrong.Unless(slices.Contains(formats, s.Format), "%s.format is %q but must be one of %s", at, s.Format, formats)
	wrong.Unless(len(s.Aligned) == 0 || s.Format == Auto, "%s has aligned and format %s: leave one out, as aligned files are lines of text", at, s.Format)
	for _, language := range []struct {
		name string
		code *string
	}{{"src", &s.Src}, {"tgt", &s.Tgt}} {
		if *language.code == "" {
			continue
		}
		parsed, err := corpus.ParseLanguage(*language.code)
		if wrong.Unless(err == nil, "%s.%s: %v", at, language.name, err); err == nil {
			*language.code = parsed
		}
	}
	wrong.Unless(s.Src == "" || s.Src != s.Tgt, "%s: src and tgt are the same language %s", at, s.Src)
	wrong.Unless((s.Src == "") == (s.Tgt == ""), "%s: write both src and tgt", at)
	for _, name := range []string{sourceColumn, targetColumn} {
		n := 0
		for _, c := range s.Columns {
			if c == name {
				n++
			}
		}
		wrong.Unless(n == 1, "%s.columns has %d columns %s but must have one", at, n, name)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Where)) {
		wrong.Unless(slices.Contains(s.Columns, name), "%s.where names the column %q, which is not among columns", at,
			name)
		wrong.Unless(len(s.Where[name]) > 0, "%s.where.%s is empty: name the values", at, name)
	}
	wrong.Unless(!s.Accepted || s.Labels != "",
		"%s.accepted needs labels, the output directory of the run that has them", at)
	isNumber := func(least *float64) bool { return least == nil || !math.IsNaN(*least) }
	wrong.Unless(isNumber(s.MinScore), "%s.min_score is not a number: correct it", at)
	wrong.Unless(isNumber(s.MinProb), "%s.min_prob is not a number: correct it", at)
	wrong.Unless(!s.chooses() || s.Format == Auto || s.Format == Parquet,
		"%s: min_score, min_prob and keep are for Parquet bitext", at)
}

// chooses reports whether the source has settings that choose rows of mined bitext.
func (s *Source) chooses() bool { return s.MinScore != nil || s.MinProb != nil || !s.Keep }

// lengths returns the buckets up to max_tokens, which is the last.
func (c Config) lengths() []int {
	var out []int
	for _, b := range c.Buckets {
		if b < c.MaxTokens {
			out = append(out, b)
		}
	}
	return append(out, c.MaxTokens)
}
