package train

import (
	"context"
	"fmt"
	"math"
	"time"

	"bitextmine/internal/badinput"
	"bitextmine/train/layers"
)

// loop computes steps until the last, or until the stop metric has not grown for long enough. reason says which.
func (t *trainer) loop(ctx context.Context) (reason string, err error) {
	c := &t.config
	since := newAverage()
	for t.state.Step < c.Steps {
		if err := t.step(ctx, since); err != nil {
			return "", err
		}
		step := t.state.Step
		judges := step == c.Steps || c.EvalEvery > 0 && step%c.EvalEvery == 0
		if step%c.LogEvery == 0 || judges { // so that the lines of a resumed training begin at the same steps
			if err := t.log(since.line(t)); err != nil {
				return "", err
			}
			since = newAverage()
		}
		if !judges {
			continue
		}
		began := time.Now()
		if err := t.keep(ctx); err != nil {
			return "", err
		}
		since.began = since.began.Add(time.Since(began)) // evaluation does not count as training
		if c.Stop.Patience > 0 && t.state.Since >= c.Stop.Patience {
			return fmt.Sprintf("%s has not grown for %d evaluations", c.Stop.Metric, t.state.Since), nil
		}
	}
	return "", nil
}

// step computes one optimiser step. A loss or gradient that is not finite ends the training. The weights are then those
// of the previous step, and so are the checkpoints.
func (t *trainer) step(ctx context.Context, since *average) error {
	c := &t.config
	for range c.Accumulate {
		batch := t.batches.Next()
		values, err := t.steps.Run(ctx, batch, layers.Seed(c.Seed, batch.Step, 0))
		if err != nil {
			return err
		}
		if !since.add(values, 2*len(batch.Rows)) {
			return t.diverged("the loss of step %d is NaN or infinite (batch %d: %s)", t.state.Step+1, batch.Step, describe(values))
		}
	}
	since.norm = t.optimiser.Step(t.state.Step+1, c.Steps, c.Accumulate)
	if math.IsNaN(since.norm) || math.IsInf(since.norm, 0) {
		return t.diverged("the gradient of step %d is NaN or infinite (batch %d)", t.state.Step+1, t.batches.Step()-1)
	}
	t.state.Step++
	return nil
}

// keep evaluates the encoder, writes a checkpoint and removes those that are no longer needed.
func (t *trainer) keep(ctx context.Context) error {
	c := &t.config
	for _, w := range append(t.encoder.Weights(), t.heads...) {
		if !w.Sound() {
			return t.diverged("step %d left values in %s that are NaN, infinite or too large", t.state.Step, w.Name)
		}
	}
	t.report(fmt.Sprintf("evaluate step %d", t.state.Step))
	var err error
	if t.state.Dev, err = t.judge(ctx); err != nil {
		return err
	}
	t.judged[t.state.Step] = t.state.Dev
	if c.Stop.Metric != "" {
		figure, ok := t.state.Dev[c.Stop.Metric]
		if !ok {
			return badinput.Errorf("stop.metric %q is not among the figures of the dev sets: %s", c.Stop.Metric, names(t.state.Dev))
		}
		t.state.better(figure)
	}
	if t.state.Dev != nil {
		if err := t.log(Line{Step: t.state.Step, Dev: t.state.Dev}); err != nil {
			return err
		}
	}
	if err := t.checkpoints.save(t.state, t.about, t.files()); err != nil {
		return err
	}
	return t.checkpoints.prune(c.Stop.Metric, c.Stop.Keep)
}

func (t *trainer) log(l Line) error {
	if t.options.Progress != nil {
		var left time.Duration
		if l.Sentences > 0 {
			perStep := 2 * float64(t.config.Bitext.BatchSize*t.config.Accumulate) / l.Sentences
			left = time.Duration(float64(t.config.Steps-l.Step) * perStep * float64(time.Second))
		}
		t.options.Progress(l, left)
	}
	return t.journal.add(l)
}
