package fit

import (
	"context"
	"errors"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/index/exact"
	"bitextmine/pipeline/decide"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/stage"
	"bitextmine/score"
	"bitextmine/score/inject"
)

// injectionCost is, in memory, the texts, vectors and lists of both languages at once.
func injectionCost(b *stage.Builder, pair int) stage.Cost {
	rows := int64(b.Side(pair, 0).Rows() + b.Side(pair, 1).Rows())
	return stage.Cost{Fixed: 512 << 20, Memory: rows * (400 + 4*int64(b.Settings.Dim) + 16*int64(b.Settings.K)), Disk: 64 << 20}
}

// OnTheWay is the task, without a key, that fits a run's own scorer to the text of a plan's first pair.
func OnTheWay(p *plan.Plan) *plan.Task {
	cost := injectionCost(&stage.Builder{Plan: p}, 0)
	return &plan.Task{Stage: Stage.Name, Memory: cost.Fixed + cost.Memory, Fixed: cost.Fixed}
}

// withHost calls do with the texts, vectors and neighbours of one of the plan's pairs, for known pairs to be injected
// into, and an encoder for those; with strong, also the strong encoder of the plan, if it has one.
func withHost(ctx context.Context, e *stage.Env, index int, strong bool, do func(*inject.Host) error) (err error) {
	pair, err := e.Pair(index)
	if err != nil {
		return err
	}
	options := e.EncoderOptions()
	// Few rows are compared, in parts fewer than an approximate search has lists, and nothing is left beside the store.
	searcher, err := exact.Open(exact.Options{Threads: options.Threads})
	if err != nil {
		return err
	}
	encoder, closeEncoder, err := opened(e, stage.EncoderName, e.Encoder, e.Plan.Settings.EncoderDevice, e.Model)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeEncoder()) }()
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
	if strong && e.Plan.Refiner != nil {
		m, failure := e.RefineModel()
		if failure != nil {
			return failure
		}
		refiner, closeRefiner, failure := opened(e, stage.RefinerName, e.Refiner, e.Plan.Settings.RefineDevice, m)
		if failure != nil {
			return failure
		}
		defer func() { err = errors.Join(err, closeRefiner()) }()
		host.Strong = &inject.Strong{Encoder: refiner, Floor: e.Plan.Settings.RefineFloor}
	}
	for side := range host.Texts {
		if host.Texts[side], err = pair.Texts(ctx, side); err != nil {
			return err
		}
		if host.Vectors[side], err = pair.AllVectors(ctx, side); err != nil {
			return err
		}
		if host.Lists[side], err = pair.Neighbours(ctx, side); err != nil {
			return err
		}
	}
	if _, err := decide.WithoutCopies(ctx, pair, host.Lists); err != nil {
		return err
	}
	return do(host)
}

// opened returns the encoder that tasks share under a name, if one is open on the CPU, so that its weights are in
// memory once. Otherwise it opens another, which the returned function closes.
func opened(e *stage.Env, name string, shared func() (stage.Encoder, error), device string, m *model.Model,
) (*encode.Encoder, func() error, error) {
	if device == "" && e.Opened(name) {
		one, err := shared()
		if err != nil {
			return nil, nil, err
		}
		if encoder, ok := one.(*encode.Encoder); ok {
			return encoder, func() error { return nil }, nil
		}
	}
	own, err := encode.Open(m, e.EncoderOptions())
	if err != nil {
		return nil, nil, err
	}
	return own, own.Close, nil
}
