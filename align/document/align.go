package document

import (
	"context"
	"fmt"
	"strings"

	"bitextmine/align/bead"
)

// Encoder computes vectors of normalised sentences: *encode.Encoder.
type Encoder interface {
	Dim() int
	Encode(ctx context.Context, lang string, texts []string, dst []float32) error
}

// Aligned is a pair of documents and their beads.
type Aligned struct {
	Source, Target *Document
	bead.Alignment
}

// Align aligns the sentences of two documents.
func Align(ctx context.Context, e Encoder, source, target *Document, o bead.Options) (*Aligned, error) {
	found, err := bead.Align(ctx, source.side(e), target.side(e), o)
	if err != nil {
		return nil, fmt.Errorf("align %s with %s: %w", source.Name, target.Name, err)
	}
	return &Aligned{Source: source, Target: target, Alignment: *found}, nil
}

// side is a document as it is aligned. A text that repeats is encoded once.
func (d *Document) side(e Encoder) bead.Side {
	encode := func(ctx context.Context, texts []string, dst []float32) error {
		var once []string
		at := make(map[string]int, len(texts))
		for _, text := range texts {
			if _, ok := at[text]; !ok {
				at[text] = len(once)
				once = append(once, text)
			}
		}
		if len(once) == len(texts) {
			return e.Encode(ctx, d.Language, texts, dst)
		}
		dim := e.Dim()
		vectors := make([]float32, len(once)*dim)
		if err := e.Encode(ctx, d.Language, once, vectors); err != nil {
			return err
		}
		for i, text := range texts {
			copy(dst[i*dim:][:dim], vectors[at[text]*dim:])
		}
		return nil
	}
	return bead.Side{Sentences: d.Sentences, Dim: e.Dim(), Encode: encode}
}

// text joins a span's sentences, with spaces between them if the language uses spaces.
func (d *Document) text(s bead.Span) string {
	return strings.Join(d.Sentences[s.First:s.End()], " ")
}
