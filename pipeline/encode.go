package pipeline

import (
	"context"
	"errors"
	"iter"
	"path/filepath"

	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
)

const embeddingName = "embedding.npy"

// encode writes one shard's embedding file, whose rows are as many as the shard's.
func (w *worker) encode(ctx context.Context, t *plan.Task, dir string, meter progress.Meter) (_ any, err error) {
	side := w.plan.Sides[t.Side]
	shard := &side.Shards[t.Shards[0]]
	if err := w.checkModel(); err != nil {
		return nil, err
	}
	path, err := w.shardPath(ctx, shard)
	if err != nil {
		return nil, err
	}
	encoder, err := w.encoder()
	if err != nil {
		return nil, err
	}
	reader, err := corpus.OpenShard(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	source := encode.Source{Name: shard.Name, Digest: shard.SHA256, Language: side.Language, Rows: shard.Rows, Texts: normalised(reader.Rows())}
	shown := 0
	_, err = encoder.EncodeFile(ctx, filepath.Join(dir, embeddingName), embedding.DType(w.plan.Settings.DType), source, func(rows int) {
		meter.Add(int64(rows - shown))
		shown = rows
	})
	return nil, err
}

// normalised yields what a sentence's identity is hashed from: equal keys have equal vectors, whatever their original text.
func normalised(rows iter.Seq2[corpus.Row, error]) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for row, err := range rows {
			if !yield(corpus.Normalise(row.Text), err) {
				return
			}
		}
	}
}
