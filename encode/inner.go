package encode

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"

	"bitextmine/internal/badinput"
)

// OpenInner starts a model that gives another tensor of its graph in place of its output: float32 [batch, dim], one row
// a sentence, as the graph computes it. The tensor need not be one of the graph's outputs; with external_data it must
// be. No tensor is the manifest's own output, pooled and not normalised.
func OpenInner(model *Model, tensor string, options Options) (*Encoder, error) {
	inner := *model
	inner.Normalise = false
	if tensor != "" {
		inner.Output, inner.Pooling, inner.Dim, inner.inner = tensor, None, 0, true
	}
	sum := sha256.Sum256([]byte(model.Digest + "\n" + tensor))
	inner.Digest = hex.EncodeToString(sum[:])
	return Open(&inner, options)
}

// Vocabulary is the encoder's tokenizer. It ends with the encoder.
func (e *Encoder) Vocabulary() *Vocabulary { return &Vocabulary{e.splitter, e.ids} }

// Frame is what stands before and after the ids of a text's own in a language: special tokens and the language's
// prefix.
func (e *Encoder) Frame(language string) (before, after []int32, err error) {
	prefix, err := e.model.prefix(language)
	if err != nil {
		return nil, nil, err
	}
	before = slices.Concat(e.ids.bos, prefix.Tokens)
	if prefix.Text != "" {
		err = e.splitter.Encode([]string{prefix.Text}, e.model.MaxTokens, func(_ int, ids []int32) {
			for _, id := range ids {
				before = append(before, e.ids.graph[id])
			}
		})
	}
	return before, slices.Clone(e.ids.eos), err
}

// Sequences gives what the graph is given for normalised sentences of one language: their ids with special tokens and
// prefix.
func (e *Encoder) Sequences(ctx context.Context, language string, texts []string) (TokenIDs, error) {
	prefix, err := e.model.prefix(language)
	if err != nil {
		return TokenIDs{}, err
	}
	w := &window{texts: append([]string(nil), texts...)}
	if err := e.tokenizeWindow(ctx, prefix, w); err != nil {
		return TokenIDs{}, err
	}
	var all TokenIDs
	for i := range texts {
		all.IDs = append(all.IDs, w.tokens(i)...)
		all.Ends = append(all.Ends, len(all.IDs))
	}
	return all, nil
}

// EncodeIDs is Encode for sentences that are given as ids of the graph, each with its special tokens.
func (e *Encoder) EncodeIDs(ctx context.Context, sentences [][]int32, dst []float32) error {
	if len(dst) != len(sentences)*e.model.Dim {
		return fmt.Errorf("encode %d sentences: the destination has %d values instead of %d", len(sentences), len(dst), len(sentences)*e.model.Dim)
	}
	w := &window{texts: make([]string, len(sentences))}
	for i, ids := range sentences {
		if i%chunk == 0 {
			w.chunks = append(w.chunks, tokens{})
		}
		t := &w.chunks[i/chunk]
		t.ids = append(t.ids, ids...)
		t.ends = append(t.ends, len(t.ids))
	}
	if err := e.runWindow(ctx, w, &counter{}); err != nil {
		return err
	}
	copy(dst, w.rows)
	return nil
}

// ReadFile reads one of the model's files, by its name in the manifest.
func (m *Model) ReadFile(name string) ([]byte, error) {
	data, err := fs.ReadFile(m.files, name)
	if err != nil {
		return nil, badinput.Errorf("read %s of encoder %s: %w", m.shown(name), m.Name, err)
	}
	return data, nil
}
