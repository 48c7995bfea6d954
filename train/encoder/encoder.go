// Package encoder holds the models that training changes. They turn token ids into sentence vectors, and a loss's
// gradients into gradients of their weights. Every kind of encoder is registered as a Kind.
package encoder

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	g "github.com/gomlx/gomlx/core/graph"

	"bitextmine/encode/model"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/train/checkpoint"
	"bitextmine/train/data"
	"bitextmine/train/export"
	"bitextmine/train/layers"
	"bitextmine/train/weights"
)

// Encoder is a model in training. Its methods are for one goroutine at a time; they use as many processors as they
// like, and give the same numbers on any number of them.
type Encoder interface {
	Dim() int
	Longest() int // tokens of a sentence; 0: any number
	// Weights are all learned and frozen tensors, in a fixed order: first the table of words [vocabulary, width].
	Weights() []*weights.Tensor
	// Forward gives the vectors [n, dim] of a side, not normalised. With a seed other than zero it drops what training
	// drops.
	Forward(ctx context.Context, side data.Side, seed uint64) ([]float32, error)
	// Backward adds to the weights' gradients, given the gradients of the vectors [n, dim] that Forward gave with the
	// same seed.
	Backward(ctx context.Context, side data.Side, seed uint64, gradients []float32) error
	// Architecture returns the part of an Architecture that depends on the kind.
	Architecture() Architecture
	// Export returns the graph that is published, and the encoder whose vectors it gives: a table may be rounded.
	Export(name string) (*export.Graph, Encoder, error)
	// Describe changes the graph's manifest where the kind needs other than the inputs export.IDs and export.Mask and
	// the outputs export.Vectors and export.Tokens.
	Describe(m *model.Manifest)
}

var (
	_ Encoder = (*Bag)(nil)
	_ Encoder = (*Transformer)(nil)
)

// Encoded is one view of a batch after the encoder.
type Encoded struct {
	Vectors *g.Node // float32 [n, dim], pooled, not normalised
	Tokens  *g.Node // float32 [n, length, width], the last layer; nil when vectors are cached
	Mask    *g.Node // bool [n, length]; nil when vectors are cached
}

// Build builds the encoder's graph. params are all of Specs but the tables; embedded [n, length, width] is the sum of
// their rows, of the params' float type; lengths [n] int32; dropout is nil in evaluation. The places after a sentence's
// length do not change its vector.
func (s Settings) Build(params map[string]*g.Node, embedded, lengths *g.Node, dropout *layers.Dropout) Encoded {
	n, length := embedded.Shape().Dimensions[0], embedded.Shape().Dimensions[1]
	stack := &layers.Stack{Shape: s.shape(), Params: params, Dropout: dropout, N: n, Length: length}
	mask := layers.Present(lengths, length)
	present := g.ConvertDType(mask, embedded.DType()) // [n, length]
	bias := layers.Padding(present)

	x := g.Reshape(embedded, n*length, s.Width)
	if s.Norm == layers.PostNorm {
		x = stack.Normalise(embeddingNorm, x)
	}
	x = dropout.Apply(x)
	for i := range s.Layers {
		x = stack.Layer(layers.Name(stackName, i), x, bias)
	}
	if s.Norm == layers.PreNorm {
		x = stack.Normalise(finalNorm, x)
	}
	tokens := g.Reshape(x, n, length, s.Width)
	vectors := s.Pool(tokens, present)
	if s.Pooling == Pooler {
		vectors = g.Tanh(stack.Dense(pooler, vectors))
	}
	if s.Projection > 0 {
		vectors = stack.Dense(projection, vectors)
	}
	return Encoded{Vectors: vectors, Tokens: tokens, Mask: mask}
}

// Pool makes vectors [n, width] of tokens [n, length, width]: of a pooler, its input. present [n, length] is 1 or 0.
func (s Settings) Pool(tokens, present *g.Node) *g.Node {
	n, length := present.Shape().Dimensions[0], present.Shape().Dimensions[1]
	switch s.Pooling {
	case CLS, Pooler:
		return layers.Rows(g.Reshape(tokens, n*length, s.Width), 0, n*length, length)
	case Mean:
		share := g.Div(present, g.ReduceAndKeep(present, g.ReduceSum, 1))
		return g.ReduceSum(g.Mul(tokens, g.Reshape(share, n, length, 1)), 1)
	default:
		return g.ReduceMax(g.Add(tokens, g.Reshape(layers.Absent(present), n, length, 1)), 1)
	}
}

// Architecture is the part of an encoder that its weights alone do not determine. Another training starts from weights
// only with the same.
type Architecture struct {
	Kind        string    `json:"kind"`
	Vocabulary  string    `json:"vocabulary"` // SHA-256 of the tokenizer's file
	NGrams      [2]int    `json:"ngrams"`     // a bag's shortest and longest
	Transformer *Settings `json:"transformer,omitempty"`
	Frozen      *Origin   `json:"frozen,omitempty"`
}

// Metadata is the architecture of a preset's encoder, as metadata of its weights.
func Metadata(p Preset, e Encoder) (map[string]string, error) {
	digest, err := vocabularyDigest(p)
	if err != nil {
		return nil, err
	}
	a := e.Architecture()
	a.Kind, a.Vocabulary, a.Frozen = p.Kind, digest, OriginOf(p.Start, e.Weights())
	text, err := json.Marshal(a)
	return map[string]string{checkpoint.Architecture: string(text)}, err
}

func vocabularyDigest(p Preset) (string, error) {
	raw, err := os.ReadFile(p.Vocabulary)
	if err != nil {
		return "", err
	}
	return atomicfile.DigestOf(raw), nil
}

// hasCheckpoint reports whether encoder.start is a checkpoint.
func (c Config) hasCheckpoint() (bool, error) {
	_, err := os.Stat(c.checkpointFile())
	if err == nil || os.IsNotExist(err) {
		return err == nil, nil
	}
	return false, badinput.Errorf("encoder.start: %w", err)
}

func (c Config) checkpointFile() string { return filepath.Join(c.Start, checkpoint.Encoder) }

// readCheckpoint reads all weights of the checkpoint encoder.start, and refuses an encoder of another kind or
// vocabulary than the preset's.
func (p Preset) readCheckpoint() (stored []*weights.Tensor, was Architecture, err error) {
	if err := checkpoint.Verify(p.Start, checkpoint.Encoder); err != nil {
		return nil, was, badinput.Errorf("encoder.start: %w", err)
	}
	stored, metadata, err := ReadFrozen(p.Start)
	if err != nil {
		return nil, was, badinput.Errorf("encoder.start: %w", err)
	}
	path := p.checkpointFile()
	if err := json.Unmarshal([]byte(metadata[checkpoint.Architecture]), &was); err != nil {
		return nil, was, badinput.Errorf("%s does not say what encoder it is of, as checkpoints do: name one that this program wrote", path)
	}
	digest, err := vocabularyDigest(p)
	if err != nil {
		return nil, was, err
	}
	switch {
	case was.Kind != p.Kind:
		return nil, was, badinput.Errorf("%s is of a %s, but encoder.kind is %s: write the same kind", path, was.Kind,
			p.Kind)
	case was.Vocabulary != digest:
		return nil, was, badinput.Errorf("%s was trained with another vocabulary than tokenizer.file, %s: give %s of its own training",
			path, p.Tokenizer.File, filepath.Base(p.Vocabulary))
	}
	return stored, was, nil
}
