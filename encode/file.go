package encode

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"

	"bitextmine/encode/embedding"

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
