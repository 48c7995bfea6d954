package program

import (
	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/pipeline"
	"bitextmine/pipeline/config"
)

// OpenEncoder opens the encoder that the settings name, with its manifest.
func OpenEncoder(cfg *pipeline.Config) (*model.Model, *encode.Encoder, error) {
	m, err := model.Load(cfg.Encoder)
	if err != nil {
		return nil, nil, err
	}
	options, err := config.OptionsOf(cfg, m)
	if err != nil {
		return nil, nil, err
	}
	e, err := encode.Open(m, options)
	return m, e, err
}
