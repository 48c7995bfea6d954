package pipeline

import (
	"context"
	"errors"
	"fmt"

	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/pipeline/plan"
	"bitextmine/score"
	"bitextmine/score/fit"
	"bitextmine/score/inject"
)

// Fit injects known pairs into the corpora that cfg names and returns the examples that they and their rivals make. The corpora are cut,
// encoded and searched as in a run, and a run's intermediate files serve; nothing injected is written anywhere. name says where the pairs
// came from.
func Fit(ctx context.Context, cfg Config, pairs []inject.Pair, name string, opts Options) (_ *fit.Set, err error) {
	cfg.Scorer, cfg.Precision, cfg.Features, cfg.Threshold = score.None, 0, false, 0
	r, err := newRun(ctx, cfg, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.store.Close()) }()
	seen := fit.SeenSource(r.model, name)
	if seen != "" {
		r.Log.Warn(fmt.Sprintf("encoder %s was trained on %s, and pairs it has seen are too easy: a scorer fitted on them expects too much of other text; give other pairs if there are any",
			r.model.Name, seen))
	}
	p, err := r.mine(ctx)
	if err != nil {
		return nil, err
	}
	w := newWorker(r.cfg, opts, r.store, r.model, p)
	defer func() { err = errors.Join(err, w.close()) }()
	encoder, err := encode.Open(r.model, r.cfg.EncoderOptions())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, encoder.Close()) }()
	tokens, closeTokens, err := score.OpenTokens(r.model, r.cfg.EncoderOptions())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeTokens()) }()
	host, err := w.host(ctx)
	if err != nil {
		return nil, err
	}
	host.Encoder, host.Tokens = encoder, tokens
	examples, found, err := fit.Collect(ctx, host, pairs)
	if err != nil {
		return nil, err
	}
	return fit.NewSet(r.model, cfg.K, score.KnownPairs{
		Pairs: name, Source: host.Languages[0], Target: host.Languages[1], Seen: seen != "",
		Corpus:   fmt.Sprintf("%d and %d sentences", len(host.Texts[0]), len(host.Texts[1])),
		Injected: len(pairs), Found: found, Candidates: len(examples.True),
	}, examples), nil
}

// host gathers a finished plan's texts, vectors and neighbours by sentence number.
func (w *worker) host(ctx context.Context) (*inject.Host, error) {
	match := &w.plan.Waves[len(w.plan.Waves)-1].Tasks[0]
	searcher, err := w.searcher()
	if err != nil {
		return nil, err
	}
	host := &inject.Host{K: w.plan.Settings.K, Searcher: searcher, Threads: w.cfg.Threads}
	var numbered [2]*sentences
	for side := range numbered {
		var err error
		if numbered[side], err = w.sentences[side](); err != nil {
			return nil, err
		}
		host.Languages[side] = w.plan.Sides[side].Language
		if host.Texts[side], err = w.texts(ctx, side, numbered[side]); err != nil {
			return nil, err
		}
		if host.Vectors[side], err = w.allVectors(ctx, side, numbered[side]); err != nil {
			return nil, err
		}
	}
	// What encoding cut is not cut again, however often pairs are injected.
	host.Read = func(ctx context.Context, side int, into *score.SideBuilder) error {
		return w.describe(ctx, side, numbered[side], into)
	}
	var found recall
	for side := range numbered {
		var err error
		if host.Lists[side], err = w.gather(ctx, match, side, numbered[side], numbered[1-side], &found); err != nil {
			return nil, err
		}
	}
	return host, nil
}

// texts returns a side's distinct sentences, normalised, by number.
func (w *worker) texts(ctx context.Context, side int, numbered *sentences) ([]string, error) {
	texts := make([]string, numbered.len())
	for i := range w.plan.Sides[side].Shards {
		path, err := w.shardPath(ctx, &w.plan.Sides[side].Shards[i])
		if err != nil {
			return nil, err
		}
		err = eachDistinct(path, int32(i), numbered, func(_ uint32, number int32, text string) error {
			texts[number] = text
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// eachDistinct calls each with the sentences whose first occurrence is in the shard.
func eachDistinct(path string, shard int32, numbered *sentences, each func(row uint32, number int32, text string) error) (err error) {
	reader, err := corpus.OpenShard(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	row := 0
	for text, err := range normalised(reader.Rows()) {
		if err != nil {
			return err
		}
		if number := numbered.rows[shard][row]; numbered.first[number] == (place{shard, uint32(row)}) {
			if err := each(uint32(row), number, text); err != nil {
				return err
			}
		}
		row++
	}
	return nil
}

// allVectors copies the vectors of a side's distinct sentences together, by number.
func (w *worker) allVectors(ctx context.Context, side int, numbered *sentences) (all embedding.Matrix, err error) {
	all = embedding.Matrix{N: numbered.len(), Dim: w.model.Dim}
	for i := range w.plan.Sides[side].Shards {
		if err := w.copyVectors(ctx, &w.plan.Sides[side].Shards[i], int32(i), numbered, &all); err != nil {
			return all, err
		}
	}
	return all, nil
}

func (w *worker) copyVectors(ctx context.Context, shard *plan.ShardFile, at int32, numbered *sentences, all *embedding.Matrix) (err error) {
	file, err := w.vectors(ctx, shard)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if file.F16 != nil && all.F16 == nil {
		all.F16 = make([]uint16, all.N*all.Dim)
	} else if file.F32 != nil && all.F32 == nil {
		all.F32 = make([]float32, all.N*all.Dim)
	}
	for row, number := range numbered.rows[at] {
		if numbered.first[number] != (place{at, uint32(row)}) {
			continue
		}
		if file.F16 != nil {
			copy(all.F16[int(number)*all.Dim:][:all.Dim], file.F16[row*all.Dim:])
		} else {
			copy(all.F32[int(number)*all.Dim:][:all.Dim], file.F32[row*all.Dim:])
		}
	}
	return nil
}
