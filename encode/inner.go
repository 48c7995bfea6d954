package encode

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
)

// OpenInner starts a model that gives another tensor of its graph in place of its output: float32 [batch, dim], one row
// a sentence, as the graph computes it. The tensor need not be one of the graph's outputs; with external_data it must
// be. No tensor is the manifest's own output, pooled, and neither normalised
// nor centred.
func OpenInner(m *model.Model, tensor string, options Options) (*Encoder, error) {
	inner := *m
	inner.Normalise, inner.Centre = false, model.Centre{}
	if tensor != "" {
		inner.Output, inner.Pooling, inner.Dim = tensor, model.None, 0
	}
	sum := sha256.Sum256([]byte(m.Digest + "\n" + tensor))
	inner.Digest = hex.EncodeToString(sum[:])
	return start(&inner, options, tensor != "")
}

// Sequences gives what the graph is given for normalised sentences of one language: their ids with special tokens and
// prefix.
func (e *Encoder) Sequences(ctx context.Context, language string, texts []string) (tokenizer.Sequences, error) {
	prefix, err := e.graph.model.Prefix(language)
	if err != nil {
		return tokenizer.Sequences{}, err
	}
	w := &window{texts: slices.Clone(texts)}
	if err := w.tokenize(ctx, e.graph, e.vocabulary, prefix); err != nil {
		return tokenizer.Sequences{}, err
	}
	var all tokenizer.Sequences
	for i := range texts {
		all.Add(w.tokens(i))
	}
	return all, nil
}

// EncodeIDs is Encode for sentences of no language that are given as ids of the graph, each with its special tokens.
func (e *Encoder) EncodeIDs(ctx context.Context, sentences [][]int32, dst []float32) error {
	if dim := e.Dim(); len(dst) != len(sentences)*dim {
		return fmt.Errorf("encode %d sentences: the destination has %d values instead of %d", len(sentences), len(dst),
			len(sentences)*dim)
	}
	w := &window{texts: make([]string, len(sentences)), centre: e.graph.centres.of("")}
	for i, ids := range sentences {
		if i%chunk == 0 {
			w.chunks = append(w.chunks, tokenizer.Sequences{})
		}
		w.chunks[i/chunk].Add(ids)
	}
	if err := e.graph.encode(ctx, w, &counter{}); err != nil {
		return err
	}
	copy(dst, w.rows)
	return nil
}
