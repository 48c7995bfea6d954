package objective

import (
	"context"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
)

// Teacher gives the vectors of an encoder that is not trained.
type Teacher interface {
	Dim() int
	// Encode gives the vectors [n, Dim] of texts [n], each in its language's code. It may block and obeys ctx. The result is the caller's.
	Encode(ctx context.Context, languages, texts []string) ([]float32, error)
}

// anchorVectors are the teacher's vectors [n, teacher dim] of each pair's anchor side.
func anchorVectors(ctx context.Context, s Settings, b *data.Batch) ([]*tensors.Tensor, error) {
	languages, texts := codes(s, b.Source), slices.Clone(b.Source.Texts)
	for i, other := range codes(s, b.Target) {
		if before(s.Anchors, other, languages[i]) {
			languages[i], texts[i] = other, b.Target.Texts[i]
		}
	}
	vectors, err := s.Vectors.Encode(ctx, languages, texts)
	if err != nil {
		return nil, err
	}
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(vectors, b.Source.N, s.Vectors.Dim())}, nil
}

// before says whether language a is the higher anchor: first those listed, in their order, then the others by their codes, so that swapped sides have the
// same anchor.
func before(anchors []string, a, b string) bool {
	place := func(code string) int {
		if at := slices.Index(anchors, code); at >= 0 {
			return at
		}
		return len(anchors)
	}
	if x, y := place(a), place(b); x != y {
		return x < y
	}
	return a < b
}

// codes are the languages of a side's sentences.
func codes(s Settings, side data.Side) []string {
	out := make([]string, side.N)
	for i, at := range side.Languages {
		out[i] = s.Languages[at]
	}
	return out
}
