package train

import (
	"context"

	"bitextmine/encode"
	"bitextmine/internal/badinput"
	"bitextmine/train/data"
	"bitextmine/train/encoder"
)

// LiveEncoder makes an encoder in training available to eval.
type LiveEncoder struct {
	Label   string
	Encoder encoder.Encoder
	Bitext  data.Config
	Options data.Options
}

// Name is the label.
func (l LiveEncoder) Name() string { return l.Label }

// Dim is the number of values of a vector.
func (l LiveEncoder) Dim() int { return l.Encoder.Dim() }

// DevBatch is the number of sentences that are encoded at once.
const DevBatch = 128

// Encode writes unit vectors [len(texts), dim], as the exported graph does.
func (l LiveEncoder) Encode(ctx context.Context, language string, texts []string, dst []float32) error {
	dim := l.Dim()
	for part, err := range l.Bitext.Parts(l.Options, language, texts, DevBatch) {
		if err != nil {
			return err
		}
		vectors, err := l.Encoder.Forward(ctx, part.Side, 0)
		if err != nil {
			return err
		}
		for i, row := range part.Rows {
			v := dst[row*dim : (row+1)*dim]
			copy(v, vectors[i*dim:])
			if err := encode.Unit(v); err != nil {
				return badinput.Errorf("the vector that the encoder in training gives %q %w: lower the learning rate",
					texts[row], err)
			}
		}
	}
	return nil
}
