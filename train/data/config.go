package data

import (
	"fmt"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/internal/badinput"
)

// Config is the bitext section of a training preset. Every field changes the batches.
type Config struct {
	Sources     []Source `yaml:"sources"`
	Exclude     []string `yaml:"exclude"`     // files of held-out sentences, one a line (any reader's format): no pair with a side among them is kept
	Temperature float64  `yaml:"temperature"` // T: a language pair of n pairs is drawn with p ∝ n^(1/T); 1 is in proportion
	BatchSize   int      `yaml:"batch_size"`  // pairs
	MaxTokens   int      `yaml:"max_tokens"`  // of a side, special tokens included; the text is cut to fit
	Buckets     []int    `yaml:"buckets"`     // the lengths that batches are padded to, ascending; max_tokens is always the last
	Mixed       bool     `yaml:"mixed"`       // a batch holds pairs of several language pairs
	BothWays    bool     `yaml:"both_ways"`   // half of all batches (mixed: of all pairs), drawn by seed, have their sides swapped
	Seed        uint64   `yaml:"seed"`
}

// Source is bitext of one format.
type Source struct {
	Files  []string `yaml:"files"`  // files, directories or globs
	Format Format   `yaml:"format"` // by the names unless written
	Src    string   `yaml:"src"`    // language codes; a bitext file has its own, and rows of others are dropped where these are written
	Tgt    string   `yaml:"tgt"`

	Licence string `yaml:"licence"` // of the text, for the model card

	DropSame bool `yaml:"drop_same"` // drop pairs whose two sides are the same text: lines that were not translated

	Columns []string            `yaml:"columns"` // TSV: the columns' names in order, src and tgt among them; all lines have as many
	Header  bool                `yaml:"header"`  // TSV: the first line is none of the pairs
	Where   map[string][]string `yaml:"where"`   // TSV: only lines whose column holds one of the values

	MinScore *float64 `yaml:"min_score"` // bitext: only rows with this margin or more
	MinProb  *float64 `yaml:"min_prob"`  // bitext: only rows with this probability or more
	Keep     bool     `yaml:"keep"`      // bitext: only rows that the run kept; true unless written
}

// Format is how pairs stand in a file.
type Format string

// The formats. All but Parquet may be compressed.
const (
	Auto    Format = "auto"    // by the name: .parquet, .tmx, anything else is TSV
	Parquet Format = "parquet" // what mine run writes
	TSV     Format = "tsv"     // one pair a line, without quoting
	TMX     Format = "tmx"
)

var formats = []Format{Auto, Parquet, TSV, TMX}

// DefaultConfig is that of a preset that sets nothing.
func DefaultConfig() Config {
	return Config{
		Temperature: 1,
		BatchSize:   512,
		MaxTokens:   128, // of the text that is mined, few sentences are longer
		// Close enough that short batches, the most, waste little; few enough that each is compiled once and soon.
		Buckets: []int{8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512},
		Mixed:   true,
	}
}

// DefaultSource is a source that sets nothing: src<TAB>tgt.
func DefaultSource() Source {
	return Source{Format: Auto, Columns: []string{sourceColumn, targetColumn}, Keep: true}
}

// UnmarshalYAML starts from DefaultSource.
func (s *Source) UnmarshalYAML(unmarshal func(any) error) error {
	type plain Source
	*s = DefaultSource()
	return unmarshal((*plain)(s))
}

const sourceColumn, targetColumn = "src", "tgt"

// complaints gathers problems, each of which says what to do.
type complaints []string

func (c *complaints) unless(ok bool, format string, args ...any) {
	if !ok {
		*c = append(*c, fmt.Sprintf(format, args...))
	}
}

// Validate reports every problem together, as one badinput error.
func (c Config) Validate() error {
	var wrong complaints
	wrong.unless(len(c.Sources) > 0, "bitext.sources is empty: name at least one")
	for i, s := range c.Sources {
		s.validate(&wrong, fmt.Sprintf("bitext.sources[%d]", i))
	}
	wrong.unless(c.Temperature >= 1 && c.Temperature <= 100, "bitext.temperature is %v but must be from 1 (in proportion) to 100 (nearly uniform)", c.Temperature)
	wrong.unless(c.BatchSize > 0 && c.BatchSize <= 1<<20, "bitext.batch_size is %d but must be a positive number of pairs", c.BatchSize)
	wrong.unless(c.MaxTokens > 0 && c.MaxTokens <= 1<<16, "bitext.max_tokens is %d but must be a positive number of tokens", c.MaxTokens)
	last := 0
	for _, b := range c.Buckets {
		wrong.unless(b > last, "bitext.buckets must be positive and ascending: %d stands after %d", b, last)
		last = b
	}
	if wrong != nil {
		return badinput.Errorf("%s", strings.Join(wrong, "; "))
	}
	return nil
}

func (s Source) validate(wrong *complaints, at string) {
	wrong.unless(len(s.Files) > 0, "%s.files is empty: name the files", at)
	wrong.unless(slices.Contains(formats, s.Format), "%s.format is %q but must be auto, parquet, tsv or tmx", at, s.Format)
	for name, code := range map[string]*string{"src": &s.Src, "tgt": &s.Tgt} {
		if *code == "" {
			continue
		}
		parsed, err := corpus.ParseLanguage(*code)
		if wrong.unless(err == nil, "%s.%s: %v", at, name, err); err == nil {
			*code = parsed
		}
	}
	wrong.unless(s.Src == "" || s.Src != s.Tgt, "%s: src and tgt are the same language %s", at, s.Src)
	wrong.unless((s.Src == "") == (s.Tgt == ""), "%s: write both src and tgt", at)
	for _, name := range []string{sourceColumn, targetColumn} {
		n := 0
		for _, c := range s.Columns {
			if c == name {
				n++
			}
		}
		wrong.unless(n == 1, "%s.columns has %d columns %s but must have one", at, n, name)
	}
	for name, values := range s.Where {
		wrong.unless(slices.Contains(s.Columns, name), "%s.where names the column %q, which is not among columns", at, name)
		wrong.unless(len(values) > 0, "%s.where.%s is empty: name the values", at, name)
	}
	rows := s.MinScore != nil || s.MinProb != nil || !s.Keep
	wrong.unless(!rows || s.Format == Auto || s.Format == Parquet, "%s: min_score, min_prob and keep are for Parquet bitext", at)
}

// lengths are the buckets of at most max_tokens, which is the last.
func (c Config) lengths() []int {
	var out []int
	for _, b := range c.Buckets {
		if b < c.MaxTokens {
			out = append(out, b)
		}
	}
	return append(out, c.MaxTokens)
}
