package vmsst

import (
	"bitextmine/internal/badinput"
	"bitextmine/train/layers"
	"bitextmine/train/objective"
)

// Settings are the settings of vmsst, bitranslation and vmsst-contrastive.
type Settings struct {
	Translate   bool    `yaml:"translate"`   // the translation terms
	Contrastive bool    `yaml:"contrastive"` // cross-entropy over products of the vectors, in both directions
	ELBOWeight  float64 `yaml:"elbo_weight"` // λ; 0: no latent variables but the sentence vector
	KL          bool    `yaml:"kl"`          // the divergence from the prior, a part of the ELBO
	KLAnneal    int     `yaml:"kl_anneal"`   // steps over which the weight of kl grows from 0 to λ

	LanguageEncoders int  `yaml:"language_encoders"` // 0: the semantic encoder makes the language variables, too
	LanguageLayers   int  `yaml:"language_layers"`   // number of layers of each language encoder
	DecoderLayers    int  `yaml:"decoder_layers"`
	EncoderLanguage  bool `yaml:"encoder_language"` // the language encoder's inputs have a vector of the language
	DecoderLanguage  bool `yaml:"decoder_language"` // the decoder's first token is the language
	Factored         bool `yaml:"factored"`         // the decoder's projection to words goes through the encoder's width
	Heads            int  `yaml:"heads"`            // attention heads of language encoders and decoder
	FFN              int  `yaml:"ffn"`
}

func init() {
	register := func(name string, change func(*Settings)) { objective.RegisterVariant(name, defaults, change) }
	register("vmsst", func(*Settings) {})
	register("bitranslation", func(s *Settings) { s.ELBOWeight, s.KL, s.KLAnneal = 0, false, 0 })
	register("vmsst-contrastive", func(s *Settings) { s.Translate, s.Contrastive, s.ELBOWeight = false, true, 0.0005 })
}

// defaults are the paper's, from scratch with 6 layers, but for the decoder: one layer, which its Table 4 finds better.
func defaults() *Settings {
	return &Settings{Translate: true, ELBOWeight: 0.1, KL: true, KLAnneal: 1_000_000, LanguageEncoders: 1,
		LanguageLayers: 6, DecoderLayers: 1,
		EncoderLanguage: true, DecoderLanguage: true, Heads: 16, FFN: 4096}
}

// Validate reports all problems.
func (s *Settings) Validate(check objective.Check) {
	check(s.Translate || s.Contrastive || s.ELBOWeight > 0,
		"the objective has no term: set translate, contrastive or elbo_weight")
	check(s.ELBOWeight >= 0, "objective.elbo_weight is %v but cannot be negative", s.ELBOWeight)
	check(s.ELBOWeight > 0 || !s.KL, "objective.kl is a part of the ELBO: set elbo_weight, or kl to false")
	check(s.KLAnneal >= 0, "objective.kl_anneal is %d but cannot be negative", s.KLAnneal)
	check(s.KL || s.ELBOWeight > 0 || s.KLAnneal == 0, "objective.kl_anneal is only for kl: remove it")
	check(s.LanguageEncoders >= 0 && s.LanguageEncoders <= 16,
		"objective.language_encoders is %d but must be from 0 to 16", s.LanguageEncoders)
	check(s.LanguageLayers >= 1 && s.LanguageLayers <= 100, "objective.language_layers is %d but must be from 1 to 100",
		s.LanguageLayers)
	check(s.DecoderLayers >= 1 && s.DecoderLayers <= 100, "objective.decoder_layers is %d but must be from 1 to 100",
		s.DecoderLayers)
	check(s.Heads >= 1, "objective.heads is %d but must be above 0", s.Heads)
	check(s.FFN >= 1, "objective.ffn is %d but must be above 0", s.FFN)
}

// Needs is the tokens, for the variance, and the table of words, which the encoders and the decoder share.
func (s *Settings) Needs() objective.Needs {
	needs := objective.Needs{Tokens: true, Table: true, Pairs: 1}
	if s.Contrastive {
		needs.Pairs = 2
	}
	return needs
}

// Build returns the objective. A width that the heads do not divide is a badinput error.
func (s *Settings) Build(t objective.Training) (objective.Objective, error) {
	if t.Width%s.Heads != 0 {
		return nil, badinput.Errorf("objective.heads is %d, but the encoder's width %d is not a multiple of it",
			s.Heads, t.Width)
	}
	return &vmsst{base{*s, t}}, nil
}

// elbo reports whether there are latent variables beside the sentence vector.
func (s *Settings) elbo() bool { return s.ELBOWeight > 0 }

// decodes reports whether there is a decoder.
func (s *Settings) decodes() bool { return s.Translate || s.elbo() }

// base is common to all parts of the objective.
type base struct {
	Settings
	objective.Training
}

// shape is the shape of the layers of language encoders and decoder.
func (b base) shape() layers.Shape {
	return layers.Shape{Heads: b.Settings.Heads, Width: b.Width, FFN: b.FFN, Norm: layers.PreNorm,
		Activation: layers.ReLU, Epsilon: 1e-6, Precision: layers.Float32}
}
