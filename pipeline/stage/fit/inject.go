package fit

import (
	"context"
	"errors"

	"bitextmine/encode"
	"bitextmine/pipeline/decide"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/search"
	"bitextmine/pipeline/view"
	"bitextmine/score"
	"bitextmine/score/inject"
)

// InjectionCost is, in memory, the texts, vectors and lists of both languages at once.
func InjectionCost(b *stage.Builder, pair int) stage.Cost {
	rows := int64(b.Side(pair, 0).Rows() + b.Side(pair, 1).Rows())
	return stage.Cost{Memory: 512<<20 + rows*(400+4*int64(b.Settings.Dim)+16*int64(b.Settings.K)), Disk: 64 << 20}
}

// WithHost calls do with the texts, vectors and neighbours of one of the plan's pairs, for known pairs to be injected
// into, and an encoder for those.
func WithHost(ctx context.Context, e *stage.Env, index int, do func(*inject.Host) error) (err error) {
	pair, err := e.Pair(index)
	if err != nil {
		return err
	}
	searcher, err := search.Open(e, e.Plan.Searcher())
	if err != nil {
		return err
	}
	options := e.EncoderOptions()
	encoder, err := encode.Open(e.Model, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, encoder.Close()) }()
	tokens, closeTokens, err := score.OpenTokens(e.Model, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTokens()) }()
	host := &inject.Host{
		Languages: pair.Codes(), K: e.Plan.Settings.K, Searcher: searcher, Threads: options.Threads, Encoder: encoder, Tokens: tokens,
		// What encoding tokenised is not tokenised again, however often pairs are injected.
		Read: func(ctx context.Context, side int, into *score.SideBuilder) error {
			return decide.Describe(ctx, pair, side, into)
		},
	}
	if e.Plan.Refiner != nil {
		strong, failure := e.RefineModel()
		if failure != nil {
			return failure
		}
		opened, failure := encode.Open(strong, options)
		if failure != nil {
			return failure
		}
		defer func() { err = errors.Join(err, opened.Close()) }()
		host.Strong = &inject.Strong{Encoder: opened, Floor: e.Plan.Settings.RefineFloor}
	}
	var found view.Recall
	for side := range host.Texts {
		if host.Texts[side], err = pair.Texts(ctx, side); err != nil {
			return err
		}
		if host.Vectors[side], err = pair.AllVectors(ctx, side); err != nil {
			return err
		}
		if host.Lists[side], err = pair.Neighbours(ctx, side, &found); err != nil {
			return err
		}
	}
	return do(host)
}
