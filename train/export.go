package train

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"gopkg.in/yaml.v3"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
	"bitextmine/train/checkpoint"
	"bitextmine/train/data"
	"bitextmine/train/export"
	"bitextmine/train/objective"
	"bitextmine/train/weights"
)

// modelFile is the file name of an exported graph.
const modelFile = "model.onnx"

// agreement is the largest allowed difference between a value of the trainer's vectors and of ONNX Runtime's.
const agreement = 1e-5

// publish exports the best checkpoint as an encoder for mining, and returns its step and dev figures. If ONNX Runtime
// does not give the trainer's vectors, publish fails and an earlier export stays.
func (t *trainer) publish(ctx context.Context) (step int, figures map[string]float64, err error) {
	if step, err = t.checkpoints.Best(t.config.Stop.Metric); err != nil {
		return 0, nil, err
	}
	t.options.report(fmt.Sprintf("export step %d", step))
	if err := t.checkpoints.Load(step, checkpoint.Encoder, weights.Learned(t.encoder.Weights())); err != nil {
		return 0, nil, err
	}
	if _, ok := t.objective.(objective.Judge); ok { // its heads are a part of the graph
		if err := t.checkpoints.Load(step, checkpoint.Heads, t.heads); err != nil {
			return 0, nil, err
		}
	}
	final := filepath.Join(t.options.Out, modelDir)
	tmp := final + atomicfile.Suffix
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if err := errors.Join(os.RemoveAll(tmp), os.MkdirAll(tmp, 0o777)); err != nil {
		return 0, nil, err
	}
	x, err := newExport(&t.parts)
	if err != nil {
		return 0, nil, err
	}
	if err := x.write(tmp); err != nil {
		return 0, nil, err
	}
	if j, ok := t.objective.(objective.Judge); ok {
		err = x.finishJudge(ctx, j, tmp)
	} else {
		err = x.check(ctx, tmp)
	}
	if err != nil {
		return 0, nil, err
	}
	figures, known := t.figures[step]
	if !known || x.exact.Encoder != t.encoder { // evaluate the encoder as it is exported: a bag is rounded
		if figures, err = t.evaluate(ctx, x.exact); err != nil {
			return 0, nil, err
		}
	}
	if err := atomicfile.WriteBytes(filepath.Join(tmp, "README.md"), x.card(step, figures)); err != nil {
		return 0, nil, err
	}
	return step, figures, atomicfile.ReplaceDir(final, tmp)
}

// exported is the encoder of a training as it is exported.
type exported struct {
	*parts
	graph  *export.Graph
	logits string      // the output of a judge's graph
	exact  liveEncoder // gives the vectors that the graph must give: those of a rounded table
}

func newExport(p *parts) (x exported, err error) {
	x = exported{parts: p, exact: p.live()}
	x.graph, x.exact.Encoder, err = p.encoder.Export(p.config.Name)
	if j, ok := p.objective.(objective.Judge); ok && err == nil {
		head := export.Head{Poolings: []string{string(p.config.Encoder.Transformer.Pooling)}, Dense: j.Layers(p.heads)}
		x.logits, _ = x.graph.Head(export.Tokens, head, p.config.Encoder.Transformer.Width, export.Opset)
	}
	return x, err
}

// write writes the graph, with a second file for weights above 2 GiB, its manifest and its vocabulary into a directory.
func (x exported) write(dir string) error {
	external, err := x.graph.Write(dir, modelFile)
	if err != nil {
		return err
	}
	tokenizer := x.config.Tokenizer
	tokenizer.File = vocabularyName(tokenizer)
	if err := atomicfile.Copy(filepath.Join(dir, tokenizer.File),
		filepath.Join(x.options.Out, tokenizer.File)); err != nil {
		return err
	}
	tokens := model.TokenOutput{Output: export.Tokens}
	if width := x.encoder.Weights()[0].Shape[1]; width != x.encoder.Dim() {
		tokens.Dim = width
	}
	manifest := model.Manifest{
		Name: x.config.Name, ONNX: modelFile, External: external, Tokenizer: tokenizer,
		MaxTokens: cmp.Or(x.config.Export.MaxTokens, x.config.Bitext.MaxTokens), Prefixes: x.config.Prefixes,
		Inputs: model.Inputs{IDs: export.IDs, Mask: export.Mask}, Output: export.Vectors, Pooling: "none",
		Dim: x.encoder.Dim(), Tokens: tokens,
		Licence: x.config.Export.Licence, Languages: x.set.Languages, TrainedOn: x.config.Export.TrainedOn,
	}
	x.encoder.Describe(&manifest)
	if j, ok := x.objective.(objective.Judge); ok {
		x.describeJudge(j, &manifest)
	}
	return writeManifest(manifest, dir)
}

func writeManifest(m model.Manifest, dir string) error {
	text, err := yaml.Marshal(m)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(dir, model.FileName), text)
}

// check compares ONNX Runtime's vectors with the trainer's, for one sentence and for many, of the trainer's length.
func (x exported) check(ctx context.Context, dir string) (err error) {
	model, err := model.Load(dir)
	if err != nil {
		return fmt.Errorf("the exported encoder: %w", err)
	}
	model.MaxTokens = x.config.Bitext.MaxTokens
	runtime, err := encode.Open(model, encode.Options{Library: x.options.Library})
	if err != nil {
		return fmt.Errorf("the exported encoder: %w", err)
	}
	defer func() { err = errors.Join(err, runtime.Close()) }()
	var stats data.Stats
	var texts []string
	language := ""
	for p, err := range data.Pairs(ctx, x.config.Bitext, &stats) {
		if err != nil {
			return err
		}
		language = p.SourceLanguage
		if texts = append(texts, p.Source); len(texts) == devBatch {
			break
		}
	}
	for _, n := range []int{1, len(texts)} {
		want, got := make([]float32, n*runtime.Dim()), make([]float32, n*runtime.Dim())
		if err := errors.Join(x.exact.Encode(ctx, language, texts[:n], want),
			runtime.Encode(ctx, language, texts[:n], got)); err != nil {
			return err
		}
		for i := range want {
			if d := math.Abs(float64(got[i] - want[i])); d > agreement || math.IsNaN(d) {
				return badinput.Errorf("the exported encoder gives %q a vector that is off by %g, more than %g: it was not published;"+
					" a training whose loss did not fall has such weights, of another report this with the preset", texts[i/runtime.Dim()], d, agreement)
			}
		}
	}
	return nil
}

// Lock takes the lock of a directory of a training or of rounds, which it creates. Another holder is a
// *lockfile.Locked.
func Lock(out string) (release func() error, err error) {
	if err := os.MkdirAll(out, 0o777); err != nil {
		return nil, badinput.Errorf("the directory of the training: %w", err)
	}
	return lockfile.Lock(filepath.Join(out, lockFile))
}

// LastStep is the step of the last whole checkpoint of the training in a directory; 0: there is none.
func LastStep(out string) int {
	all, _, err := checkpoint.Dir{Path: filepath.Join(out, checkpointsDir)}.List()
	if err != nil || len(all) == 0 {
		return 0
	}
	return all[len(all)-1].Step
}

// refuseReplacing refuses a directory in which the training would replace what it is made from, an encoder or the
// preset, unless the preset is as a training writes it, or files that no training has written.
func refuseReplacing(c *Config, o *Options) error {
	err := model.RefuseReplacing(filepath.Join(o.Out, modelDir), c.Encoder.Start, c.Objective.Needs().Teacher)
	if err != nil || LastStep(o.Out) > 0 {
		return err
	}
	config := filepath.Join(o.Out, configFile)
	text, err := yaml.Marshal(c)
	if err != nil {
		return err
	}
	was, err := os.ReadFile(config)
	written := err == nil && bytes.Equal(was, text)
	if err := atomicfile.RefuseInput(config, o.Preset); err != nil && !written {
		return err
	}
	if _, err := os.Stat(filepath.Join(o.Out, lockFile)); err == nil { // a training's own
		return nil
	}
	for _, name := range []string{configFile, vocabularyName(c.Tokenizer), journalFile, modelDir} {
		path := filepath.Join(o.Out, name)
		if _, err := os.Lstat(path); err != nil || name == configFile && written || atomicfile.RefuseInput(path, c.Tokenizer.File) != nil {
			continue
		}
		return badinput.Errorf("%s would be replaced, and no training wrote it, as there is no %s beside it: name another output directory, or move it away",
			path, lockFile)
	}
	return nil
}

// openDirectory writes the preset into the directory, and returns the state from which its training goes on: that of
// the last checkpoint, or of step 0. It refuses a directory with a training that was not asked for, or by another
// preset.
func openDirectory(c *Config, o *Options, checkpoints checkpoint.Dir) (checkpoint.State, error) {
	begin := checkpoint.State{}
	digest, err := c.Digest()
	if err != nil {
		return begin, err
	}
	if err := checkpoints.Open(); err != nil {
		return begin, err
	}
	all, incomplete, err := checkpoints.List()
	if err != nil {
		return begin, err
	}
	for _, what := range incomplete {
		o.report(what)
	}
	begin.Config = digest
	config := filepath.Join(o.Out, configFile)
	switch {
	case len(all) == 0 && len(incomplete) > 0:
		return begin, badinput.Errorf("%s, and there is no other: remove it to begin again", incomplete[0])
	case len(all) == 0:
		if err := removeVocabulary(c, o); err != nil {
			return begin, err
		}
	default:
		begin = *all[len(all)-1]
		begin.Follow(c.Stop.Metric, all)
		switch {
		case !o.Resume:
			return begin, badinput.Errorf("%s holds a training, at step %d: go on with --resume, or choose another directory",
				o.Out, begin.Step)
		case begin.Config == digest:
		case began(begin.Config, config, digest):
			begin.Config = digest
			return begin, nil // its config stays until there is a checkpoint with the new digest
		default:
			return begin, badinput.Errorf("%s holds a training by another preset than this one%s: give its %s, or choose another directory",
				o.Out, c.unlike(config), configFile)
		}
	}
	text, err := yaml.Marshal(c)
	if err != nil {
		return begin, err
	}
	return begin, atomicfile.WriteBytes(config, text)
}

// began reports whether a checkpoint of an earlier version, which has another digest, is of the preset in its
// training's config, and that preset is the same as one with this digest.
func began(checkpoint, config, digest string) bool {
	before, err := ReadConfig(config)
	if err != nil {
		return false
	}
	was, err := before.wholeDigest()
	if err != nil || was != checkpoint {
		return false
	}
	now, err := before.Digest()
	return err == nil && now == digest
}

// removeVocabulary removes the vocabulary of a training that ended before its first checkpoint, since the preset or the
// bitext may be another now, unless the file is the user's own, which tokenizer.file names.
func removeVocabulary(c *Config, o *Options) error {
	path := filepath.Join(o.Out, vocabularyName(c.Tokenizer))
	if atomicfile.RefuseInput(path, c.Tokenizer.File) != nil {
		return nil
	}
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
