package encoder

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/gomlx/compute"

	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/badinput"
	"bitextmine/train/checkpoint"
	"bitextmine/train/export"
	"bitextmine/train/layers"
	"bitextmine/train/weights"
)

func init() {
	Register(Kind{
		Name: transformerKind, Graph: true, Judges: true, Freezes: true,
		BFloat16:   func(c Config) bool { return c.Transformer.Precision == layers.BFloat16 },
		Validate:   validateTransformer,
		CheckStart: checkShape,
		Dim:        transformerDim,
		New:        startTransformer,
	})
}

func validateTransformer(p Preset, check Check) (sections []func() error) {
	if p.Start == "" {
		shape := p.Transformer
		shape.Vocabulary, shape.MaxTokens = 1, p.MaxTokens // other sections determine the vocabulary
		sections = append(sections, shape.Validate)
	}
	lora := p.Transformer.LoRA.Rank > 0
	check(!lora || p.Start != "", "encoder.transformer.lora needs encoder.start, whose weights it adapts")
	check(!lora || !p.Freeze.Any(), "encoder.transformer.lora freezes all other weights: remove encoder.freeze")
	p.Transformer.LoRA.Check(func(ok bool, format string, args ...any) {
		check(ok || p.Start == "", "encoder.transformer."+format, args...) // the shape reports it if there is no start
	})
	check(p.Freeze.Layers >= 0, "encoder.freeze.layers is %d but cannot be negative", p.Freeze.Layers)
	check(!p.Freeze.Any() || p.Start != "", "encoder.freeze needs encoder.start, whose weights it keeps")
	return sections
}

// checkShape refuses settings that the shape of encoder.start contradicts, and frozen layers that it does not have.
func checkShape(p Preset) error {
	if p.Start == "" {
		return nil
	}
	shape, err := p.startShape()
	if err != nil {
		return err
	}
	was, given, defaults := shape.ofStart(), p.Transformer.ofStart(), DefaultSettings().ofStart()
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if given[name] != was[name] && given[name] != defaults[name] {
			return badinput.Errorf("encoder.transformer.%s is %v, but encoder.start, whose shape the encoder has, says %v: leave it out, or write the same",
				name, given[name], was[name])
		}
	}
	if !p.Freeze.Any() {
		return nil
	}
	return p.Freeze.Check(shape)
}

// ofStart are the settings that encoder.start determines, by their names in a preset.
func (s Settings) ofStart() map[string]any {
	return map[string]any{"layers": s.Layers, "heads": s.Heads, "width": s.Width, "ffn": s.FFN, "norm": s.Norm,
		"positions": s.Positions, "position_offset": s.PositionOffset, "token_types": s.TokenTypes,
		"activation": s.Activation, "epsilon": s.Epsilon}
}

// shapedAs is the settings with those that encoder.start determines taken from another transformer.
func (s Settings) shapedAs(t Settings) Settings {
	s.Layers, s.Heads, s.Width, s.FFN, s.Norm, s.Positions = t.Layers, t.Heads, t.Width, t.FFN, t.Norm, t.Positions
	s.PositionOffset, s.TokenTypes, s.Activation, s.Epsilon = t.PositionOffset, t.TokenTypes, t.Activation, t.Epsilon
	return s
}

// Shaped is the section with the shape that encoder.start gives a transformer.
func (c Config) Shaped() (Config, error) {
	if c.Start == "" || c.Kind != transformerKind {
		return c, nil
	}
	shape, err := c.startShape()
	c.Transformer = c.Transformer.shapedAs(shape)
	return c, err
}

// Unshaped is the section as Shaped got it: without what encoder.start determines.
func (c Config) Unshaped() Config {
	if c.Start != "" && c.Kind == transformerKind {
		c.Transformer = c.Transformer.shapedAs(DefaultSettings())
	}
	return c
}

const transformerKind = "transformer"

func transformerDim(p Preset) (int, error) {
	if p.Start == "" || p.Transformer.Projection > 0 {
		return p.Transformer.Dim(), nil
	}
	shape, err := p.startShape()
	return shape.Dim(), err
}

// startTransformer makes the preset's transformer with new weights, or with those of a checkpoint or a published model,
// which determine its shape.
func startTransformer(p Preset, v *tokenizer.Vocabulary, backend compute.Backend) (Encoder, error) {
	if p.Start == "" {
		settings := p.Transformer
		settings.Vocabulary, settings.MaxTokens = v.Rows(), p.MaxTokens
		return newTransformer(settings, backend, NewTensors(settings.Specs(), p.Seed))
	}
	found, err := p.hasCheckpoint()
	if err != nil {
		return nil, err
	}
	if found {
		return continued(p, backend)
	}
	settings, tensors, err := readPublished(p.Start, p.Transformer.Pooling)
	if err != nil {
		return nil, err
	}
	if v.Rows() > settings.Vocabulary {
		return nil, badinput.Errorf("%s has %d words, but ids of %s reach %d: give the tokenizer that was published with the weights",
			p.Start, settings.Vocabulary, p.Tokenizer.File, v.Rows()-1)
	}
	settings = p.following(settings)
	tensors = append(tensors, NewTensors(settings.AddedSpecs(), p.Seed)...)
	settings.Freeze(p.Freeze, tensors)
	return newTransformer(settings, backend, tensors)
}

// continued is the transformer of a checkpoint.
func continued(p Preset, backend compute.Backend) (Encoder, error) {
	stored, was, err := p.readCheckpoint()
	if err != nil {
		return nil, err
	}
	path := p.checkpointFile()
	switch {
	case was.Transformer == nil:
		return nil, badinput.Errorf("%s is of a %s without a shape: name a checkpoint that this program wrote", path,
			was.Kind)
	case was.Transformer.Projection > 0 &&
		!slices.Contains([]int{0, was.Transformer.Projection}, p.Transformer.Projection):
		return nil, badinput.Errorf("%s has a projection to %d numbers, but encoder.transformer.projection is %d: write the same, or leave it out",
			path, was.Transformer.Projection, p.Transformer.Projection)
	}
	settings := p.following(*was.Transformer)
	has := func(s weights.Spec) bool {
		return slices.ContainsFunc(stored, func(w *weights.Tensor) bool { return w.Name == s.Name })
	}
	stored = append(stored, NewTensors(slices.DeleteFunc(settings.AddedSpecs(), has), p.Seed)...)
	tensors, err := weights.Arrange(settings.Specs(), stored)
	if err != nil {
		return nil, badinput.Errorf("%s: %w", path, err)
	}
	settings.Freeze(p.Freeze, tensors)
	return newTransformer(settings, backend, tensors)
}

// newTransformer is NewTransformer with a nil interface in the case of an error.
func newTransformer(s Settings, backend compute.Backend, tensors []*weights.Tensor) (Encoder, error) {
	t, err := NewTransformer(s, backend, tensors)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// following is the settings of a transformer that continues from other weights: their shape, with the preset's dropout,
// pooling, precision and adapters, and with the preset's projection where the weights have none.
func (c Config) following(was Settings) Settings {
	was.Dropout, was.Pooling, was.Precision = c.Transformer.Dropout, c.Transformer.Pooling, c.Transformer.Precision
	was.LoRA = c.Transformer.LoRA
	was.KeepAttention = c.Transformer.KeepAttention
	if was.Projection == 0 {
		was.Projection = c.Transformer.Projection
	}
	return was
}

// startShape is the shape of the transformer that continues from encoder.start.
func (c Config) startShape() (Settings, error) {
	if found, _ := c.hasCheckpoint(); !found {
		shape, err := ReadShape(c.Start)
		return c.following(shape), err
	}
	_, metadata, err := weights.ReadFile(c.checkpointFile(), func(string) bool { return false })
	if err != nil {
		if damaged := checkpoint.Verify(c.Start, checkpoint.Encoder); damaged != nil {
			err = damaged
		}
		return Settings{}, badinput.Errorf("encoder.start: %w", err)
	}
	var was Architecture
	if err := json.Unmarshal([]byte(metadata[checkpoint.Architecture]), &was); err != nil || was.Transformer == nil {
		return c.Transformer, nil // New reports the problem
	}
	return c.following(*was.Transformer), nil
}

// Longest is the number of positions.
func (t *Transformer) Longest() int { return t.MaxTokens }

// Architecture has the shape.
func (t *Transformer) Architecture() Architecture { return Architecture{Transformer: &t.Settings} }

// Describe adds nothing.
func (t *Transformer) Describe(*model.Manifest) {}

// Export returns the graph in float32, which gives the vectors of the transformer itself.
func (t *Transformer) Export(name string) (*export.Graph, Encoder, error) {
	return t.Graph(name), t, nil
}
