package program

import (
	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/pipeline"
)

// OpenEncoder opens the encoder that the settings name, with its manifest.
func OpenEncoder(cfg *pipeline.Config) (*model.Model, *encode.Encoder, error) {
	m, err := model.Load(cfg.Encoder)
	if err != nil {
		return nil, nil, err
	}
	e, err := encode.Open(m, cfg.EncoderOptions())
	return m, e, err
}
