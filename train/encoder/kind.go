package encoder

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/gomlx/compute"

	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/badinput"
	"bitextmine/train/export"
	"bitextmine/train/layers"
	"bitextmine/train/weights"
)

// Config is the encoder section of a training's preset.
type Config struct {
	Kind        string           `yaml:"kind"` // the name of a Kind
	Bag         BagSettings      `yaml:"bag"`
	Static      StaticSettings   `yaml:"static,omitempty"`
	Imported    ImportedSettings `yaml:"imported"`
	Transformer Settings         `yaml:"transformer"`
	// a checkpoint of a training, or a directory with published weights; a transformer gets its shape from either. A
	// static or imported encoder starts from an encoder, and has its tokenizer
	Start string `yaml:"start"`
	// the objective's own weights go on from the checkpoint start, too
	StartHeads bool           `yaml:"start_heads,omitempty"`
	Freeze     FrozenSettings `yaml:"freeze,omitempty"` // the part of a transformer that keeps the values of start
}

// Defaults are the default settings of the section.
func Defaults() Config {
	return Config{Kind: "bag", Bag: BagSettings{Dim: 256, Deviation: 0.05}, Transformer: DefaultSettings(),
		Imported: ImportedSettings{Precision: layers.Float32}}
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

// ImportedSettings are the settings of an imported encoder in training. Its shape is that of its start.
type ImportedSettings struct {
	Precision layers.Precision `yaml:"precision"`
	// LoRA has adapters of the tokens' dense layers learn, and nothing else. They are merged with the weights on export.
	LoRA layers.LoRA `yaml:"lora,omitempty"`
}

// Validate reports everything that is wrong.
func (s ImportedSettings) Validate() error {
	var wrong badinput.Problems
	layers.OneOf(wrong.Unless, "precision", s.Precision, layers.Float32, layers.BFloat16)
	s.LoRA.Check(wrong.Unless)
	return wrong.Err("encoder.imported: ")
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
	// Judges: its export can be a judge's.
	Judges bool
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
	check(k.Freezes || !p.Freeze.Any(), "encoder.freeze is for encoder.kind transformer and imported: remove it")
	check(p.Start != "" || !p.StartHeads, "encoder.start_heads needs encoder.start, a checkpoint whose heads go on: name it")
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

func init() {
	Register(Kind{
		Name: "bag",
		Validate: func(p Preset, check Check) []func() error {
			check(!p.Shared || p.Bag.NGrams.Max == 0,
				"objective.shared_embedding needs a single embedding table: remove encoder.bag.ngrams")
			return []func() error{p.Bag.Validate}
		},
		Dim: func(p Preset) (int, error) { return p.Bag.Dim, nil },
		New: startBag,
	})
}

// startBag makes the preset's bag, with new weights or those of a checkpoint.
func startBag(p Preset, v *tokenizer.Vocabulary, _ compute.Backend) (Encoder, error) {
	pieces := v.Pieces()
	if pieces == nil {
		pieces = make([]string, v.Rows())
		if p.Bag.NGrams.Max > 0 {
			return nil, badinput.Errorf("encoder.bag.ngrams needs a SentencePiece vocabulary, and tokenizer.kind is %s",
				p.Tokenizer.Kind)
		}
	}
	bag, err := NewBag(p.Bag, pieces, p.Seed)
	if err != nil || p.Start == "" {
		return bag, err
	}
	path := p.checkpointFile()
	if found, err := p.hasCheckpoint(); err != nil {
		return nil, err
	} else if !found {
		return nil, badinput.Errorf("encoder.start: %s is missing: name a checkpoint of a training, OUT/checkpoints/step-N", path)
	}
	stored, was, err := p.readCheckpoint()
	if err != nil {
		return nil, err
	}
	if ngrams := bag.Architecture().NGrams; was.NGrams != ngrams {
		return nil, badinput.Errorf("%s has n-grams of %d to %d characters, but encoder.bag.ngrams are of %d to %d: write the same",
			path, was.NGrams[0], was.NGrams[1], ngrams[0], ngrams[1])
	}
	var specs []weights.Spec
	for _, w := range bag.Weights() {
		specs = append(specs, weights.Spec{Name: w.Name, Shape: w.Shape, NoDecay: w.NoDecay})
	}
	tensors, err := weights.Arrange(specs, stored)
	if err != nil {
		return nil, badinput.Errorf("%s: %w", path, err)
	}
	for i, w := range bag.Weights() {
		copy(w.Data, tensors[i].Data)
	}
	return bag, nil
}

// Longest is 0.
func (b *Bag) Longest() int { return 0 }

// Architecture has the lengths of the n-grams.
func (b *Bag) Architecture() (a Architecture) {
	if n := b.settings.NGrams; n.Max > 0 {
		a.NGrams = [2]int{n.Min, n.Max}
	}
	return a
}

// Describe says that a token's vector depends on the token alone.
func (b *Bag) Describe(m *model.Manifest) { m.Tokens.Static = true }

// Export rounds the table to bytes: each row [dim] has a scale. The mean has the direction of the sum, so the graph
// only divides by the norm. The token vectors are inner tensors, which a manifest may name.
func (b *Bag) Export(name string) (*export.Graph, Encoder, error) {
	numbers, scales := b.Rounded()
	rows, dim := len(scales), b.Dim()
	g := export.NewGraph(name)
	g.Input(export.IDs, export.Int64, "batch", "tokens")
	g.Input(export.Mask, export.Int64, "batch", "tokens")
	g.Initializer("table", []int{rows, dim}, numbers)
	g.Initializer("scales", []int{rows, 1}, scales)
	g.Initializer("axis_tokens", []int{1}, []int64{1})
	g.Initializer("axis_dim", []int{1}, []int64{2})
	g.Node("Gather", []string{"table", export.IDs}, []string{"bytes"}, attr("axis", 0))
	g.Node("Cast", []string{"bytes"}, []string{"numbers"}, attr("to", int(export.Float32)))
	g.Node("Gather", []string{"scales", export.IDs}, []string{"scale"}, attr("axis", 0))
	g.Node("Mul", []string{"numbers", "scale"}, []string{export.Tokens})
	g.Node("Cast", []string{export.Mask}, []string{"present"}, attr("to", int(export.Float32)))
	g.Node("Unsqueeze", []string{"present", "axis_dim"}, []string{"presence"})
	g.Node("Mul", []string{export.Tokens, "presence"}, []string{"kept"})
	g.Node("ReduceSum", []string{"kept", "axis_tokens"}, []string{"sum"}, attr("keepdims", 0))
	g.Node("LpNormalization", []string{"sum"}, []string{export.Vectors}, attr("axis", 1), attr("p", 2))
	g.Output(export.Vectors, export.Float32, "batch", dim)
	return g, ofTable(numbers, scales), nil
}

// NGrams are the settings of the character n-grams that a piece's vector is made of.
type NGrams struct {
	Min       int     `yaml:"min"` // shortest n-gram of alphabetic pieces, in characters
	Max       int     `yaml:"max"` // longest n-gram; 0 means no n-grams
	Deviation float64 `yaml:"deviation"`
}

func (n NGrams) validate() error {
	if n.Max == 0 {
		return nil
	}
	if n.Min < 1 || n.Max < n.Min || !(n.Deviation >= 0) {
		return badinput.Errorf("encoder: ngrams from %d to %d characters with deviation %g: give 1 <= min <= max and no negative deviation", n.Min, n.Max, n.Deviation)
	}
	return nil
}

// wordStart is SentencePiece's character for the space before a piece.
const wordStart = '▁'

// of lists the n-grams that at least two pieces have. One that only one piece has adds nothing to that piece's own
// vector.
func (n NGrams) of(pieces []string) parts {
	lists := make([][]string, len(pieces))
	owners := map[string]int{}
	for i, piece := range pieces {
		lists[i] = n.split(piece)
		once := map[string]bool{}
		for _, g := range lists[i] {
			if !once[g] {
				once[g] = true
				owners[g]++
			}
		}
	}
	numbers := map[string]int32{}
	var p parts
	for _, list := range lists {
		for _, g := range list {
			if owners[g] < 2 {
				continue
			}
			if _, ok := numbers[g]; !ok {
				numbers[g] = int32(len(numbers))
			}
			p.members = append(p.members, numbers[g])
		}
		p.ends = append(p.ends, len(p.members))
	}
	p.distinct = len(numbers)
	return p
}

// split lists a piece's n-grams: for letters those of Min to Max characters, where the word start counts as a
// letter; for Han, kana and hangul, whose characters carry more meaning, single characters and pairs. Pieces with one
// n-gram, and those that are not letters, have none.
func (n NGrams) split(piece string) []string {
	word, starts := strings.CutPrefix(piece, string(wordStart))
	runes := []rune(word)
	shortest, longest := n.Min, n.Max
	for _, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			return nil
		}
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			shortest, longest, starts = 1, 2, false
		}
	}
	if len(runes) <= shortest {
		return nil
	}
	if starts {
		runes = append([]rune{wordStart}, runes...)
	}
	var all []string
	for size := shortest; size <= longest; size++ {
		for i := 0; i+size <= len(runes); i++ {
			all = append(all, string(runes[i:i+size]))
		}
	}
	return all
}

// parts are the n-grams of each piece by number.
type parts struct {
	groups
	distinct int
}

// weight is the weight of each n-gram of a piece. With it their sum has the length of one n-gram, because new vectors
// are almost orthogonal.
func (p parts) weight(piece int) float32 {
	return float32(1 / math.Sqrt(float64(len(p.of(piece)))))
}
