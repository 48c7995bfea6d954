package view

import (
	"context"
	"errors"

	"bitextmine/encode"
	"bitextmine/index"
	"bitextmine/score"
	"bitextmine/score/inject"
)

// WithHost calls do with a pair's texts, vectors and neighbours, for known pairs to be injected into, and an encoder for those.
func (p *Pair) WithHost(ctx context.Context, model *encode.Model, options encode.Options, searcher index.Searcher, do func(*inject.Host) error) (err error) {
	encoder, err := encode.Open(model, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, encoder.Close()) }()
	tokens, closeTokens, err := score.OpenTokens(model, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTokens()) }()
	// Read: what encoding tokenised is not tokenised again, however often pairs are injected.
	host := &inject.Host{
		Languages: p.Codes(), K: p.Plan.Settings.K, Searcher: searcher, Threads: options.Threads, Encoder: encoder, Tokens: tokens, Read: p.Describe,
	}
	var found Recall
	for side := range host.Texts {
		if host.Texts[side], err = p.Texts(ctx, side); err != nil {
			return err
		}
		if host.Vectors[side], err = p.AllVectors(ctx, side); err != nil {
			return err
		}
		if host.Lists[side], err = p.Neighbours(ctx, side, &found); err != nil {
			return err
		}
	}
	return do(host)
}
