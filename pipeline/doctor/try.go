package doctor

import (
	"context"
	"errors"

	"bitextmine/encode"
	"bitextmine/encode/model"
)

// try encodes a sentence in the model's first language.
func try(ctx context.Context, model *model.Model, library string) (err error) {
	encoder, err := encode.Open(model, encode.Options{Threads: 1, Library: library})
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
