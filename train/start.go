package train

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gomlx/compute"

	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/badinput"
	"bitextmine/train/checkpoint"
	"bitextmine/train/encoder"

	"bitextmine/train/static"
	"bitextmine/train/weights"
)

// startEncoder makes the encoder of encoder.start: of a checkpoint that mine train left or, for a transformer, of
// published weights. dir is the training's own.
func startEncoder(c *Config, v *tokenizer.Vocabulary, backend compute.Backend, dir string) (encoder.Encoder, error) {
	if c.Encoder.Kind == "static" {
		return static.Load(c.Encoder.Start, c.Encoder.Static, v.Rows())
	}
	path := filepath.Join(c.Encoder.Start, checkpoint.Encoder)
	_, err := os.Stat(path)
	switch {
	case err == nil:
		return continued(c, v, backend, dir, path)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, badinput.Errorf("encoder.start: %w", err)
	case c.Encoder.Kind == "bag":
		return nil, badinput.Errorf("encoder.start: %s is missing: name a checkpoint of a training, OUT/%s/step-N", path, checkpointsDir)
	}
	return published(c, v, backend)
}

// published is a transformer of weights that others published, which give it its shape.
func published(c *Config, v *tokenizer.Vocabulary, backend compute.Backend) (encoder.Encoder, error) {
	settings, tensors, err := encoder.ReadPublished(c.Encoder.Start, c.Encoder.Transformer.Pooling)
	if err != nil {
		return nil, err
	}
	if v.Rows() > settings.Vocabulary {
		return nil, badinput.Errorf("%s has %d words, but ids of %s reach %d: give the tokenizer that was published with the weights",
			c.Encoder.Start, settings.Vocabulary, c.Tokenizer.File, v.Rows()-1)
	}
	preset := c.Encoder.Transformer
	settings.Dropout, settings.Precision, settings.Projection = preset.Dropout, preset.Precision, preset.Projection
	tensors = append(tensors, newTensors(settings.ProjectionSpecs(), c.Seed)...)
	c.Encoder.Freeze.Mark(tensors)
	return encoder.NewTransformer(settings, backend, tensors)
}

// continued is the encoder of a checkpoint's file. A transformer gets its shape, too; a bag must be of the preset's.
func continued(c *Config, v *tokenizer.Vocabulary, backend compute.Backend, dir, path string) (encoder.Encoder, error) {
	if err := checkpoint.Verify(c.Encoder.Start, checkpoint.Encoder); err != nil {
		return nil, badinput.Errorf("encoder.start: %w", err)
	}
	stored, metadata, err := ReadFrozen(c.Encoder.Start)
	if err != nil {
		return nil, badinput.Errorf("encoder.start: %w", err)
	}
	was, err := c.mayFollow(metadata[checkpoint.Architecture], dir, path)
	if err != nil {
		return nil, err
	}
	if was.Transformer != nil {
		settings := c.following(*was.Transformer)
		if was.Transformer.Projection == 0 {
			stored = append(stored, newTensors(settings.ProjectionSpecs(), c.Seed)...)
		}
		tensors, err := weights.Arrange(settings.Specs(), stored)
		if err != nil {
			return nil, badinput.Errorf("%s: %w", path, err)
		}
		c.Encoder.Freeze.Mark(tensors)
		return encoder.NewTransformer(settings, backend, tensors)
	}
	bag, err := newBag(c, v)
	if err != nil {
		return nil, err
	}
	var specs []weights.Spec
	for _, w := range bag.Weights() {
		specs = append(specs, weights.Spec{Name: w.Name, Shape: w.Shape, NoDecay: w.NoDecay})
	}
	tensors, err := weights.Arrange(specs, stored)
	if err != nil {
		return nil, badinput.Errorf("%s: %w", path, err)
	}
	for i, w := range bag.Weights() {
		copy(w.Data, tensors[i].Data)
	}
	return bag, nil
}

// following is the settings of a transformer that goes on from a checkpoint's: its shape, with the preset's dropout,
// pooling and precision, and with the preset's projection where the checkpoint has none.
func (c *Config) following(was encoder.Settings) encoder.Settings {
	preset := c.Encoder.Transformer
	was.Dropout, was.Pooling, was.Precision = preset.Dropout, preset.Pooling, preset.Precision
	if was.Projection == 0 {
		was.Projection = preset.Projection
	}
	return was
}

// checkFiles refuses, before anything is read, test sets that are missing and a teacher that cannot be used.
func (c *Config) checkFiles() error {
	for _, d := range c.Dev {
		if !exists(d.Dir) {
			return badinput.Errorf("dev: the test set of %s: %s is missing: fetch it, or remove it from dev", d.Protocol, d.Dir)
		}
	}
	if c.Encoder.Freeze.Any() {
		shape, err := c.startShape()
		if err != nil {
			return err
		}
		if err := c.Encoder.Freeze.Check(shape); err != nil {
			return err
		}
	}
	return c.checkTeacher()
}

// checkTeacher refuses a teacher that is missing or whose vectors do not fit the encoder's.
func (c *Config) checkTeacher() error {
	needs := c.Objective.Needs()
	if needs.Teacher == "" {
		return nil
	}
	model, err := model.Load(needs.Teacher)
	if err != nil {
		return badinput.Errorf("objective.teacher: %w", err)
	}
	if !needs.SameDim {
		return nil
	}
	dim, err := c.vectorDim()
	if err != nil {
		return err
	}
	return c.Objective.CheckDim(dim, model.Dim)
}

// vectorDim is the number of values of the vectors that the preset's encoder will give. Of files it reads the shape
// alone.
func (c *Config) vectorDim() (int, error) {
	transformer := c.Encoder.Transformer
	switch {
	case c.Encoder.Kind == "bag":
		return c.Encoder.Bag.Dim, nil
	case c.Encoder.Kind == "static":
		m, err := static.Find(c.Encoder.Start)
		if err != nil {
			return 0, err
		}
		return m.Dim, nil
	case c.Encoder.Start == "" || transformer.Projection > 0:
		return transformer.Dim(), nil
	}
	shape, err := c.startShape()
	return shape.Dim(), err
}

// startShape is the shape of the transformer that goes on from encoder.start.
func (c *Config) startShape() (encoder.Settings, error) {
	path := filepath.Join(c.Encoder.Start, checkpoint.Encoder)
	if !exists(path) {
		shape, err := encoder.ReadShape(c.Encoder.Start)
		return c.following(shape), err
	}
	_, metadata, err := weights.ReadFile(path, func(string) bool { return false })
	if err != nil {
		return encoder.Settings{}, badinput.Errorf("encoder.start: %w", err)
	}
	var was architecture
	if err := json.Unmarshal([]byte(metadata[checkpoint.Architecture]), &was); err != nil || was.Transformer == nil {
		return c.Encoder.Transformer, nil // newEncoder says what is wrong with it
	}
	return c.following(*was.Transformer), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
