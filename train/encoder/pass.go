package encoder

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/internal/badinput"
	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/layers"
	"bitextmine/train/weights"
)

// Pass is the computation of one or more sides in a transformer, concatenated and padded to the longest. Its graph
// takes Arguments first. Take builds the encoder from them, and AddGradients adds the gradients
// of the nodes that Take returns as learned.
type Pass struct {
	t         *Transformer
	n, length int
	ids       []int32 // [n, length]
	lengths   []int32 // [n]
	seed      uint64
	embedded  []float32 // [n, length, width]: sums of words, positions and types; zero where padded
}

// Pass concatenates sides and looks up their tokens. seed determines the dropout; 0 means no dropout and float32, as in
// evaluation.
func (t *Transformer) Pass(sides []data.Side, seed uint64) (*Pass, error) {
	p := &Pass{t: t, seed: seed}
	for _, s := range sides {
		p.n += s.N
		p.length = max(p.length, s.Length)
	}
	if p.length > t.MaxTokens {
		return nil, badinput.Errorf("a batch has sentences of %d tokens but max_tokens is %d: truncate them or raise max_tokens", p.length, t.MaxTokens)
	}
	p.ids = make([]int32, p.n*p.length)
	p.lengths = make([]int32, 0, p.n)
	row := 0
	for _, s := range sides {
		for i := range s.N {
			copy(p.ids[row*p.length:], s.IDs[i*s.Length:(i+1)*s.Length])
			row++
		}
		p.lengths = append(p.lengths, s.Lengths...)
	}
	return p, p.embed()
}

// Training reports whether the pass belongs to a training step and not to an evaluation.
func (p *Pass) Training() bool { return p.seed != 0 }

// Arguments are the first arguments of a graph: embedded tokens, lengths, inner weights, and the masks if there is
// dropout.
func (p *Pass) Arguments() *device.Arguments {
	args := &device.Arguments{}
	args.Give(tensors.FromFlatDataAndDimensions(p.embedded, p.n, p.length, p.t.Width),
		tensors.FromFlatDataAndDimensions(p.lengths, p.n))
	for _, w := range p.t.inner {
		args.Weight(w, p.t.resident)
	}
	if p.Training() && p.t.Dropout > 0 {
		args.Give(layers.Masks(p.t.maskShapes(p.n, p.length), p.t.Dropout, p.seed)...)
	}
	return args
}

// Taken is the encoder's part of a graph.
type Taken struct {
	Encoded
	Learned []*g.Node // embedded tokens and inner weights, unless frozen: the nodes whose gradients are needed
}

// Take builds the encoder from the first arguments of a graph and returns it with the other arguments. If training is
// false, everything is float32 and there is no dropout.
func (t *Transformer) Take(nodes []*g.Node, training bool) (Taken, []*g.Node) {
	embedded, lengths, nodes := nodes[0], nodes[1], nodes[2:]
	params, learned := map[string]*g.Node{}, []*g.Node{}
	if t.LearnsTables() {
		learned = append(learned, embedded)
	}
	for i, w := range t.inner {
		params[w.Name] = nodes[i]
		if !w.Frozen {
			learned = append(learned, nodes[i])
		}
	}
	nodes = nodes[len(t.inner):]
	s := t.Settings
	if !training {
		s.Precision = layers.Float32
	}
	var dropout *layers.Dropout
	if training && t.Dropout > 0 {
		count := len(s.maskShapes(1, 1))
		dropout, nodes = layers.NewDropout(nodes[:count], s.Dropout), nodes[count:]
	}
	return Taken{t.build(s, params, embedded, lengths, dropout), learned}, nodes
}

// AddGradients adds to the gradients of the weights. grads starts with those of Taken.Learned; it returns the others.
// If the inner weights are on the device, their gradients are, too, and grads has at most that of the embedded tokens.
func (p *Pass) AddGradients(grads [][]float32) [][]float32 {
	if p.t.LearnsTables() {
		p.unembed(grads[0])
		grads = grads[1:]
	}
	if p.t.resident != nil {
		return grads
	}
	for _, w := range weights.Learned(p.t.inner) {
		w.AddGradient(grads[0])
		grads = grads[1:]
	}
	return grads
}

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
	var names []string
	for _, spec := range shape.Specs() {
		names = append(names, spec.Name)
	}
	return s.CheckNames(names)
}

// CheckNames is Check for an encoder whose weights have these names.
func (s FrozenSettings) CheckNames(names []string) error {
	layers := 0
	for _, name := range names {
		layers = max(layers, layerOf(name)+1)
	}
	if s.Layers < 0 || s.Layers > layers {
		return badinput.Errorf("encoder.freeze.layers is %d: it must be from 0 to %d, which is all layers", s.Layers, layers)
	}
	if slices.ContainsFunc(names, func(name string) bool { return !s.has(name) }) {
		return nil
	}
	return badinput.Errorf("encoder.freeze leaves nothing of the encoder to learn: freeze fewer than %d layers, or set encoder.transformer.projection", layers)
}

// Mark marks the weights that are frozen.
func (s FrozenSettings) Mark(all []*weights.Tensor) {
	for _, w := range all {
		w.Frozen = s.has(w.Name)
	}
}

// has reports whether a weight is frozen, by its name here or in a published encoder.
func (s FrozenSettings) has(name string) bool {
	if layer := layerOf(name); layer >= 0 {
		return layer < s.Layers
	}
	return s.Embeddings && (strings.HasPrefix(name, "embeddings.") || name == "places")
}

var ofLayer = regexp.MustCompile(`(?:^|\.)(?:layers?|block)\.([0-9]{1,4})\.`)

// layerOf is the number of the layer that a weight belongs to, or -1.
func layerOf(name string) int {
	m := ofLayer.FindStringSubmatch(name)
	if m == nil {
		return -1
	}
	n, _ := strconv.Atoi(m[1]) // four digits at most
	return n
}
