package train

import (
	"context"

	"bitextmine/encode"
	"bitextmine/internal/badinput"
	"bitextmine/train/data"
	"bitextmine/train/encoder"
)

// live makes the encoder in training available to eval.
type live struct {
	name    string
	encoder encoder.Encoder
	bitext  data.Config
	options data.Options
}

func (l live) Name() string { return l.name }

func (l live) Dim() int { return l.encoder.Dim() }

// together is the number of sentences that are encoded at once.
const together = 128

// Encode writes unit vectors [len(texts), dim], as the exported graph does.
func (l live) Encode(ctx context.Context, language string, texts []string, dst []float32) error {
	dim := l.Dim()
	for part, err := range l.bitext.Parts(l.options, language, texts, together) {
		if err != nil {
			return err
		}
		vectors, err := l.encoder.Forward(ctx, part.Side, 0)
		if err != nil {
			return err
		}
		for i, row := range part.Rows {
			v := dst[row*dim : (row+1)*dim]
			copy(v, vectors[i*dim:])
			if err := encode.Unit(v); err != nil {
				return badinput.Errorf("the vector that the encoder in training gives %q %w: lower the learning rate", texts[row], err)
			}
		}
	}
	return nil
}
