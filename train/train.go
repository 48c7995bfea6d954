package train

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gomlx/compute"
	"gopkg.in/yaml.v3"

	"bitextmine/encode"
	"bitextmine/eval"
	"bitextmine/index"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/encoder"
	"bitextmine/train/layers"
	"bitextmine/train/objective"
	"bitextmine/train/optimiser"
	"bitextmine/train/step"
	"bitextmine/train/teacher"
	"bitextmine/train/weights"
)

// The files of a training's directory, beside the vocabulary.
const (
	configFile     = "config.yaml"
	logFile        = "train.jsonl"
	checkpointsDir = "checkpoints"
	modelDir       = "model" // what is exported
)

// Options are where and how a training runs; none of them changes a weight but Device, whose arithmetic rounds in its
// own way.
type Options struct {
	Out      string
	Device   string // cpu, cuda, go
	Library  string // ONNX Runtime's; empty for the usual places
	Resume   bool   // go on from the last checkpoint in Out
	Teacher  string // directory of cached teacher vectors, which trainings may share; empty: Out/teacher
	Searcher index.Searcher
	Report   func(what string)                // what comes next; may be nil
	Progress func(l Line, left time.Duration) // every line of the log; may be nil
}

// Summary is what a training came to.
type Summary struct {
	Stats  data.Stats
	Steps  int    // taken in all
	Best   int    // step of the exported checkpoint
	Model  string // directory of the exported encoder
	Dev    map[string]float64
	Reason string // why training ended before its last step, if it did
}

// trainer is one training under way.
type trainer struct {
	config  Config
	options Options
	digest  string

	backend    compute.Backend
	vocabulary *encode.Vocabulary
	set        *data.Set
	batches    *data.Batches
	encoder    encoder.Encoder
	about      map[string]string // the encoder's nature, for checkpoints
	objective  objective.Objective
	teacher    *teacher.Teacher  // nil unless the preset names one
	heads      []*weights.Tensor // the objective's own
	optimiser  *optimiser.Optimiser
	steps      *step.Step
	live       live

	checkpoints checkpoints
	journal     *journal
	state       state
	judged      map[int]map[string]float64 // dev figures by step, of this run
}

// Run trains by a preset and exports the best checkpoint to Out/model. Bad input is a badinput error; after any error
// the checkpoints stand as they are.
func Run(ctx context.Context, c Config, o Options) (summary Summary, err error) {
	t := &trainer{config: c, options: o, checkpoints: checkpoints{filepath.Join(o.Out, checkpointsDir)}, judged: map[int]map[string]float64{}}
	if err := t.begin(); err != nil {
		return summary, err
	}
	if t.backend, err = openDevice(c, o); err != nil {
		return summary, err
	}
	defer t.backend.Finalize()
	defer func() { err = errors.Join(err, t.close()) }()
	if err := t.prepare(ctx); err != nil {
		return summary, err
	}
	if t.journal, err = openJournal(filepath.Join(o.Out, logFile), t.state.Step); err != nil {
		return summary, err
	}
	defer func() { err = errors.Join(err, t.journal.close()) }()
	summary.Stats = t.set.Stats
	if summary.Reason, err = t.loop(ctx); err != nil {
		return summary, err
	}
	if err := PlotLog(o.Out); err != nil {
		return summary, err
	}
	summary.Steps, summary.Model = t.state.Step, filepath.Join(o.Out, modelDir)
	summary.Best, summary.Dev, err = t.export(ctx)
	return summary, err
}

// CheckDevice is an error unless the device can be opened and has what the preset asks of it. Run checks it too; who
// does much before it can check first.
func CheckDevice(c Config, o Options) error {
	backend, err := openDevice(c, o)
	if err != nil {
		return err
	}
	backend.Finalize()
	return nil
}

func openDevice(c Config, o Options) (compute.Backend, error) {
	backend, err := device.Open(o.Device, o.Library)
	if err != nil || c.Encoder.Kind != "transformer" || c.Encoder.Transformer.Precision != layers.BFloat16 {
		return backend, err
	}
	if err := device.RequireBFloat16(o.Device, backend); err != nil {
		backend.Finalize()
		return nil, err
	}
	return backend, nil
}

// begin looks at the directory: a training must not be taken up by accident, nor under another preset.
func (t *trainer) begin() error {
	var err error
	if t.digest, err = t.config.Digest(); err != nil {
		return err
	}
	for _, d := range t.config.Dev {
		if _, err := os.Stat(d.Dir); err != nil { // now, and not after an hour
			return badinput.Errorf("dev: the test set of %s: %w", d.Protocol, err)
		}
	}
	if err := t.config.checkTeacher(); err != nil {
		return err
	}
	if err := os.MkdirAll(t.checkpoints.dir, 0o755); err != nil {
		return badinput.Errorf("the directory of the training: %w", err)
	}
	all, err := t.checkpoints.list()
	if err != nil {
		return err
	}
	t.state = state{Config: t.digest}
	config := filepath.Join(t.options.Out, configFile)
	if len(all) > 0 {
		last := all[len(all)-1]
		switch {
		case !t.options.Resume:
			return badinput.Errorf("%s holds a training, at step %d: resume it or choose another directory", t.options.Out, last.Step)
		case last.Config != t.digest:
			return badinput.Errorf("%s holds a training by another preset than this one: give its %s, or choose another directory", t.options.Out, configFile)
		}
		t.state = last
	}
	if len(all) == 0 {
		if err := t.clear(config); err != nil {
			return err
		}
	}
	text, err := yaml.Marshal(t.config)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(config, text)
}

// clear removes the vocabulary that a training left which had come to no checkpoint, unless it is this one that goes
// on.
func (t *trainer) clear(config string) error {
	if before, err := ReadConfig(config); err == nil && t.options.Resume {
		if digest, err := before.Digest(); err == nil && digest == t.digest {
			return nil
		}
	}
	err := os.Remove(filepath.Join(t.options.Out, vocabularyName(t.config.Tokenizer)))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// prepare reads the bitext and makes or loads everything that learns.
func (t *trainer) prepare(ctx context.Context) (err error) {
	c := &t.config
	if t.vocabulary, err = openVocabulary(ctx, c, t.options.Out, t.report); err != nil {
		return err
	}
	t.report("read the bitext")
	tokens := tokenOptions(c, t.vocabulary, c.Objective.Needs().Teacher != "")
	if t.set, err = data.Read(ctx, c.Bitext, tokens); err != nil {
		return err
	}
	bitext := t.set.Digest()
	if t.state.Step > 0 && t.state.Bitext != bitext {
		return badinput.Errorf("%s holds a training on other bitext than its sources now give: restore the files, or choose another directory", t.options.Out)
	}
	t.state.Bitext = bitext
	if err := t.newEncoder(); err != nil {
		return err
	}
	t.live = live{c.Name, t.encoder, c.Bitext, tokens}
	if err := t.openTeacher(); err != nil {
		return err
	}
	negatives, err := t.mineNegatives(ctx)
	if err != nil {
		return err
	}
	if t.batches, err = t.set.Batches(negatives); err != nil {
		return err
	}
	if t.objective, err = t.newObjective(tokens); err != nil {
		return err
	}
	t.heads = newTensors(t.objective.Heads(), c.Seed)
	t.steps = t.newStep()
	if t.optimiser, err = optimiser.New(c.Optimiser, append(t.encoder.Weights(), t.heads...)); err != nil {
		return err
	}
	return t.resume()
}

func (t *trainer) newEncoder() (err error) {
	if t.encoder, err = newEncoder(&t.config, t.vocabulary, t.backend, t.options.Out); err != nil {
		return err
	}
	n, err := newNature(&t.config, t.encoder, t.options.Out)
	if err != nil {
		return err
	}
	t.about, err = n.metadata()
	return err
}

// newStep joins the encoder and the objective.
func (t *trainer) newStep() *step.Step {
	heads := t.heads
	if t.config.Objective.Needs().Table {
		heads = append(slices.Clone(heads), t.encoder.Weights()[0]) // where both encoders keep it
	}
	return step.New(t.encoder, t.objective, heads, t.backend, step.Options{Chunk: t.config.Chunk, Accumulate: t.config.Accumulate})
}

// close gives back what prepare opened.
func (t *trainer) close() (err error) {
	if t.teacher != nil {
		err = t.teacher.Close()
	}
	if t.vocabulary != nil {
		t.vocabulary.Close()
	}
	return err
}

// diverged is the error of a training whose numbers can no longer be reckoned with: what is wrong, and which checkpoint
// stands.
func (t *trainer) diverged(format string, args ...any) error {
	stands := "there is no checkpoint before it"
	if all, err := t.checkpoints.list(); err != nil {
		return errors.Join(badinput.Errorf(format, args...), err)
	} else if len(all) > 0 {
		stands = "the checkpoint before it is " + t.checkpoints.path(all[len(all)-1].Step)
	}
	return badinput.Errorf("%s; %s: lower optimiser.learning_rate or set optimiser.clip", fmt.Sprintf(format, args...), stands)
}

func (t *trainer) report(what string) {
	if t.options.Report != nil {
		t.options.Report(what)
	}
}

// files are a checkpoint's.
func (t *trainer) files() map[string][]*weights.Tensor {
	return map[string][]*weights.Tensor{encoderFile: t.encoder.Weights(), headsFile: t.heads, optimiserFile: t.optimiser.State()}
}

// resume loads the checkpoint that t.state stands at and skips its batches.
func (t *trainer) resume() error {
	if t.state.Step == 0 {
		return nil
	}
	t.report(fmt.Sprintf("resume at step %d", t.state.Step))
	for file, tensors := range t.files() {
		if err := t.checkpoints.load(t.state.Step, file, tensors); err != nil {
			return err
		}
	}
	t.batches.Seek(t.state.Step * t.config.Accumulate)
	return nil
}

// judge gives the dev figures of the encoder as it is.
func (t *trainer) judge(ctx context.Context) (map[string]float64, error) {
	if len(t.config.Dev) == 0 {
		return nil, nil
	}
	return Judge(ctx, t.config.Dev, &eval.Embedder{Encoder: t.live}, t.options.Searcher)
}
