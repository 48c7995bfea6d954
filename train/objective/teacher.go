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

// half is one sentence of each pair.
type half struct{ languages, texts []string }

// byAnchor gives the pairs' anchors and their other sides, and for each pair 1 if its anchor is the target, else 0.
func byAnchor(s Settings, b *data.Batch) (anchor, other half, swapped []float32) {
	anchor = half{codes(s, b.Source), slices.Clone(b.Source.Texts)}
	other = half{codes(s, b.Target), slices.Clone(b.Target.Texts)}
	swapped = make([]float32, b.Source.N)
	for i := range swapped {
		if before(s.Anchors, other.languages[i], anchor.languages[i]) {
			anchor.languages[i], other.languages[i] = other.languages[i], anchor.languages[i]
			anchor.texts[i], other.texts[i] = other.texts[i], anchor.texts[i]
			swapped[i] = 1
		}
	}
	return anchor, other, swapped
}

// taught are the teacher's vectors [n, teacher dim] of a half.
func (h half) taught(ctx context.Context, s Settings) (*tensors.Tensor, error) {
	vectors, err := s.Vectors.Encode(ctx, h.languages, h.texts)
	if err != nil {
		return nil, err
	}
	return tensors.FromFlatDataAndDimensions(vectors, len(h.texts), s.Vectors.Dim()), nil
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
