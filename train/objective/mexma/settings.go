package mexma

import (
	"slices"

	"bitextmine/internal/badinput"
	"bitextmine/train/layers"
	"bitextmine/train/objective"
	"bitextmine/train/objective/contrastive"
)

// Alignment is the loss between the vectors of a pair's sides.
type Alignment string

// Clean and Masked are the mean squared error between the vectors of two clean sentences, and of a masked sentence and
// a clean one. Contrastive is a symmetric cross-entropy over the clean vectors' cosines.
const (
	None        Alignment = "none"
	Masked      Alignment = "masked"
	Clean       Alignment = "clean"
	Contrastive Alignment = "contrastive"
)

// Replacement is the choice of the token in place of a masked one.
type Replacement string

// Mask is always the mask token. BERT is the mask token for 80% of the masked tokens, a random word for 10%, and the
// token itself for 10% (Devlin et al., 2019), as in MEXMA's program.
const (
	Mask Replacement = "mask"
	BERT Replacement = "bert"
)

// Context is the part of the prediction's input that is not of the masked sentence.
type Context string

// Translation is the default, also of an empty setting: the vector of the other side's clean sentence, in place of the
// first token. NoContext is plain masked-language modelling: the first token stays the masked sentence's own.
const (
	Translation Context = "translation"
	NoContext   Context = "none"
)

// Settings are the settings of mexma and mexma-contrastive.
type Settings struct {
	Masking        float64     `yaml:"masking"`         // share of a sentence's words that is masked
	Replacement    Replacement `yaml:"replacement"`     // mask or bert
	Symmetric      bool        `yaml:"symmetric"`       // both sides are masked, or one of each pair, by lot
	TokenGradients bool        `yaml:"token_gradients"` // unmask's gradient reaches the tokens, too
	Context        Context     `yaml:"context,omitempty"`
	Alignment      Alignment   `yaml:"alignment"`
	Temperature    float64     `yaml:"temperature"`           // temperature of the contrastive alignment
	AlignWeight    float64     `yaml:"align_weight"`          // α
	UnmaskWeight   float64     `yaml:"unmask_weight"`         // β, of the sum over both sides
	KoLeoWeight    float64     `yaml:"koleo_weight"`          // γ, of the sum over both sides; 0: no such term
	KoLeoBatch     int         `yaml:"koleo_batch,omitempty"` // pairs among which KoLeo's nearest is looked for; 0: all
	HeadLayers     int         `yaml:"head_layers"`           // transformer layers of the unmasking head
	HeadHeads      int         `yaml:"head_heads"`
	HeadFFN        int         `yaml:"head_ffn"`
}

func init() {
	register := func(name string, change func(*Settings)) { objective.RegisterVariant(name, defaults, change) }
	register("mexma", func(*Settings) {})
	register("mexma-contrastive", func(s *Settings) {
		s.Alignment, s.Temperature, s.KoLeoWeight = Contrastive, 0.05,
			0
	})
}

// defaults are the paper's settings; the head's heads and FFN are its program's.
func defaults() *Settings {
	return &Settings{Masking: 0.4, Replacement: Mask, Symmetric: true, TokenGradients: true, Alignment: Clean,
		AlignWeight: 1, UnmaskWeight: 0.5, KoLeoWeight: 0.005, HeadLayers: 6, HeadHeads: 8, HeadFFN: 3072}
}

// Validate reports all problems.
func (s *Settings) Validate(check objective.Check) {
	check(s.Masking > 0 && s.Masking < 1, "objective.masking is %v but must be above 0 and below 1: the paper has 0.4",
		s.Masking)
	check(s.Replacement == Mask || s.Replacement == BERT, "objective.replacement is %q but must be mask or bert",
		s.Replacement)
	check(s.Context == "" || s.Context == Translation || s.Context == NoContext,
		"objective.context is %q but must be translation or none", s.Context)
	check(s.Context != NoContext || s.TokenGradients,
		"objective.token_gradients is false, but with context: none the prediction reaches the encoder through tokens alone: change one")
	known := []Alignment{None, Masked, Clean, Contrastive}
	check(slices.Contains(known, s.Alignment),
		"objective.alignment is %q but must be clean, masked, contrastive or none", s.Alignment)
	check(s.Symmetric || s.Alignment == None || s.Alignment == Masked,
		"objective.alignment is %q, which needs the clean sentences of both sides: set symmetric, or take none or masked", s.Alignment)
	check(s.Symmetric || s.KoLeoWeight == 0,
		"objective.koleo_weight is for the clean sentences of both sides: set symmetric, or koleo_weight to 0")
	check(s.Alignment == None || s.AlignWeight > 0,
		"objective.align_weight is %v but must be above 0: without alignment write alignment: none", s.AlignWeight)
	check(s.UnmaskWeight > 0, "objective.unmask_weight is %v but must be above 0", s.UnmaskWeight)
	check(s.KoLeoBatch == 0 || s.KoLeoBatch > 1 && s.KoLeoWeight > 0,
		"objective.koleo_batch is %d but must be 0 or at least 2, and only with koleo_weight", s.KoLeoBatch)
	check(s.KoLeoWeight >= 0, "objective.koleo_weight is %v but cannot be negative", s.KoLeoWeight)
	if s.Alignment == Contrastive {
		s.ranking().Validate(check)
	} else {
		check(s.Temperature == 0, "objective.temperature is only for the contrastive alignment: remove it")
	}
	check(s.HeadLayers >= 1 && s.HeadLayers <= 100, "objective.head_layers is %d but must be from 1 to 100",
		s.HeadLayers)
	check(s.HeadHeads >= 1, "objective.head_heads is %d but must be above 0", s.HeadHeads)
	check(s.HeadFFN >= 1, "objective.head_ffn is %d but must be above 0", s.HeadFFN)
}

// ranking is the contrastive alignment.
func (s *Settings) ranking() contrastive.Ranking {
	return contrastive.Ranking{Temperature: s.Temperature}
}

// Needs is the tokens, the table of words for the logits, and a mask; for a translation's vector also a first token
// that stands for the sentence and is as wide as a vector. KoLeo needs a neighbour in the batch.
func (s *Settings) Needs() objective.Needs {
	translated := s.Context != NoContext
	needs := objective.Needs{Tokens: true, First: translated, TokenDim: translated, Table: true, Mask: true, Pairs: 1}
	if s.KoLeoWeight > 0 || s.Alignment == Contrastive {
		needs.Pairs = max(2, s.KoLeoBatch)
	}
	return needs
}

// Build returns the objective. A width that the head's heads do not divide is a badinput error.
func (s *Settings) Build(t objective.Training) (objective.Objective, error) {
	if t.Width%s.HeadHeads != 0 {
		return nil, badinput.Errorf("objective.head_heads is %d, but the encoder's width %d is not a multiple of it",
			s.HeadHeads, t.Width)
	}
	return &mexma{Settings: *s, Training: t, words: t.Words()}, nil
}

// shape is the shape of the head's layers: XLM-R's, as in the program.
func (m *mexma) shape() layers.Shape {
	return layers.Shape{Heads: m.HeadHeads, Width: m.Width, FFN: m.HeadFFN, Norm: layers.PostNorm,
		Activation: layers.GELU, Epsilon: 1e-12, Precision: layers.Float32}
}
