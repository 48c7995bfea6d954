package encode

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"

	"bitextmine/encode/embedding"
	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// Source is the sentences of one shard.
type Source struct {
	Name     string // the shard's file, for messages
	Digest   string // digest of the shard
	Language string
	Rows     int                      // the number of sentences that Texts must yield
	Texts    iter.Seq2[string, error] // normalised, in row order
}

// EncodeFile writes the embedding file of a shard; row i is the vector of sentence i. Its memory does not grow with the
// shard. If the encoder's token vectors are static, it also writes a token file beside it. progress may be nil; it is
// called by one goroutine at a time with the growing number of encoded sentences. If Texts yields another number of
// sentences than Rows, or a vector is refused, nothing is written.
func (e *Encoder) EncodeFile(ctx context.Context, path string, dtype embedding.DType, source Source,
	progress func(rows int)) (meta embedding.Meta, err error) {
	meta = embedding.Meta{Encoder: e.Digest(), Shard: source.Digest, Dim: e.Dim(), DType: dtype}
	var log *TokenLog
	if e.graph.model.Tokens.Static {
		log = NewTokenLog(filepath.Dir(path))
		defer func() { err = errors.Join(err, log.Close()) }()
	}
	meta, err = embedding.Write(path, meta, func(w *embedding.Writer) error {
		n, err := e.stream(ctx, source.Language, source.Texts, w.Append, progress, log)
		if err != nil {
			return err
		}
		if n != source.Rows || w.Rows() != source.Rows {
			return badinput.Errorf(
				"the shard is recorded with %d sentences, but %d were read and %d encoded: make the shard again",
				source.Rows, n, w.Rows())
		}
		return nil
	})
	if err == nil && log != nil {
		err = log.Write(path)
	}
	if err != nil {
		return meta, fmt.Errorf("encode %s: %w", source.Name, err)
	}
	return meta, nil
}

// OpenInner starts a model that gives another tensor of its graph in place of its output: float32 [batch, dim], one row
// a sentence, as the graph computes it. The tensor need not be one of the graph's outputs. No tensor is the manifest's
// own output, pooled, and neither normalised nor centred.
func OpenInner(m *model.Model, tensor string, options Options) (*Encoder, error) {
	inner := *m
	inner.Normalise, inner.Centre = false, model.Centre{}
	if tensor != "" {
		inner.Output, inner.Pooling, inner.Dim = tensor, model.None, 0
	}
	inner.Digest = atomicfile.DigestOf([]byte(m.Digest + "\n" + tensor))
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
