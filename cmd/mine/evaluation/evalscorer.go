package evaluation

import (
	"errors"
	"log/slog"
	"slices"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/eval"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/setting"
	"bitextmine/score"
	"bitextmine/score/inject"
)

// openScoring gives the runner the scorer of bucc-scored, if that is asked for.
func (o *evalOptions) openScoring(runner *eval.Runner,
	protocols []*eval.Protocol) (closeScoring func() error, err error) {
	nothing := func() error { return nil }
	if !slices.ContainsFunc(protocols, func(p *eval.Protocol) bool { return p.Scorer }) {
		return nothing, nil
	}
	if o.sourceEmb != "" {
		return nil, badinput.Errorf("bucc-scored looks at an encoder's tokens, which files of vectors do not have: " +
			"leave out --src-emb and --tgt-emb")
	}
	scoring, closeScoring, err := openScorer(o.scorer, o.cfg)
	if err == nil && scoring != nil {
		err = scoring.Scorer.CheckRefine(o.scorer, o.strong)
		if err == nil && o.strong != nil && scoring.Scorer.Refined == nil {
			err = badinput.Errorf("bucc-scored takes --refine with a scorer of mine fit-scorer --refine alone; " +
				"mine run --refine --gold measures what a run makes of both encoders")
		}
		if err != nil {
			err = errors.Join(err, closeScoring())
		}
	}
	if err == nil && scoring == nil {
		err = badinput.Errorf("bucc-scored needs a scorer: name one with --scorer, or evaluate the margin with bucc-laser")
	}
	runner.Scoring = scoring
	return closeScoring, err
}

// openScorer opens a scorer and what it needs of the encoder; scoring is nil where the margin decides.
func openScorer(name string, cfg *pipeline.Config) (scoring *eval.Scoring, closeTokens func() error, err error) {
	model, err := model.Load(cfg.Encoder)
	if err != nil {
		return nil, nil, err
	}
	scorer, warnings, err := score.Load(name, 0, model)
	if err != nil || scorer == nil {
		return nil, func() error { return nil }, err
	}
	for _, warning := range warnings {
		slog.Warn(warning)
	}
	tokens, closeTokens, err := score.OpenTokens(model, cfg.EncoderOptions())
	if err != nil {
		return nil, nil, err
	}
	return &eval.Scoring{Scorer: scorer.Scorer, Tokens: tokens, Threads: cfg.Threads,
		Encoder: model.Digest, Languages: model.Languages}, closeTokens, nil
}

// openStrong gives the runner the strong encoder of two-stage mining, if one is named.
func (o *evalOptions) openStrong(runner *eval.Runner, protocols []*eval.Protocol) (closeStrong func() error,
	err error) {
	wants := func(of func(*eval.Protocol) bool) bool { return slices.ContainsFunc(protocols, of) }
	refined := func(p *eval.Protocol) bool { return p.Strong }
	nothing := func() error { return nil }
	switch {
	case o.cfg.Refine == "" && wants(refined):
		return nil, badinput.Errorf("bucc-refined is two-stage mining: name the strong encoder with --refine")
	case o.cfg.Refine == "":
		return nothing, nil
	case !wants(func(p *eval.Protocol) bool { return p.Strong || p.Scorer }):
		return nil, badinput.Errorf("--refine is of bucc-refined and bucc-scored: name one of them, or leave it out")
	}
	if o.strong, err = model.Load(o.cfg.Refine); err != nil {
		return nil, badinput.Errorf("refine: %w", err)
	}
	options, err := config.OptionsOf(o.cfg, o.strong)
	if err != nil {
		return nil, err
	}
	encoder, err := encode.Open(o.strong, options)
	if err != nil {
		return nil, err
	}
	floor := o.cfg.RefineFloor
	if floor == setting.AutoThreshold {
		floor = config.RatioFloor
	}
	runner.Strong = &inject.Strong{Encoder: encoder, Floor: floor}
	return encoder.Close, nil
}

// engine is the encoder and the search of the commands that evaluate: the same settings as a run's, in the same layers.
type engine struct {
	flags.Settings
	cfg    *pipeline.Config // once loaded
	search string           // origin of the setting search
	named  bool             // says that an encoder was named, which is not the default
}

// Register adds --config and the flags of what an encoder and a search are opened with, and of more settings.
func (e *engine) Register(cmd *cobra.Command, more ...string) {
	e.RegisterSome(cmd, slices.Concat(setting.List[setting.Encoding](), setting.List[setting.Searching](),
		flags.Declared("onnxruntime", "threads"), flags.Declared(more...)))
	e.RegisterPreset()
}

// Load merges the settings: defaults < --config < MINE_* environment < flags.
func (e *engine) Load() (err error) {
	var values []flags.Layered
	if e.cfg, values, err = e.Settings.Load(); err != nil {
		return err
	}
	for _, v := range values {
		switch v.Key {
		case "search":
			e.search = v.Origin
		case "encoder":
			e.named = v.Origin != flags.ByDefault
		}
	}
	return e.cfg.Resolve()
}
