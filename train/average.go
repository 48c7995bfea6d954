package train

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"bitextmine/train/journal"
	"bitextmine/train/step"
)

// average collects the values of a log line over several steps.
type average struct {
	began     time.Time
	batches   int
	sentences int
	loss      float64
	terms     map[string]float64
	norm      float64
}

func newAverage() *average { return &average{began: time.Now(), terms: map[string]float64{}} }

// add adds a batch's terms and reports whether their sum is finite.
func (a *average) add(values []step.Value, sentences int) bool {
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

func (a *average) line(t *trainer) journal.Line {
	l := journal.Line{Step: t.state.Step, Loss: a.loss / float64(a.batches), Terms: map[string]float64{}, Norm: a.norm,
		Rate: t.optimiser.Rate(t.state.Step, t.config.Steps), Epoch: t.batches.Epoch(),
		Sentences: float64(a.sentences) / time.Since(a.began).Seconds()}
	for name, sum := range a.terms {
		l.Terms[name] = sum / float64(a.batches)
	}
	return l
}

func names(figures map[string]float64) string {
	return strings.Join(slices.Sorted(maps.Keys(figures)), ", ")
}
