package evaluation

import (
	"slices"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/eval"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/config"
	"bitextmine/score/inject"
)

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
	if floor == config.AutoThreshold {
		floor = config.RatioFloor
	}
	runner.Strong = &inject.Strong{Encoder: encoder, Floor: floor}
	return encoder.Close, nil
}
