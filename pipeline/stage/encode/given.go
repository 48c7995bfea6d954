package encode

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"

	cut "bitextmine/corpus/shard"
	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/internal/badinput"

	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/view"
)

// givenSpec lists all that an embedding file of another program's vectors depends on.
type givenSpec struct {
	Shard   string // digest
	Given   string // digest of the vectors
	Encoder string // digest of the one that is said to have made them
	DType   string
}

// look writes the embedding file of a shard from vectors that another program made.
func look(ctx context.Context, e *stage.Env, a args, dir string, meter progress.Meter) error {
	if e.Plan.Encoder != "" {
		if err := checkMaker(ctx, e, a); err != nil {
			return err
		}
	}
	s, settings := &e.Plan.Languages[a.Language].Shards[a.Shard], e.Plan.Settings
	sum := newDigest()
	meta := embedding.Meta{Encoder: settings.Encoder, Shard: s.SHA256, Dim: settings.Dim, DType: embedding.DType(settings.DType)}
	_, err := embedding.Write(filepath.Join(dir, view.EmbeddingFile), meta, func(w *embedding.Writer) error {
		return eachGivenRow(ctx, e.Files, a.Language, a.Shard, nil, func(row []float32) error {
			sum.Add(row)
			meter.Add(1)
			return w.Append(row)
		})
	})
	if err == nil {
		err = checkUnchanged(e.Plan, a.Language, a.Shard, sum)
	}
	return err
}

const (
	// checkedRows is how many sentences of a shard the encoder encodes that is said to have made the vectors.
	checkedRows = 32
	// minAgreement is the least cosine, in the middle of those sentences, of its vectors with the given ones: numbers of
	// 8 bits cost 0.002, another prefix 0.02, and a few sentences may be normalised otherwise.
	minAgreement = 0.99
)

// checkMaker refuses vectors that the plan's encoder did not make: a scorer would take others for its own.
func checkMaker(ctx context.Context, e *stage.Env, a args) error {
	language := &e.Plan.Languages[a.Language]
	rows := make([]uint32, min(checkedRows, language.Shards[a.Shard].Rows))
	for i := range rows {
		rows[i] = uint32(i * language.Shards[a.Shard].Rows / len(rows))
	}
	most := math.Inf(-1)
	// Another program may have encoded the text as mine encode does, or as it stands.
	for _, of := range []textsOf{func(rows iter.Seq2[cut.Row, error]) iter.Seq2[string, error] { return view.Calm(rows, language.Code) }, view.Normalised} {
		middle, err := agreement(ctx, e, a, rows, of)
		if err != nil || middle >= minAgreement {
			return err
		}
		most = max(most, middle)
	}
	return badinput.Errorf("encoder %s did not make the vectors in %s: of %d sentences the cosine of its own with them is %.3f in the middle; name the encoder that made them, or leave --encoder out",
		e.Plan.Encoder, language.InputOf(a.Shard).Vectors.Path, len(rows), most)
}

// textsOf are the texts of rows as they are encoded.
type textsOf = func(rows iter.Seq2[cut.Row, error]) iter.Seq2[string, error]

// agreement is the cosine, in the middle of rows of a shard, of the encoder's vectors of their texts and those given.
func agreement(ctx context.Context, e *stage.Env, a args, rows []uint32, texts textsOf) (float64, error) {
	own, err := encodeRows(ctx, e, a, rows, texts)
	if err != nil {
		return 0, err
	}
	var cosines []float64
	err = eachGivenRow(ctx, e.Files, a.Language, a.Shard, rows, func(row []float32) error {
		cosine := 0.0
		for d, x := range own[len(cosines)*len(row):][:len(row)] {
			cosine += float64(x) * float64(row[d])
		}
		cosines = append(cosines, cosine)
		return nil
	})
	if err != nil {
		return 0, err
	}
	slices.Sort(cosines)
	return cosines[len(cosines)/2], nil
}

// encodeRows returns the encoder's vectors of the texts of rows of a shard, [rows, dim].
func encodeRows(ctx context.Context, e *stage.Env, a args, rows []uint32, texts textsOf) (vectors []float32, err error) {
	encoder, err := e.Encoder()
	if err != nil {
		return nil, err
	}
	language := &e.Plan.Languages[a.Language]
	s := &language.Shards[a.Shard]
	reader, err := e.OpenShard(ctx, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	scratch, err := os.MkdirTemp("", "mine-given-*")
	if err != nil {
		return nil, fmt.Errorf("check the encoder of the vectors: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	file := filepath.Join(scratch, view.EmbeddingFile)
	source := encode.Source{Name: s.Name, Digest: s.SHA256, Language: language.Code, Rows: len(rows), Texts: texts(reader.RowsAt(rows))}
	if _, err := encoder.EncodeFile(ctx, file, embedding.Float32, source, nil); err != nil {
		return nil, err
	}
	made, err := embedding.Open(file, embedding.Want{})
	if err != nil {
		return nil, err
	}
	vectors = make([]float32, made.N*made.Dim)
	made.Float32(vectors, 0, made.N)
	return vectors, made.Close()
}
