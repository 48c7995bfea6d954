package encoder

import (
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"bitextmine/internal/badinput"
	"bitextmine/train/layers"
	"bitextmine/train/weights"
)

// Positions is the kind of position embeddings.
type Positions string

// Learned is a table; Sinusoidal adds sines and cosines to words that are scaled by sqrt(width) (Vaswani et al., 2017,
// 3.5).
const (
	Learned    Positions = "learned"
	Sinusoidal Positions = "sinusoidal"
)

// Pooling makes one vector of a sentence's tokens.
type Pooling string

// CLS is the first token's vector; Pooler is tanh of a dense layer over it, as BERT and LaBSE have it.
const (
	CLS    Pooling = "cls"
	Pooler Pooling = "pooler"
	Mean   Pooling = "mean"
	Max    Pooling = "max"
)

// Settings are the shape of a transformer, and how it is trained.
type Settings struct {
	Layers         int               `yaml:"layers" json:"layers"`
	Heads          int               `yaml:"heads" json:"heads"`
	Width          int               `yaml:"width" json:"width"`
	FFN            int               `yaml:"ffn" json:"ffn"`
	Norm           layers.Norm       `yaml:"norm" json:"norm"`
	Positions      Positions         `yaml:"positions" json:"positions"`
	PositionOffset int               `yaml:"position_offset" json:"position_offset"` // the first token's: RoBERTa's is 2
	TokenTypes     int               `yaml:"token_types" json:"token_types"`         // rows of BERT's table; 0: no table
	Dropout        float64           `yaml:"dropout" json:"dropout"`                 // share of dropped values, as in BERT
	KeepAttention  bool              `yaml:"keep_attention,omitempty" json:"-"`      // shares of attention are not dropped
	MaxTokens      int               `yaml:"-" json:"max_tokens"`                    // bitext.max_tokens, or as published
	Activation     layers.Activation `yaml:"activation" json:"activation"`
	Epsilon        float64           `yaml:"epsilon" json:"epsilon"` // layer normalisation's
	Pooling        Pooling           `yaml:"pooling" json:"pooling"`
	Vocabulary     int               `yaml:"-" json:"vocabulary"` // the tokenizer's, or as published
	Precision      layers.Precision  `yaml:"precision" json:"precision"`

	// Projection is the number of values of a vector after a last dense layer; 0: no such layer.
	Projection int `yaml:"projection,omitempty" json:"projection,omitempty"`
	// LoRA has adapters learn, and the projection, and nothing else. They are merged with the weights on export.
	LoRA layers.LoRA `yaml:"lora,omitempty" json:"lora,omitzero"`
}

// maxLayers keeps a damaged configuration from filling the memory with names of tensors.
const maxLayers = 1000

// DefaultSettings are a small encoder that two cores train: BERT's choices but for its size and pooling.
func DefaultSettings() Settings {
	return Settings{Layers: 4, Heads: 4, Width: 256, FFN: 1024, Norm: layers.PostNorm, Positions: Learned, Dropout: 0.1,
		MaxTokens:  128,
		Activation: layers.GELU, Epsilon: 1e-12, Pooling: Mean, Precision: layers.Float32}
}

// Dim is the number of values of a sentence vector.
func (s Settings) Dim() int {
	if s.Projection > 0 {
		return s.Projection
	}
	return s.Width
}

// shape is the shape of the layers.
func (s Settings) shape() layers.Shape {
	return layers.Shape{Heads: s.Heads, Width: s.Width, FFN: s.FFN, Norm: s.Norm, Activation: s.Activation,
		Epsilon: s.Epsilon, Precision: s.Precision, LoRA: s.LoRA, KeepAttention: s.KeepAttention}
}

// Validate reports everything that is wrong in one error of class badinput.
func (s Settings) Validate() error {
	var wrong badinput.Problems
	check := wrong.Unless
	check(s.Layers >= 1 && s.Layers <= maxLayers, "layers is %d but must be from 1 to %d", s.Layers, maxLayers)
	s.shape().Check(check)
	layers.OneOf(check, "positions", s.Positions, Learned, Sinusoidal)
	layers.OneOf(check, "pooling", s.Pooling, CLS, Pooler, Mean, Max)
	check(s.Projection >= 0, "projection is %d but cannot be negative", s.Projection)
	check(s.PositionOffset >= 0, "position_offset is %d but cannot be negative", s.PositionOffset)
	check(s.PositionOffset == 0 || s.Positions == Learned, "position_offset is for learned positions")
	check(s.TokenTypes >= 0, "token_types is %d but cannot be negative", s.TokenTypes)
	check(s.Dropout >= 0 && s.Dropout < 1, "dropout is %v but must be from 0 to less than 1", s.Dropout)
	check(s.MaxTokens >= 1, "max_tokens is %d but must be at least 1", s.MaxTokens)
	check(s.Vocabulary >= 1, "vocabulary is %d but must be at least 1", s.Vocabulary)
	return wrong.Err("the transformer's settings: ")
}

// The names of the tables, whose rows are looked up on the host, and of the other parts of a transformer.
const (
	Words     = "embeddings.words"
	positions = "embeddings.positions"
	types     = "embeddings.types"

	embeddingNorm = "embeddings.norm"
	finalNorm     = "final.norm"
	pooler        = "pooler"
	projection    = "projection"
	stackName     = "layers"
)

// wordDeviation is the standard deviation of new words: BERT's, but beside sinusoidal positions words are multiplied by
// sqrt(width), and drawn as much smaller.
func (s Settings) wordDeviation() float64 {
	if s.Positions == Sinusoidal {
		return 1 / s.wordScale()
	}
	return 0.02
}

// Specs are the weights, in the order of the layers.
func (s Settings) Specs() []weights.Spec {
	specs := []weights.Spec{layers.TableSpec(Words, s.Vocabulary, s.Width, s.wordDeviation())}
	if s.Positions == Learned {
		specs = append(specs, layers.TableSpec(positions, s.PositionOffset+s.MaxTokens, s.Width, 0.02))
	}
	if s.TokenTypes > 0 {
		specs = append(specs, layers.TableSpec(types, s.TokenTypes, s.Width, 0.02))
	}
	if s.Norm == layers.PostNorm {
		specs = append(specs, layers.NormSpecs(embeddingNorm, s.Width)...)
	}
	for i := range s.Layers {
		specs = append(specs, s.shape().Specs(layers.Name(stackName, i))...)
	}
	if s.Norm == layers.PreNorm {
		specs = append(specs, layers.NormSpecs(finalNorm, s.Width)...)
	}
	if s.Pooling == Pooler {
		specs = append(specs, layers.DenseSpecs(pooler, s.Width, s.Width)...)
	}
	return append(specs, s.AddedSpecs()...)
}

// AddedSpecs are the weights that published encoders lack, the last of Specs: the projection and the adapters.
func (s Settings) AddedSpecs() (specs []weights.Spec) {
	if s.Projection > 0 {
		specs = layers.DenseSpecs(projection, s.Width, s.Projection)
	}
	for i := range s.Layers {
		specs = append(specs, s.shape().AdapterSpecs(layers.Name(stackName, i))...)
	}
	return specs
}

// Freeze marks the weights that do not learn: those of a preset's encoder.freeze, and with adapters all others.
func (s Settings) Freeze(f FrozenSettings, all []*weights.Tensor) {
	f.Mark(all)
	for _, w := range all {
		if s.LoRA.Rank > 0 {
			w.Frozen = !strings.Contains(w.Name, ".lora.") && !strings.HasPrefix(w.Name, projection+".")
		}
	}
}

// Merged are the weights with the adapters' products added to the matrices they belong to, and without adapters.
func (s Settings) Merged(all []*weights.Tensor) []*weights.Tensor {
	byName := map[string]*weights.Tensor{}
	for _, w := range all {
		byName[w.Name] = w
	}
	var out []*weights.Tensor
	for _, w := range all {
		layer := layers.Adapted(w.Name)
		if in := byName[layer+layers.AdapterIn]; in != nil {
			whole := *w
			whole.Data = slices.Clone(w.Data)
			product(whole.Data, in.Data, byName[layer+layers.AdapterOut].Data, w.Shape[0], s.LoRA.Rank, w.Shape[1], float32(s.LoRA.Scale()))
			w = &whole
		}
		if !strings.Contains(w.Name, ".lora.") {
			out = append(out, w)
		}
	}
	return out
}

// product adds scale·a·b to c, for a [rows, inner] and b [inner, columns].
func product(c, a, b []float32, rows, inner, columns int, scale float32) {
	blas32.Gemm(blas.NoTrans, blas.NoTrans, scale, blas32.General{Rows: rows, Cols: inner, Stride: inner, Data: a},
		blas32.General{Rows: inner, Cols: columns, Stride: columns, Data: b}, 1,
		blas32.General{Rows: rows, Cols: columns, Stride: columns, Data: c})
}
