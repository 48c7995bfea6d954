package score

import (
	"context"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
)

// Tokenizer computes token vectors. *encode.TokenEncoder implements it.
type Tokenizer interface {
	Dim() int
	Static() bool
	IDs(ctx context.Context, language string, texts []string) (tokenizer.Sequences, error)
	Vectors(ctx context.Context, ids []int32) ([]float32, error)
	Contextual(ctx context.Context, language string, texts []string, emit func(i int, ids []int32, vectors []float32) error) error
}

// OpenTokens opens a model's token-level output. It returns nil if the manifest names none.
func OpenTokens(model *model.Model, options encode.Options) (Tokenizer, func() error, error) {
	if model.Tokens.Output == "" {
		return nil, func() error { return nil }, nil
	}
	tokens, err := encode.OpenTokens(model, options)
	if err != nil {
		return nil, nil, err
	}
	return tokens, tokens.Close, nil
}
