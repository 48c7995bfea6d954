package ems

import (
	"slices"

	"bitextmine/train/objective"
	"bitextmine/train/objective/contrastive"
)

// Reconstruction is the distribution that EMS predicts from a sentence vector.
type Reconstruction string

// XTR is the distribution of the other side's words. UGT is this distribution and a masked word of the same side.
const (
	NoReconstruction Reconstruction = "none"
	XTR              Reconstruction = "xtr"
	UGT              Reconstruction = "ugt"
)

// Settings are the settings of EMS and of the paper's LaBSE baselines.
type Settings struct {
	contrastive.Ranking `yaml:",inline"`

	Contrastive    bool           `yaml:"contrastive"`    // use the contrastive terms
	MLP            bool           `yaml:"mlp"`            // two layers between the vectors and their cosines
	MLPDim         int            `yaml:"mlp_dim"`        // output dim of the second layer
	Reconstruction Reconstruction `yaml:"reconstruction"` // xtr, ugt or none
	LanguageToken  bool           `yaml:"language_token"` // reconstruction knows which language to predict
	LanguageDim    int            `yaml:"language_dim"`   // dim of a language's vector
	// reconstruction's output table is the encoder's embedding table
	SharedEmbedding bool `yaml:"shared_embedding"`
}

func init() {
	register := func(name string, change func(*Settings)) { objective.RegisterVariant(name, defaults, change) }
	withoutXTR := func(s *Settings) {
		s.Margin, s.Reconstruction, s.LanguageToken, s.LanguageDim = 0.3, NoReconstruction, false, 0
	}
	register("ems", func(*Settings) {})
	register("labse-joint", func(s *Settings) { s.Margin = 0.3 })
	register("labse-mlp", withoutXTR)
	register("labse-vanilla", func(s *Settings) {
		withoutXTR(s)
		s.MLP, s.MLPDim = false, 0
	})
}

// defaults are the paper's settings.
func defaults() *Settings {
	return &Settings{Ranking: contrastive.Ranking{Temperature: 0.1}, Contrastive: true, MLP: true, MLPDim: 128,
		Reconstruction: XTR, LanguageToken: true, LanguageDim: 128}
}

func (s *Settings) reconstructs() bool { return s.Reconstruction == XTR || s.Reconstruction == UGT }

// Validate reports all problems.
func (s *Settings) Validate(check objective.Check) {
	if s.Contrastive {
		s.Ranking.Validate(check)
	}
	known := []Reconstruction{NoReconstruction, XTR, UGT}
	check(slices.Contains(known, s.Reconstruction), "objective.reconstruction is %q but must be xtr, ugt or none",
		s.Reconstruction)
	check(s.Contrastive || s.reconstructs(),
		"the objective has neither contrastive nor reconstruction: set at least one")
	check(!s.Contrastive || !s.MLP || s.MLPDim >= 1, "objective.mlp_dim is %d but must be above 0", s.MLPDim)
	check(!s.reconstructs() || !s.LanguageToken || s.LanguageDim >= 1,
		"objective.language_dim is %d but must be above 0", s.LanguageDim)
	check(s.reconstructs() || !s.SharedEmbedding, "objective.shared_embedding is only for reconstruction: remove it")
}

// Needs is a mask token for UGT and the embedding table for a shared embedding.
func (s *Settings) Needs() objective.Needs {
	return objective.Needs{Mask: s.Reconstruction == UGT, Table: s.reconstructs() && s.SharedEmbedding}
}

// Build returns the objective.
func (s *Settings) Build(t objective.Training) (objective.Objective, error) {
	return newEMS(*s, t), nil
}
