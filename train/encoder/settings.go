package encoder

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"bitextmine/internal/badinput"
	"bitextmine/train/weights"
)

// Norm is where a layer normalises.
type Norm string

// PostNorm normalises the embeddings and every sum with a residual (Vaswani et al., 2017; BERT, XLM-R); PreNorm normalises what goes into attention and
// FFN, and once more after the last layer.
const (
	PostNorm Norm = "post"
	PreNorm  Norm = "pre"
)

// Positions is how a token knows its place.
type Positions string

// Learned is a table; Sinusoidal adds sines and cosines to words that are scaled by sqrt(width) (Vaswani et al., 2017, 3.5).
const (
	Learned    Positions = "learned"
	Sinusoidal Positions = "sinusoidal"
)

// Activation stands between the FFN's two products.
type Activation string

// GELU is x·Φ(x); GELUTanh is its approximation by tanh (Hendrycks and Gimpel, 2016).
const (
	GELU     Activation = "gelu"
	GELUTanh Activation = "gelu_tanh"
	ReLU     Activation = "relu"
)

// Pooling makes one vector of a sentence's tokens.
type Pooling string

// CLS is the first token's vector.
const (
	CLS  Pooling = "cls"
	Mean Pooling = "mean"
	Max  Pooling = "max"
)

// Precision is what the products of a training step are computed in.
type Precision string

// BFloat16 rounds what a product takes and gives, also in the gradients; sums in a product, softmax, normalisation, residuals, the loss, the weights and the
// optimiser stay in float32 (Micikevicius et al., 2018; bfloat16 has float32's range, so the loss needs no scaling). Without a seed, as in evaluation and in
// what is exported, all is float32.
const (
	Float32  Precision = "float32"
	BFloat16 Precision = "bfloat16"
)

// Settings are the shape of a transformer, and how it is trained.
type Settings struct {
	Layers         int        `yaml:"layers" json:"layers"`
	Heads          int        `yaml:"heads" json:"heads"`
	Width          int        `yaml:"width" json:"width"`
	FFN            int        `yaml:"ffn" json:"ffn"`
	Norm           Norm       `yaml:"norm" json:"norm"`
	Positions      Positions  `yaml:"positions" json:"positions"`
	PositionOffset int        `yaml:"position_offset" json:"position_offset"` // the first token's place in the table: 2 in RoBERTa and XLM-R
	TokenTypes     int        `yaml:"token_types" json:"token_types"`         // rows of BERT's table, of which every token gets the first; 0: no table
	Dropout        float64    `yaml:"dropout" json:"dropout"`                 // of the embeddings, of attention's weights and of what each residual gets
	MaxTokens      int        `yaml:"-" json:"max_tokens"`                    // no preset's: bitext.max_tokens, or the published table's
	Activation     Activation `yaml:"activation" json:"activation"`
	Epsilon        float64    `yaml:"epsilon" json:"epsilon"` // of layer normalisation
	Pooling        Pooling    `yaml:"pooling" json:"pooling"`
	Vocabulary     int        `yaml:"-" json:"vocabulary"` // rows of the table of words: the tokenizer's, or the published table's
	Precision      Precision  `yaml:"precision" json:"precision"`
}

// mostLayers keeps a damaged configuration from filling the memory with names of tensors.
const mostLayers = 1000

// Defaults are a small encoder that two cores train: BERT's choices but for its size and pooling.
func Defaults() Settings {
	return Settings{Layers: 4, Heads: 4, Width: 256, FFN: 1024, Norm: PostNorm, Positions: Learned, Dropout: 0.1, MaxTokens: 128,
		Activation: GELU, Epsilon: 1e-12, Pooling: Mean, Precision: Float32}
}

// Validate reports everything that is wrong in one error of class badinput.
func (s Settings) Validate() error {
	var wrong []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	check(s.Layers >= 1 && s.Layers <= mostLayers, "layers is %d but must be from 1 to %d", s.Layers, mostLayers)
	check(s.Heads >= 1 && s.Width >= 1 && s.Width%max(s.Heads, 1) == 0, "width is %d but must be a multiple of heads, %d", s.Width, s.Heads)
	check(s.FFN >= 1, "ffn is %d but must be at least 1", s.FFN)
	oneOf(check, "norm", s.Norm, PostNorm, PreNorm)
	oneOf(check, "positions", s.Positions, Learned, Sinusoidal)
	oneOf(check, "activation", s.Activation, GELU, GELUTanh, ReLU)
	oneOf(check, "pooling", s.Pooling, CLS, Mean, Max)
	oneOf(check, "precision", s.Precision, Float32, BFloat16)
	check(s.PositionOffset >= 0, "position_offset is %d but cannot be negative", s.PositionOffset)
	check(s.PositionOffset == 0 || s.Positions == Learned, "position_offset is for learned positions")
	check(s.TokenTypes >= 0, "token_types is %d but cannot be negative", s.TokenTypes)
	check(s.Dropout >= 0 && s.Dropout < 1, "dropout is %v but must be from 0 to less than 1", s.Dropout)
	check(s.MaxTokens >= 1, "max_tokens is %d but must be at least 1", s.MaxTokens)
	check(s.Epsilon > 0, "epsilon is %v but must be above 0", s.Epsilon)
	check(s.Vocabulary >= 1, "vocabulary is %d but must be at least 1", s.Vocabulary)
	if wrong == nil {
		return nil
	}
	return badinput.Errorf("the transformer's settings: %s", strings.ReplaceAll(errors.Join(wrong...).Error(), "\n", "; "))
}

func oneOf[T ~string](check func(bool, string, ...any), field string, value T, known ...T) {
	check(slices.Contains(known, value), "%s is %q but must be one of %v", field, value, known)
}

// The names of the tables, whose rows are looked up on the host.
const (
	Words     = "embeddings.words"
	positions = "embeddings.positions"
	types     = "embeddings.types"
)

// Specs are the weights, in the order of the layers. A matrix [in, out] multiplies rows from the right. New ones are drawn as BERT's
// (normal, 0.02), but words beside sinusoidal positions with a deviation of 1/sqrt(width), for which they are scaled up again.
func (s Settings) Specs() []weights.Spec {
	words := 0.02
	if s.Positions == Sinusoidal {
		words = 1 / s.wordScale()
	}
	specs := []weights.Spec{table(Words, s.Vocabulary, s.Width, words)}
	if s.Positions == Learned {
		specs = append(specs, table(positions, s.PositionOffset+s.MaxTokens, s.Width, 0.02))
	}
	if s.TokenTypes > 0 {
		specs = append(specs, table(types, s.TokenTypes, s.Width, 0.02))
	}
	if s.Norm == PostNorm {
		specs = append(specs, normed("embeddings.norm", s.Width)...)
	}
	for i := range s.Layers {
		for _, name := range []string{"query", "key", "value", "out"} {
			specs = append(specs, dense(layer(i, "attention."+name), s.Width, s.Width)...)
		}
		specs = append(specs, normed(layer(i, "attention.norm"), s.Width)...)
		specs = append(specs, dense(layer(i, "ffn.in"), s.Width, s.FFN)...)
		specs = append(specs, dense(layer(i, "ffn.out"), s.FFN, s.Width)...)
		specs = append(specs, normed(layer(i, "ffn.norm"), s.Width)...)
	}
	if s.Norm == PreNorm {
		specs = append(specs, normed("final.norm", s.Width)...)
	}
	return specs
}

func layer(i int, name string) string { return fmt.Sprintf("layers.%d.%s", i, name) }

func table(name string, rows, width int, scale float64) weights.Spec {
	return weights.Spec{Name: name, Shape: []int{rows, width}, Init: weights.Normal, Scale: scale}
}

func dense(name string, in, out int) []weights.Spec {
	return []weights.Spec{
		{Name: name + ".weight", Shape: []int{in, out}, Init: weights.Normal, Scale: 0.02},
		{Name: name + ".bias", Shape: []int{out}, Init: weights.Zeros, NoDecay: true},
	}
}

func normed(name string, width int) []weights.Spec {
	return []weights.Spec{
		{Name: name + ".scale", Shape: []int{width}, Init: weights.Ones, NoDecay: true},
		{Name: name + ".bias", Shape: []int{width}, Init: weights.Zeros, NoDecay: true},
	}
}
