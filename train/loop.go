package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gomlx/compute"

	"bitextmine/eval/testset"
	"bitextmine/internal/badinput"
	"bitextmine/train/checkpoint"
	"bitextmine/train/layers"
	"bitextmine/train/step"
	"bitextmine/train/weights"
)

// trainer computes the steps of a training.
type trainer struct {
	parts
	checkpoints checkpoint.Dir
	journal     *journal
	state       checkpoint.State
	figures     map[int]map[string]float64 // dev figures by step, of this process
}

func newTrainer(c Config, o Options) *trainer {
	return &trainer{parts: parts{config: c, options: o},
		checkpoints: checkpoint.Dir{Path: filepath.Join(o.Out, checkpointsDir)},
		figures:     map[int]map[string]float64{}}
}

// prepare reads the bitext, creates everything that learns, and loads the checkpoint of t.state.
func (t *trainer) prepare(ctx context.Context, backend compute.Backend) error {
	if err := t.read(ctx); err != nil {
		return err
	}
	bitext := t.set.Digest()
	if t.state.Step > 0 && t.state.Bitext != bitext {
		return badinput.Errorf("%s holds a training on other bitext than its sources now give: restore the files, or choose another directory", t.options.Out)
	}
	t.state.Bitext = bitext
	if err := t.make(ctx, backend); err != nil {
		return err
	}
	return t.resume(t.checkpoints, t.state.Step)
}

// loop computes steps until the last, or until the stop metric has not grown for long enough, which reason then says.
func (t *trainer) loop(ctx context.Context) (reason string, err error) {
	c := &t.config
	defer func() { err = errors.Join(err, t.resident.Release()) }() // a checkpoint is read next
	since := newAverage()
	for t.state.Step < c.Steps {
		if c.Stop.Patience > 0 && t.state.Since >= c.Stop.Patience { // a training that is resumed may be over
			return fmt.Sprintf("%s has not grown for %d evaluations", c.Stop.Metric, t.state.Since), nil
		}
		if err := t.findAgain(ctx); err != nil {
			return "", err
		}
		if err := t.step(ctx, since); err != nil {
			return "", err
		}
		step := t.state.Step
		evaluates := step == c.Steps || c.EvalEvery > 0 && step%c.EvalEvery == 0
		if step%c.LogEvery == 0 || evaluates { // so that the lines of a resumed training begin at the same steps
			if err := t.log(since.Line(step, t.optimiser.Rate(step, c.Steps), t.batches.Epoch())); err != nil {
				return "", err
			}
			since = newAverage()
		}
		if !evaluates {
			continue
		}
		began := time.Now()
		if err := t.save(ctx); err != nil {
			return "", err
		}
		since.Skip(time.Since(began)) // evaluation does not count as training
	}
	return "", nil
}

// step computes one optimiser step. A loss or gradient that is not finite ends the training. The weights are then those
// of the previous step, and so are the checkpoints.
func (t *trainer) step(ctx context.Context, since *average) (err error) {
	c := &t.config
	for range c.Accumulate {
		batch := t.batches.Next()
		values, err := t.steps.Run(ctx, batch, layers.Seed(c.Seed, batch.Step, 0))
		if err != nil {
			return err
		}
		if !since.Add(values, 2*len(batch.Rows)) {
			return t.diverged("the loss of step %d is NaN or infinite (batch %d: %s)", t.state.Step+1, batch.Step,
				step.Describe(values))
		}
	}
	if since.Norm, err = t.optimiser.Step(t.state.Step+1, c.Steps, c.Accumulate); err != nil {
		return err
	}
	if math.IsNaN(since.Norm) || math.IsInf(since.Norm, 0) {
		return t.diverged("the gradient of step %d is NaN or infinite (batch %d)", t.state.Step+1, t.batches.Step()-1)
	}
	t.state.Step++
	return nil
}

// save evaluates the encoder, writes a checkpoint and removes those that are no longer needed.
func (t *trainer) save(ctx context.Context) (err error) {
	c := &t.config
	if err := t.resident.Fetch(); err != nil {
		return err
	}
	for _, w := range append(weights.Learned(t.encoder.Weights()), t.heads...) {
		if !w.Sound() {
			return t.diverged("step %d left values in %s that are NaN, infinite or too large", t.state.Step, w.Name)
		}
	}
	t.options.report(fmt.Sprintf("evaluate step %d", t.state.Step))
	if t.state.Dev, err = t.evaluate(ctx, t.live()); err != nil {
		return err
	}
	t.figures[t.state.Step] = t.state.Dev
	if c.Stop.Metric != "" {
		if err := checkMetric(t.state.Dev, c.Stop.Metric); err != nil {
			return err
		}
		t.state.Better(c.Stop.Metric, t.state.Dev[c.Stop.Metric])
	}
	if t.state.Dev != nil {
		if err := t.log(JournalLine{Step: t.state.Step, Dev: t.state.Dev}); err != nil {
			return err
		}
	}
	if err := t.checkpoints.Save(t.state, t.architecture, t.files()); err != nil {
		return err
	}
	return t.checkpoints.Prune(c.Stop.Metric, c.Stop.Keep)
}

// log shows and stores a line.
func (t *trainer) log(l JournalLine) error {
	if t.options.Progress != nil {
		var left time.Duration
		if l.Sentences > 0 {
			perStep := 2 * float64(t.config.Bitext.BatchSize*t.config.Accumulate) / l.Sentences
			left = time.Duration(float64(t.config.Steps-l.Step) * perStep * float64(time.Second))
		}
		t.options.Progress(l, left)
	}
	return t.journal.Add(l)
}

// evaluate returns the dev figures of an encoder.
func (t *trainer) evaluate(ctx context.Context, e liveEncoder) (map[string]float64, error) {
	if len(t.config.Dev) == 0 {
		return nil, nil
	}
	return EvaluateDev(ctx, t.config.Dev, &testset.Embedder{Encoder: e}, t.options.Searcher)
}

// diverged is the error of a training whose loss or weights are NaN or infinite. It names the last checkpoint.
func (t *trainer) diverged(format string, args ...any) error {
	last := "there is no checkpoint before it"
	if all, _, err := t.checkpoints.List(); err != nil {
		return errors.Join(badinput.Errorf(format, args...), err)
	} else if len(all) > 0 {
		last = "the checkpoint before it is " + t.checkpoints.At(all[len(all)-1].Step)
	}
	return badinput.Errorf("%s; %s: lower optimiser.learning_rate or optimiser.clip", fmt.Sprintf(format, args...),
		last)
}

// Console shows a training as one live line on a terminal, and otherwise as plain lines.
type Console struct {
	out      io.Writer
	terminal bool

	mutex sync.Mutex
	width int // width of the live line
}

// NewConsole returns a Console that writes to out.
func NewConsole(out io.Writer, terminal bool) *Console { return &Console{out: out, terminal: terminal} }

// Report shows the next action of a training.
func (c *Console) Report(what string) { c.show(what, false) }

// Progress shows a line of the log, and the time that is left. On a terminal, evaluations stay and steps replace each
// other.
func (c *Console) Progress(l JournalLine, left time.Duration) {
	if l.Dev != nil {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(l.Dev)) {
			parts = append(parts, fmt.Sprintf("%s %.2f", name, l.Dev[name]))
		}
		c.show(fmt.Sprintf("step %d: %s", l.Step, strings.Join(parts, ", ")), true)
		return
	}
	var terms strings.Builder
	if len(l.Terms) > 1 {
		for _, name := range slices.Sorted(maps.Keys(l.Terms)) {
			fmt.Fprintf(&terms, ", %s %.4f", name, l.Terms[name])
		}
	}
	c.show(fmt.Sprintf("step %d, epoch %.2f: loss %.4f%s, %.0f sentences/s, %s left",
		l.Step, l.Epoch, l.Loss, terms.String(), l.Sentences, left.Round(time.Second)), false)
}

// Close ends the live line.
func (c *Console) Close() { c.show("", true) }

func (c *Console) show(text string, stays bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !c.terminal {
		if text != "" {
			_, _ = fmt.Fprintln(c.out, text) // errors of the console are ignored
		}
		return
	}
	end := ""
	if stays && (text != "" || c.width > 0) {
		end = "\n"
	}
	_, _ = fmt.Fprintf(c.out, "\r%-*s%s", c.width, text, end)
	if c.width = len(text); stays {
		c.width = 0
	}
}
