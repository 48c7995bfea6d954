package view

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"bitextmine/corpus"
	"bitextmine/encode/embedding"
)

// Numbers returns the numbers of a side's sentences, given by their texts; -1 is a sentence that the run's text lacks.
func (p *Pair) Numbers(ctx context.Context, side int, texts []string) ([]int32, error) {
	keys := make([]corpus.Key, len(texts))
	found := make(map[corpus.Key]int32, len(texts))
	for i, text := range texts {
		keys[i] = corpus.KeyOf(corpus.Normalise(text))
		found[keys[i]] = -1
	}
	shards := p.Language(side).Shards
	for shard := range shards {
		rows, err := p.Keys(ctx, &shards[shard])
		if err != nil {
			return nil, err
		}
		for row, key := range rows {
			if _, ok := found[key]; ok {
				found[key] = p.Sentences[side].Rows[shard][row]
			}
		}
	}
	out := make([]int32, len(texts))
	for i, key := range keys {
		out[i] = found[key]
	}
	return out, nil
}

// OpenedVectors are the embedding files of a pair, each opened when a sentence in it is asked for.
type OpenedVectors struct {
	pair  *Pair
	files [2]map[int32]*embedding.File // by shard
	rows  [2][]float32                 // [dim] of the last pair
}

// OpenVectors opens the pair's embedding files as they are needed.
func (p *Pair) OpenVectors() *OpenedVectors {
	dim := p.Plan.Settings.Dim
	return &OpenedVectors{
		pair:  p,
		files: [2]map[int32]*embedding.File{{}, {}},
		rows:  [2][]float32{make([]float32, dim), make([]float32, dim)},
	}
}

// Cosine returns the cosine of two sentences, given by their numbers, as a search computes it.
func (v *OpenedVectors) Cosine(ctx context.Context, source, target int32) (float32, error) {
	for side, number := range [2]int32{source, target} {
		first := v.pair.Sentences[side].First[number]
		file := v.files[side][first.Shard]
		if file == nil {
			var err error
			if file, err = v.pair.Vectors(ctx, &v.pair.Language(side).Shards[first.Shard]); err != nil {
				return 0, err
			}
			v.files[side][first.Shard] = file
		}
		if file.Dim != len(v.rows[side]) {
			return 0, errors.New("a side has vectors of another length than the plan says; give mine run again")
		}
		file.Float32(v.rows[side], int(first.Row), int(first.Row)+1)
	}
	return embedding.Dot(v.rows[0], v.rows[1]), nil
}

// Close closes the files.
func (v *OpenedVectors) Close() (err error) {
	for _, files := range v.files {
		for _, file := range files {
			err = errors.Join(err, file.Close())
		}
	}
	return err
}

// step is how many texts a goroutine takes at once.
const step = 4096

// Parallel calls do with every number below n, until the context ends.
func Parallel(ctx context.Context, threads, n int, do func(i int)) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, threads))
	for begin := 0; begin < n; begin += step {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			for i := begin; i < min(begin+step, n); i++ {
				do(i)
			}
			return nil
		})
	}
	return group.Wait()
}
