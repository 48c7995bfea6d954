package encoder

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gomlx/compute"

	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/badinput"
	"bitextmine/train/weights"
)

// Config is the encoder section of a training's preset.
type Config struct {
	Kind        string         `yaml:"kind"` // the name of a Kind
	Bag         BagSettings    `yaml:"bag"`
	Static      StaticSettings `yaml:"static,omitempty"`
	Transformer Settings       `yaml:"transformer"`
	// a checkpoint of a training, or a directory with published weights; a transformer gets its shape from either. A
	// static encoder starts from an encoder, and has its tokenizer
	Start  string         `yaml:"start"`
	Freeze FrozenSettings `yaml:"freeze,omitempty"` // the part of a transformer that keeps the values of start
}

// Defaults are the default settings of the section.
func Defaults() Config {
	return Config{Kind: "bag", Bag: BagSettings{Dim: 256, Deviation: 0.05}, Transformer: DefaultSettings()}
}

// StaticSettings are the settings of a static encoder. The rest is its start's.
type StaticSettings struct {
	// bits of a number of the table when it is exported, 4 or 8; 0: as many as the start's. Training sees the table
	// rounded to them.
	Bits int `yaml:"bits"`
}

// Validate reports the first problem.
func (s StaticSettings) Validate() error {
	if s.Bits != 0 && s.Bits != 4 && s.Bits != 8 {
		return badinput.Errorf("encoder.static: bits is %d: it must be 4, 8, or 0 for those of encoder.start", s.Bits)
	}
	return nil
}

// Preset is the part of a training's preset that its encoder depends on.
type Preset struct {
	Config
	Tokenizer  model.Tokenizer
	MaxTokens  int    // length of the longest sentence: bitext.max_tokens
	Seed       uint64 // seed of new weights
	Shared     bool   // the objective shares the table of words (objective.Needs.Table)
	Vocabulary string // path of the tokenizer's file in the directory of the training
}

// Check records a problem unless ok is true. The message names the setting, the problem and the remedy.
type Check func(ok bool, format string, args ...any)

// Kind describes a kind of encoder that trains. It is registered once, and everything else asks it. Functions may be
// nil where a comment says so.
type Kind struct {
	Name string
	// Graph: a step can be one graph from tokens to gradients, so that a loss may see tokens.
	Graph bool
	// Freezes: some of the weights may be frozen (encoder.freeze).
	Freezes bool
	// BFloat16: whether a preset asks the device for products in bfloat16. Nil: none does.
	BFloat16 func(c Config) bool
	// Validate checks the kind's own settings, and those of other sections that they depend on. It returns the checks
	// of sections.
	Validate func(p Preset, check Check) (sections []func() error)
	// CheckStart refuses an encoder.start that does not fit, before anything is read. Nil: New does.
	CheckStart func(p Preset) error
	// Dim is the number of values of the vectors that New's encoder will give. It reads no more of files than their
	// shape.
	Dim func(p Preset) (int, error)
	// New makes the encoder with new weights, or with those of Start.
	New func(p Preset, v *tokenizer.Vocabulary, backend compute.Backend) (Encoder, error)
	// Tokenizer gives the tokenizer of Start, without its file, and its prefixes; CopyVocabulary writes the file. Both
	// are nil for a kind whose preset has a tokenizer of its own.
	Tokenizer      func(start string) (model.Tokenizer, map[string]model.Prefix, error)
	CopyVocabulary func(path, start string) error
}

var kinds = map[string]Kind{}

// Register makes a kind known to presets. It is called once for each, when its package is initialised.
func Register(k Kind) {
	if _, twice := kinds[k.Name]; twice || k.Name == "" || k.Validate == nil || k.Dim == nil || k.New == nil {
		panic(fmt.Sprintf("encoder: the kind %q is not complete, or registered twice", k.Name))
	}
	kinds[k.Name] = k
}

// Of is the kind of a section; the zero value if there is none of that name, which Preset.Validate reports.
func (c Config) Of() Kind { return kinds[c.Kind] }

// Validate checks the section against the others, and returns the checks of sections.
func (p Preset) Validate(check Check) (sections []func() error) {
	k, known := kinds[p.Kind]
	if known {
		sections = k.Validate(p, check)
	}
	check(known, "encoder.kind is %q: take one of %s", p.Kind, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	check(k.Freezes || !p.Freeze.Any(), "encoder.freeze is for encoder.kind transformer: remove it")
	check(p.Start == "" || p.Tokenizer.File != "" || k.Tokenizer != nil,
		"encoder.start needs tokenizer.file: its weights have a vocabulary of their own")
	return sections
}

// NewTensors allocates and initialises tensors.
func NewTensors(specs []weights.Spec, seed uint64) []*weights.Tensor {
	tensors := make([]*weights.Tensor, len(specs))
	for i, s := range specs {
		tensors[i] = weights.New(s, seed)
	}
	return tensors
}
