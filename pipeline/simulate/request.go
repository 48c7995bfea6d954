package simulate

import (
	"bitextmine/encode/model"
	"bitextmine/index/backend"
	"bitextmine/index/exact"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/stage"
)

// RequestOf is what plans of a run with these settings are made from. Its own text is not looked at, and no scorer is
// opened: none changes what tasks there are and what they cost.
func RequestOf(cfg *config.Config, version string) (stage.Request, error) {
	if err := cfg.Validate(); err != nil {
		return stage.Request{}, err
	}
	var m config.Models
	var err error
	if m.Encoder, err = model.Load(cfg.Encoder); err != nil {
		return stage.Request{}, err
	}
	if m.Strong, err = setting.OpenRefiner(cfg.Refining, m.Encoder); err != nil {
		return stage.Request{}, err
	}
	if m.Judge, err = setting.OpenJudge(cfg.Judging); err != nil {
		return stage.Request{}, err
	}
	if err := config.Place(cfg, m); err != nil {
		return stage.Request{}, err
	}
	searched := cfg.Search
	if searched == backend.Auto {
		searched = exact.Name // whose lists auto gives
	}
	return stage.Request{
		Version: version, Encoder: cfg.Encoder, Threads: cfg.Threads,
		Refiner: m.Refiner(cfg), Judge: m.PlanJudge(cfg), Settings: config.SettingsOf(cfg, searched, m, nil),
	}, nil
}
