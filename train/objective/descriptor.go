package objective

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"bitextmine/internal/badinput"
	"bitextmine/train/data"
	"bitextmine/train/export"
	"bitextmine/train/weights"
)

// Descriptor is an objective that a preset may name.
type Descriptor struct {
	Name     string          // objective.name in a preset
	Settings func() Settings // new settings with their defaults, which are the paper's
}

// Settings are the settings of one objective: a pointer to a flat struct whose fields have yaml tags, the keys of a
// preset's objective section.
type Settings interface {
	// Validate calls check with every problem of a preset.
	Validate(check Check)
	// Needs returns the objective's requirements of a training. Settings need not be valid.
	Needs() Needs
	// Build makes the objective of valid settings, for a training that has what Needs says.
	Build(t Training) (Objective, error)
}

// Check records a problem unless ok is true. The message names the setting, the problem and the remedy.
type Check func(ok bool, format string, args ...any)

// Needs are the requirements of an objective other than the vectors of a batch's two sides.
type Needs struct {
	Tokens    bool   // the token outputs of the encoder, which cached vectors lack
	Teacher   string // an encoder that is not trained: its name, manifest or directory
	SameDim   bool   // the teacher's vectors must have as many numbers as the encoder's
	TokenDim  bool   // the encoder's vectors must have as many numbers as its tokens
	Negatives int    // hard negatives of each pair: the view data.NegativesView of every batch
	Every     int    // steps after which the encoder finds the hard negatives again; 0: never
	// Filter is the share of the own target's cosine above which a candidate is no hard negative; 0: there is no bound.
	Filter float64
	Mask   bool // a piece that stands for a masked token in the vocabulary
	First  bool // a first token of every sentence that is no word: tokenizer.bos
	Last   bool // a last token of every sentence that is no word: tokenizer.eos
	Bare   bool // no prefixes: nothing between the first token and a sentence's own
	Pieces bool // the spellings of the vocabulary's ids: Training.Pieces
	Words  bool // the words of each pair and their links: data.Batch.Words
	Table  bool // the encoder's table of words among the heads
	Pairs  int  // minimum number of pairs of a batch
	// Longest is the minimum of bitext.max_tokens, with special tokens; 0: there is none
	Longest int
}

// Training describes a training to its objective.
type Training struct {
	Dim        int      // numbers of the encoder's vectors
	Width      int      // numbers of the encoder's token vectors, and of the rows of its table of words
	Vocabulary int      // rows of the encoder's table of words
	Longest    int      // tokens of the longest sentence: bitext.max_tokens
	Languages  []string // data.Side.Languages are places in it: data.Set.Languages
	Pieces     []string // spellings of ids: only with Needs.Pieces
	Special    []int32  // ids that are no words: beginning, end, mask
	Mask       int32    // id that stands for a masked token: only with Needs.Mask
	Table      string   // name of the encoder's table of words: only with Needs.Table
	Teacher    Teacher  // only with Needs.Teacher
	Seed       uint64
}

// Judge is an objective whose encoder is published as a judge: it reads both sentences of a pair in one sequence.
type Judge interface {
	Objective
	// Between are the ids between the sentences; the first and the last special token stand around the pair.
	Between() []int32
	// Held says of each row of a batch's view whether nothing is learned from it, and whether it is a true pair.
	Held(b *data.Batch) (held, right []bool)
	// Layers are the layers that make a logit of a pair's vector.
	Layers(heads []*weights.Tensor) []export.Dense
}

// Teacher gives the vectors of an encoder that is not trained.
type Teacher interface {
	Dim() int
	// Encode gives the vectors [n, Dim] of texts [n], each in its language's code. It may block and obeys ctx. The
	// result is the caller's.
	Encode(ctx context.Context, languages, texts []string) ([]float32, error)
}

var descriptors = map[string]Descriptor{}

// Register makes an objective known to presets. It is called once for each, when its package is initialised.
func Register(d Descriptor) {
	if _, twice := descriptors[d.Name]; twice || d.Name == "" || d.Settings == nil {
		panic(fmt.Sprintf("objective: the descriptor %q is not complete, or registered twice", d.Name))
	}
	descriptors[d.Name] = d
}

// RegisterVariant registers an objective whose default settings are its package's, with a change.
func RegisterVariant[S Settings](name string, defaults func() S, change func(S)) {
	Register(Descriptor{Name: name, Settings: func() Settings {
		s := defaults()
		change(s)
		return s
	}})
}

// Names are the registered objectives, in order.
func Names() []string { return slices.Sorted(maps.Keys(descriptors)) }

// Build makes the objective of a valid section for a training. A teacher whose vectors do not fit is a badinput error.
func (s Section) Build(t Training) (Objective, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	needs := s.Needs()
	var missing badinput.Problems
	check := missing.Unless
	check(t.Dim > 0 && t.Width > 0, "its vectors have %d numbers, those of tokens %d", t.Dim, t.Width)
	check(t.Vocabulary > 0 && len(t.Languages) > 0, "it has a vocabulary of %d and %d languages", t.Vocabulary,
		len(t.Languages))
	check(needs.Teacher == "" || t.Teacher != nil, "it has no teacher")
	check(!needs.Table || t.Table != "", "it has no name of the encoder's table")
	ids := t.Special
	if needs.Mask {
		ids = append([]int32{t.Mask}, ids...)
	}
	for _, id := range ids {
		check(id >= 0 && int(id) < t.Vocabulary, "its special token %d is not in the vocabulary of %d", id,
			t.Vocabulary)
	}
	if missing != nil {
		return nil, fmt.Errorf("objective %s is not complete: %s", s.Name, strings.Join(missing, "; "))
	}
	if needs.TokenDim && t.Dim != t.Width {
		return nil, badinput.Errorf("the objective %s needs vectors as wide as tokens, but they have %d values and tokens %d: remove encoder.transformer.projection", s.Name, t.Dim, t.Width)
	}
	if needs.SameDim {
		if err := s.CheckDim(t.Dim, t.Teacher.Dim()); err != nil {
			return nil, err
		}
	}
	return s.Settings.Build(t)
}

// CheckDim is a badinput error unless the teacher's vectors fit the encoder's.
func (s Section) CheckDim(encoder, teacher int) error {
	if !s.Needs().SameDim || encoder == teacher {
		return nil
	}
	return badinput.Errorf("objective.teacher %s has vectors of %d numbers and the encoder has vectors of %d: set encoder.transformer.projection (of a bag: encoder.bag.dim) to %d, or take another teacher",
		s.Needs().Teacher, teacher, encoder, teacher)
}
