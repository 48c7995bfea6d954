package start

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/compute"

	"bitextmine/encode/model"
	"bitextmine/encode/onnxgraph"
	"bitextmine/internal/badinput"
	"bitextmine/train/encoder"
	"bitextmine/train/export"
	"bitextmine/train/layers"
	"bitextmine/train/weights"
)

// Imported is an encoder that `mine model import` made, or a training, of whatever architecture: its graph is the
// published one, node by node, with other weights.
type Imported struct {
	*encoder.Transformer
	of *imported
}

var _ encoder.Encoder = (*Imported)(nil)

// imported is the graph of an encoder and what its manifest says of it. Nothing in it changes.
type imported struct {
	start      *model.Model
	graph      *onnxgraph.Graph
	inputs     model.Inputs
	operations []operation

	words          string // name of the table that the ids are looked up in
	output, tokens string
	pooling        model.Pooling

	constants map[string]*weights.Tensor // numbers that do not learn: scalars, and those that angles of places are made of
	wholes    map[string]counts
	adaptable []string // matrices of the tokens' dense layers
}

// afterPooling begins the names of weights of the layers after the pooling, as package export writes them.
const afterPooling = "mine."

// openImported reads the encoder that encoder.start names, and its weights.
func openImported(ref string) (*imported, []*weights.Tensor, error) {
	start, err := find(ref)
	if err != nil {
		return nil, nil, err
	}
	m, all, err := readImported(start)
	if err != nil {
		return nil, nil, badinput.Errorf("encoder.start: %s cannot be trained: %w", start.Name, err)
	}
	return m, all, nil
}

func readImported(start *model.Model) (*imported, []*weights.Tensor, error) {
	m := &imported{start: start, inputs: start.Inputs, output: start.Output, pooling: start.Pooling, tokens: start.Tokens.Output,
		constants: map[string]*weights.Tensor{}, wholes: map[string]counts{}}
	if start.Pooling != model.None {
		m.tokens = start.Output
	}
	switch {
	case start.Centre.File != "":
		return nil, nil, fmt.Errorf("a mean is subtracted from its vectors: remove centre from its %s, and subtract the mean of the trained encoder", model.FileName)
	case start.Quantised != 0:
		return nil, nil, fmt.Errorf("its weights are of 8 bits: start from the encoder that was quantised")
	case m.tokens == "":
		return nil, nil, fmt.Errorf("its %s names no tokens.output: import it again", model.FileName)
	}
	raw, err := start.Graph()
	if err != nil {
		return nil, nil, err
	}
	if m.graph, err = onnxgraph.Parse(raw); err != nil {
		return nil, nil, err
	}
	if err := m.readOperations(); err != nil {
		return nil, nil, err
	}
	all, err := m.readWeights()
	return m, all, err
}

// readOperations reads the nodes that the vectors need, and refuses one that cannot be computed.
func (m *imported) readOperations() error {
	nodes, _ := m.graph.Between("", m.output)
	more, _ := m.graph.Between("", m.tokens)
	nodes = slices.Compact(slices.Sorted(slices.Values(append(nodes, more...))))
	sized := map[string]bool{} // numbers of tokens
	for _, i := range nodes {
		n := m.graph.Nodes[i]
		if operators[n.Op] == nil || n.Subgraphs {
			return fmt.Errorf("its graph has the operator %s, whose gradient is not known here: import its safetensors without an ONNX file, if it has any", n.Op)
		}
		attributes, err := n.Attributes()
		if err != nil {
			return err
		}
		o := operation{name: n.Op, in: n.Inputs, out: n.Outputs, ints: map[string][]int{}}
		for name, a := range attributes {
			o.ints[name] = a.Ints
		}
		o.epsilon = float64(attributes["epsilon"].Float)
		m.operations = append(m.operations, o)
		switch {
		case n.Op == "Gather" && n.Inputs[1] == m.inputs.IDs:
			if m.words != "" && m.words != n.Inputs[0] {
				return fmt.Errorf("its graph looks ids up in two tables, %s and %s: name another encoder", m.words, n.Inputs[0])
			}
			m.words = n.Inputs[0]
		case n.Op == "Gather" && sized[n.Inputs[0]] || n.Op == "Shape":
			sized[n.Outputs[0]] = true
		case n.Op == "Cast" && sized[n.Inputs[0]]:
			return fmt.Errorf("its pooling counts the tokens (weighted mean, or mean over the root), which is not trained here: import it with --pooling mean")
		}
	}
	if m.words == "" {
		return fmt.Errorf("its graph does not look the ids up in a table: name an encoder with a table of words")
	}
	return nil
}

// readWeights reads all numbers that the operations take. Those of the table of words come first.
func (m *imported) readWeights() (all []*weights.Tensor, err error) {
	taken, fixed, matrices := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, o := range m.operations {
		for _, name := range o.in {
			taken[name] = true
		}
		switch o.name {
		case "Cos", "Sin":
			_, ofAngles := m.graph.Between("", o.out[0])
			for name := range ofAngles {
				fixed[name] = true
			}
		case "MatMul":
			matrices[o.in[1]] = true
		}
	}
	external := m.start.OpenExternal()
	defer func() { err = errors.Join(err, external.Close()) }()
	all = make([]*weights.Tensor, 1)
	for _, w := range m.graph.Initializers {
		if !taken[w.Name] {
			continue
		}
		t, err := m.readWeight(w, external)
		switch {
		case err != nil:
			return nil, err
		case t == nil: // whole numbers
		case len(t.Shape) == 0 || fixed[w.Name]:
			m.constants[w.Name] = t
		case w.Name == m.words:
			t.Name, all[0] = encoder.Words, t
		default:
			all = append(all, t)
			if matrices[w.Name] && len(t.Shape) == 2 && !strings.HasPrefix(w.Name, afterPooling) {
				m.adaptable = append(m.adaptable, w.Name)
			}
		}
	}
	if all[0] == nil || len(all[0].Shape) != 2 {
		return nil, fmt.Errorf("its table of words, %s, is computed or has another shape than [words, width]: import it again", m.words)
	}
	return all, nil
}

// readWeight reads one tensor; nil if it is of whole numbers.
func (m *imported) readWeight(w onnxgraph.Initializer, external *model.External) (*weights.Tensor, error) {
	at, err := w.Weight(external.Open)
	if err != nil {
		return nil, err
	}
	raw, err := at.Read(0, at.Size)
	if err != nil {
		return nil, err
	}
	read := onnxgraph.Tensor{Shape: at.Shape, Type: at.Type, Data: raw}
	switch at.Type {
	case onnxgraph.Int64:
		m.wholes[w.Name] = counts{read.Int64s(), at.Shape}
		return nil, nil
	case onnxgraph.Float32:
		t := &weights.Tensor{Name: w.Name, Shape: at.Shape, Data: read.Float32s(), NoDecay: len(at.Shape) < 2}
		if len(t.Shape) > 0 && !t.Sound() { // a mask's number may be as large as it likes
			return nil, fmt.Errorf("%s holds numbers that are infinite, or nearly so, or none at all: import it again", w.Name)
		}
		return t, nil
	}
	return nil, fmt.Errorf("its weight %s is not of float32: start from the encoder with whole weights", w.Name)
}

// newImported makes the encoder of encoder.start, with the preset's adapters.
func newImported(m *imported, tensors []*weights.Tensor, p encoder.Preset, backend compute.Backend) (*Imported, error) {
	words := tensors[0]
	s := encoder.Settings{Width: words.Shape[1], Vocabulary: words.Rows(), MaxTokens: m.start.MaxTokens, Precision: p.Imported.Precision,
		LoRA: p.Imported.LoRA}
	if m.start.Dim != s.Width {
		s.Projection = m.start.Dim
	}
	if p.Freeze.Any() {
		if err := p.Freeze.CheckNames(namesOf(tensors)); err != nil {
			return nil, err
		}
	}
	byName := map[string]*weights.Tensor{}
	for _, w := range tensors {
		byName[w.Name] = w
	}
	if s.LoRA.Rank > 0 {
		for _, name := range m.adaptable {
			shape := byName[name].Shape
			tensors = append(tensors, encoder.NewTensors(s.LoRA.Specs(layers.Adapted(name), shape[0], shape[1]), p.Seed)...)
		}
	}
	s.Freeze(p.Freeze, tensors)
	return &Imported{encoder.WithGraph(s, backend, tensors, m.read), m}, nil
}

func namesOf(all []*weights.Tensor) []string {
	names := make([]string, len(all))
	for i, w := range all {
		names[i] = w.Name
	}
	return names
}

// Architecture adds nothing: the graph is where the training started.
func (t *Imported) Architecture() encoder.Architecture { return encoder.Architecture{} }

// Describe has the graph run as the start's is.
func (t *Imported) Describe(m *model.Manifest) {
	was := t.of.start
	m.Inputs, m.Output, m.Pooling, m.Normalise, m.Tokens = was.Inputs, was.Output, was.Pooling, was.Normalise, was.Tokens
	if m.Licence == "" {
		m.Licence = was.Licence
	}
	m.TrainedOn = slices.Concat(was.TrainedOn, m.TrainedOn)
}

// Export returns the start's graph with the trained weights, adapters merged.
func (t *Imported) Export(name string) (*export.Graph, encoder.Encoder, error) {
	from := t.of.graph
	g := export.NewGraph(name)
	for _, input := range from.Inputs {
		g.Input(input, export.Int64, "batch", "tokens")
	}
	merged := map[string]*weights.Tensor{}
	for _, w := range t.Merged(t.Weights()) {
		merged[w.Name] = w
	}
	merged[t.of.words] = merged[encoder.Words]
	for _, w := range from.Initializers {
		if learned := merged[w.Name]; learned != nil {
			g.Initializer(w.Name, learned.Shape, learned.Data)
		} else {
			g.RawInitializer(w.Raw)
		}
	}
	for _, n := range from.Nodes {
		g.RawNode(n.Raw)
	}
	for _, output := range from.Outputs {
		dims := []any{}
		for i, d := range from.Shapes[output] {
			if d < 0 {
				dims = append(dims, []string{"batch", "tokens"}[min(i, 1)])
				continue
			}
			dims = append(dims, d)
		}
		g.Output(output, export.Float32, dims...)
	}
	for domain, version := range from.Opsets {
		g.Opset(domain, version)
	}
	return g, t, nil
}
