package pipeline

import (
	"context"
	"errors"
	"iter"
	"path/filepath"

	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/store"
)

const (
	encodeVersion = 1
	embeddingName = "embedding.npy"
)

// embeddingFile is a published embedding file.
type embeddingFile struct {
	key  string // of the task that made it
	path string
}

// encodeSpec is what an embedding file depends on.
type encodeSpec struct {
	Shard    string // digest
	Encoder  string // digest
	Language string // chooses the encoder's prefix
	DType    string
}

// encodeSides makes the embedding file of every shard. The encoder is opened only if one is missing.
func (r *run) encodeSides(ctx context.Context, sides ...*side) (err error) {
	var total int
	for _, s := range sides {
		total += s.rows()
	}
	stage := r.start("encode", int64(total), "sentences")
	var encoder *encode.Encoder
	defer func() {
		if encoder != nil {
			err = errors.Join(err, encoder.Close())
		}
	}()
	for _, s := range sides {
		for i := range s.shards {
			one := &s.shards[i]
			spec := encodeSpec{one.digest, r.model.Digest, s.language, r.cfg.DType}
			key := store.Key("encode", encodeVersion, spec)
			out, err := r.store.Do(store.Task{Stage: "encode", Key: key}, func(dir string) (any, error) {
				if encoder == nil {
					var err error
					if encoder, err = encode.Open(r.model, encode.Options{Threads: r.cfg.Threads, Library: r.cfg.ONNXRuntime}); err != nil {
						return nil, err
					}
					r.report.Versions["onnxruntime"] = encode.RuntimeVersion()
				}
				return spec, r.encodeShard(ctx, encoder, s.language, one, filepath.Join(dir, embeddingName), stage.meter)
			})
			if err != nil {
				return err
			}
			stage.task(out.Cached)
			if !out.Cached {
				stage.items += int64(one.rows)
			}
			one.embedding = embeddingFile{key: key, path: out.Path(embeddingName)}
		}
	}
	stage.done(r.report)
	return nil
}

// encodeShard writes one shard's embedding file, whose rows are as many as the shard's.
func (r *run) encodeShard(ctx context.Context, encoder *encode.Encoder, language string, s *shard, path string, meter progress.Meter) error {
	reader, err := corpus.OpenShard(s.path)
	if err != nil {
		return err
	}
	source := encode.Source{Name: s.name, Digest: s.digest, Language: language, Rows: s.rows, Texts: normalised(reader.Rows())}
	shown := 0
	_, err = encoder.EncodeFile(ctx, path, embedding.DType(r.cfg.DType), source, func(rows int) {
		meter.Add(int64(rows - shown))
		shown = rows
	})
	return errors.Join(err, reader.Close())
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
