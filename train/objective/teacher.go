package objective

import "context"

// Teacher gives the vectors of an encoder that is not trained.
type Teacher interface {
	Dim() int
	// Encode gives the vectors [n, Dim] of texts [n], each in its language's code. It may block and obeys ctx. The result is the caller's.
	Encode(ctx context.Context, languages, texts []string) ([]float32, error)
}
