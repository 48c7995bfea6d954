package train

import (
	"math"
	"time"

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
