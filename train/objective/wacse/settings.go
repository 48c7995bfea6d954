package wacse

import (
	"bitextmine/train/objective"
	"bitextmine/train/objective/contrastive"
)

// Settings are the settings of wacse. A term of weight 0 is left out.
type Settings struct {
	Temperature     float64 `yaml:"temperature"`      // temperature of translation ranking
	WordTemperature float64 `yaml:"word_temperature"` // temperature of word translation ranking
	TRWeight        float64 `yaml:"tr_weight"`        // α, of translation ranking
	AWPWeight       float64 `yaml:"awp_weight"`       // β, of aligned word prediction
	WTRWeight       float64 `yaml:"wtr_weight"`       // γ, of word translation ranking
	Masking         float64 `yaml:"masking"`          // share of a sentence's linked words that is masked at once
}

func init() {
	objective.Register(objective.Descriptor{Name: "wacse", Settings: func() objective.Settings { return defaults() }})
}

// defaults are the paper's settings. The share of masked words, which it does not say, is BERT's.
func defaults() *Settings {
	return &Settings{Temperature: 1, WordTemperature: 1, TRWeight: 0.8, AWPWeight: 0.1, WTRWeight: 0.1, Masking: 0.15}
}

// Validate reports all problems.
func (s *Settings) Validate(check objective.Check) {
	s.ranking().Validate(check)
	check(s.WordTemperature > 0 && s.WordTemperature <= 100,
		"objective.word_temperature is %v but must be above 0 and at most 100", s.WordTemperature)
	for _, w := range []struct {
		name  string
		value float64
	}{{"tr_weight", s.TRWeight}, {"awp_weight", s.AWPWeight}, {"wtr_weight", s.WTRWeight}} {
		check(w.value >= 0, "objective.%s is %v but cannot be negative", w.name, w.value)
	}
	check(s.TRWeight+s.AWPWeight+s.WTRWeight > 0,
		"objective.tr_weight, awp_weight and wtr_weight are all 0: give one a weight")
	check(s.Masking > 0 && s.Masking <= 1, "objective.masking is %v but must be above 0 and at most 1", s.Masking)
}

// ranking is translation ranking, of which only the direction from source to target is used.
func (s *Settings) ranking() contrastive.Ranking {
	return contrastive.Ranking{Temperature: s.Temperature}
}

// Needs is nothing for translation ranking alone.
func (s *Settings) Needs() objective.Needs {
	predicts := s.AWPWeight > 0
	reads := predicts || s.WTRWeight > 0
	return objective.Needs{Tokens: reads, Words: reads, Table: predicts, Mask: predicts}
}

// Build makes the objective.
func (s *Settings) Build(t objective.Training) (objective.Objective, error) {
	return &wacse{*s, t}, nil
}
