package train

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gomlx/compute"

	"bitextmine/index"
	"bitextmine/train/data"
	"bitextmine/train/device"
)

// The names in a training's directory, besides those of the vocabulary and the log.
const (
	configFile     = "config.yaml"
	checkpointsDir = "checkpoints"
	modelDir       = "model"   // the exported encoder
	teacherDir     = "teacher" // the teacher's vectors, unless Options.Teacher names another directory
)

// lockFile is locked in the directory of a training or of rounds by the process that works there.
const lockFile = "train.lock"

// Options are where and how a training runs. None of them changes a weight, except Device, which may round differently.
type Options struct {
	Out      string
	Preset   string // file that the preset was read from, if any
	Device   string // a name that device.Open takes
	Library  string // ONNX Runtime's library; if empty, it is searched in the usual places
	Resume   bool   // continue from the last checkpoint in Out
	Teacher  string // directory of cached teacher vectors, which trainings may share; if empty, Out/teacher
	Searcher index.Searcher
	Report   func(what string)                       // called with what comes next; may be nil
	Progress func(l JournalLine, left time.Duration) // called with every line of the log; may be nil
}

func (o *Options) report(what string) {
	if o.Report != nil {
		o.Report(what)
	}
}

// Summary is the result of a training.
type Summary struct {
	Stats  data.Stats
	Steps  int    // number of steps in all
	Best   int    // step of the exported checkpoint
	Model  string // directory of the exported encoder
	Dev    map[string]float64
	Reason string // why training ended before its last step; empty if it did not
}

// Run trains by a preset and exports the best checkpoint to Out/model. Bad input is a badinput error, and a
// *lockfile.Locked says that another process trains in Out. The checkpoints stay after any error.
func Run(ctx context.Context, c Config, o Options) (summary Summary, err error) {
	if err := c.checkFiles(); err != nil {
		return summary, err
	}
	dev, err := checkDev(ctx, c.Dev, c.Stop.Metric, o.Searcher)
	if err != nil {
		return summary, err
	}
	if warning := c.testWarning(); warning != "" {
		o.report(warning)
	}
	if !c.Optimiser.Learns(c.Steps) {
		o.report(fmt.Sprintf("warning: the only step has the rate 0 by the schedule %s, so nothing is learned", c.Optimiser.Schedule))
	}
	if c.Optimiser.Warmup > c.Steps {
		o.report(fmt.Sprintf("warning: the warm-up has %d steps and the training %d: the rate never reaches learning_rate", c.Optimiser.Warmup, c.Steps))
	}
	if err := c.takeStart(); err != nil {
		return summary, err
	}
	if err := refuseReplacing(&c, &o); err != nil {
		return summary, err
	}
	release, err := Lock(o.Out)
	if err != nil {
		return summary, err
	}
	defer func() { err = errors.Join(err, release()) }()
	t := newTrainer(c, o)
	t.dev = dev
	if t.state, err = openDirectory(&t.config, &t.options, t.checkpoints); err != nil {
		return summary, err
	}
	backend, err := openDevice(c, o)
	if err != nil {
		return summary, err
	}
	defer backend.Finalize()
	defer func() { err = errors.Join(err, t.close()) }()
	if err := t.prepare(ctx, backend); err != nil {
		return summary, err
	}
	if n := t.set.Stats.Watched; n > 0 {
		o.report(fmt.Sprintf("warning: %d of %d pairs have a sentence of the dev sets, whose figures are then too good: name the sets' files in bitext.exclude",
			n, t.set.Len()))
	}
	if t.journal, err = openJournal(o.Out, t.state.Step); err != nil {
		return summary, err
	}
	defer func() { err = errors.Join(err, t.journal.Close()) }()
	summary.Stats = t.set.Stats
	if summary.Reason, err = t.loop(ctx); err != nil {
		return summary, err
	}
	summary.Steps, summary.Model = t.state.Step, filepath.Join(o.Out, modelDir)
	summary.Best, summary.Dev, err = t.publish(ctx)
	return summary, err
}

// CheckDevice returns an error unless the device can be opened and has the preset's precision. Run checks this too; a
// caller with much work before Run can check first.
func CheckDevice(c Config, o Options) error {
	backend, err := openDevice(c, o)
	if err == nil {
		backend.Finalize()
	}
	return err
}

func openDevice(c Config, o Options) (compute.Backend, error) {
	if rounds := c.Encoder.Of().BFloat16; rounds != nil && rounds(c.Encoder) {
		return device.OpenBFloat16(o.Device, o.Library)
	}
	return device.Open(o.Device, o.Library)
}
