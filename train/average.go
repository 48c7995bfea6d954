package train

import (
	"context"
	"math"
	"time"

	"bitextmine/encode"
	"bitextmine/internal/badinput"
	"bitextmine/train/data"
	"bitextmine/train/encoder"
	"bitextmine/train/step"
)

// Average collects the values of a line over several steps.
type Average struct {
	Norm      float64 // norm of the last step's gradient
	began     time.Time
	batches   int
	sentences int
	loss      float64
	terms     map[string]float64
}

// NewAverage begins a line now.
func NewAverage() *Average { return &Average{began: time.Now(), terms: map[string]float64{}} }

// Add adds a batch's terms and reports whether their sum is finite.
func (a *Average) Add(values []step.Value, sentences int) bool {
	loss := 0.0
	for _, v := range values {
		loss += v.Weight * float64(v.Value)
		a.terms[v.Name] += float64(v.Value)
	}
	a.loss += loss
	a.batches++
	a.sentences += sentences
	return !math.IsNaN(loss) && !math.IsInf(loss, 0)
}

// Skip leaves a time out of the sentences per second.
func (a *Average) Skip(d time.Duration) { a.began = a.began.Add(d) }

// Line is the line after a step.
func (a *Average) Line(step int, rate, epoch float64) JournalLine {
	l := JournalLine{Step: step, Loss: a.loss / float64(a.batches), Terms: map[string]float64{}, Norm: a.Norm,
		Rate: rate, Epoch: epoch,
		Sentences: float64(a.sentences) / time.Since(a.began).Seconds()}
	for name, sum := range a.terms {
		l.Terms[name] = sum / float64(a.batches)
	}
	return l
}

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
