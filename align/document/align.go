// Package document reads documents, aligns their sentences (package bead) by an encoder's vectors, and makes bitext of
// the beads.
package document

import (
	"context"
	"fmt"
	"strings"

	"bitextmine/align/bead"
	"bitextmine/corpus/surface"
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

// side is a document as it is aligned. Encoders get texts as they get sentences of global mining (surface.Calm), and a
// text that repeats once.
func (d *Document) side(e Encoder) bead.Side {
	encode := func(ctx context.Context, texts []string, dst []float32) error {
		var once []string
		at := make(map[string]int, len(texts))
		places := make([]int, len(texts))
		for i, text := range texts {
			calm, _ := surface.Calm(text, d.Language)
			place, ok := at[calm]
			if !ok {
				place = len(once)
				once, at[calm] = append(once, calm), place
			}
			places[i] = place
		}
		if len(once) == len(texts) {
			return e.Encode(ctx, d.Language, once, dst)
		}
		dim := e.Dim()
		vectors := make([]float32, len(once)*dim)
		if err := e.Encode(ctx, d.Language, once, vectors); err != nil {
			return err
		}
		for i, place := range places {
			copy(dst[i*dim:][:dim], vectors[place*dim:])
		}
		return nil
	}
	return bead.Side{Sentences: d.Sentences, Dim: e.Dim(), Encode: encode}
}

// text joins a span's sentences with spaces between them, also in languages that use none.
func (d *Document) text(s bead.Span) string {
	return strings.Join(d.Sentences[s.First:s.End()], " ")
}

// Counts sum up alignments.
type Counts struct {
	Documents, OneToOne, Other, Deleted, Inserted, Crossings int
}

// Add counts a pair of documents.
func (c *Counts) Add(a *Aligned) {
	c.Documents++
	c.Crossings += len(a.Crossings)
	for _, b := range a.Beads {
		switch {
		case b.Target.Count == 0:
			c.Deleted += b.Source.Count
		case b.Source.Count == 0:
			c.Inserted += b.Target.Count
		case b.Source.Count == 1 && b.Target.Count == 1:
			c.OneToOne++
		default:
			c.Other++
		}
	}
}

// String is a line for people.
func (c Counts) String() string {
	return fmt.Sprintf(
		"%d pairs of documents: %d beads 1:1, %d others; without a counterpart %d source and %d target sentences; %d crossing passages",
		c.Documents, c.OneToOne, c.Other, c.Deleted, c.Inserted, c.Crossings)
}

// CrossingHeader names the columns of ListCrossings.
const CrossingHeader = "src_doc\ttgt_doc\tsrc_line\ttgt_line\tsentences\tscore\n"

// ListCrossings adds a line of TSV for each passage that stands elsewhere in the other document.
func (a *Aligned) ListCrossings(to *strings.Builder) {
	for _, x := range a.Crossings {
		fmt.Fprintf(to, "%s\t%s\t%d\t%d\t%d\t%.4f\n", Escape(a.Source.Name), Escape(a.Target.Name), a.Source.Lines[x.Source.First],
			a.Target.Lines[x.Target.First], x.Source.Count, x.Score)
	}
}
