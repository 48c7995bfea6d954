package encode

import (
	"context"
	"fmt"
	"iter"

	"bitextmine/encode/embedding"
	"bitextmine/internal/badinput"
)

// Source is the sentences of one shard.
type Source struct {
	Name     string // for messages: the shard's file
	Digest   string // of the shard
	Language string
	Rows     int                      // how many sentences Texts must yield
	Texts    iter.Seq2[string, error] // normalised, in row order
}

// EncodeFile writes the embedding file of a shard, row i being sentence i's vector, in memory that does not grow with the
// shard; where the encoder's token vectors are static, a token file stands beside it. progress, which may be nil, is called by one goroutine at a time with the growing number of sentences
// encoded. If Texts yields another number of
// sentences than Rows, or any vector is refused, nothing is written.
func (e *Encoder) EncodeFile(ctx context.Context, path string, dtype embedding.DType, source Source, progress func(rows int)) (embedding.Meta, error) {
	meta := embedding.Meta{Encoder: e.Digest(), Shard: source.Digest, Dim: e.Dim(), DType: dtype}
	var log *tokenLog
	if e.model.Tokens.Static {
		log = &tokenLog{}
	}
	meta, err := embedding.Write(path, meta, func(w *embedding.Writer) error {
		n, err := e.stream(ctx, source.Language, source.Texts, w.Append, progress, log)
		if err != nil {
			return err
		}
		if n != source.Rows || w.Rows() != source.Rows {
			return badinput.Errorf("it has %d sentences by its own count, but %d were read and %d encoded: make the shard again", source.Rows, n, w.Rows())
		}
		return nil
	})
	if err == nil && log != nil {
		err = log.write(TokenPath(path))
	}
	if err != nil {
		return meta, fmt.Errorf("encode %s: %w", source.Name, err)
	}
	return meta, nil
}
