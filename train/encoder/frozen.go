package encoder

import (
	"strings"

	"bitextmine/internal/badinput"
	"bitextmine/train/layers"
	"bitextmine/train/weights"
)

// FrozenSettings name the part of a transformer that a training does not change. A checkpoint does not hold these
// weights: it names the place that they were read from, and the digest of their values.
type FrozenSettings struct {
	Embeddings bool `yaml:"embeddings"` // the tables of words, positions and token types, and their normalisation
	Layers     int  `yaml:"layers"`     // number of layers, from the first on
}

// Any reports whether something is frozen.
func (s FrozenSettings) Any() bool { return s != FrozenSettings{} }

// Check refuses more layers than an encoder of this shape has, and to freeze all of it.
func (s FrozenSettings) Check(shape Settings) error {
	if s.Layers < 0 || s.Layers > shape.Layers {
		return badinput.Errorf("encoder.freeze.layers is %d: it must be from 0 to %d, which is all layers", s.Layers,
			shape.Layers)
	}
	for _, spec := range shape.Specs() {
		if !s.has(spec.Name) {
			return nil
		}
	}
	return badinput.Errorf("encoder.freeze leaves nothing of the encoder to learn: freeze fewer than %d layers, or set encoder.transformer.projection", shape.Layers)
}

// Mark marks the weights that are frozen.
func (s FrozenSettings) Mark(all []*weights.Tensor) {
	for _, w := range all {
		w.Frozen = s.has(w.Name)
	}
}

func (s FrozenSettings) has(name string) bool {
	if strings.HasPrefix(name, "embeddings.") {
		return s.Embeddings
	}
	for i := range s.Layers {
		if strings.HasPrefix(name, layers.Name("layers", i)+".") {
			return true
		}
	}
	return false
}
