package admin

import (
	"context"
	"errors"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/pipeline/setting"
)

// try encodes a sentence in the model's first language.
func try(ctx context.Context, model *model.Model, r setting.Resources, arithmetic string) (err error) {
	options, err := setting.OnDevice(r, arithmetic)
	if err != nil {
		return err
	}
	options.Threads = 1
	encoder, err := encode.Open(model, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, encoder.Close()) }()
	language := "en"
	if len(model.Languages) > 0 {
		language = model.Languages[0]
	}
	return encoder.Encode(ctx, language, []string{"1 2 3"}, make([]float32, encoder.Dim()))
}
