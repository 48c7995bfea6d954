package simulate

import (
	"bitextmine/encode/model"
	"bitextmine/index/backend"
	"bitextmine/index/exact"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/stage"
)

// RequestOf is what plans of a run with these settings are made from. Its own text is not looked at, and no scorer is
// opened: none changes what tasks there are and what they cost.
func RequestOf(cfg *config.Config, version string) (stage.Request, error) {
	if err := cfg.Validate(); err != nil {
		return stage.Request{}, err
	}
	m, err := model.Load(cfg.Encoder)
	if err != nil {
		return stage.Request{}, err
	}
	refiner, err := setting.OpenRefiner(cfg.Refining, m)
	if err != nil {
		return stage.Request{}, err
	}
	if err := config.Place(cfg, m, refiner); err != nil {
		return stage.Request{}, err
	}
	searched := cfg.Search
	if searched == backend.Auto {
		searched = exact.Name // whose lists auto gives
	}
	r := stage.Request{Version: version, Encoder: cfg.Encoder, Threads: cfg.Threads}
	refine := ""
	if refiner != nil {
		refine = refiner.Digest
		r.Refiner = &plan.Refiner{Encoder: cfg.Refine, Name: refiner.Name, Dim: refiner.Dim}
	}
	r.Settings = cfg.PlanSettings(m, searched, refine, "")
	return r, nil
}
