package laser

import (
	"fmt"
	"math"
	"strings"

	"bitextmine/model/architecture"
	"bitextmine/train/export"
)

// state is the tensors of a model.
type state struct {
	tensors map[string]*tensor
	used    map[string]bool
}

// newState reads a state_dict, whose names may begin with prefix.
func newState(v any, prefix string) (*state, error) {
	d, ok := v.(*dict)
	if !ok {
		return nil, fmt.Errorf("it has no weights (model)")
	}
	s := &state{map[string]*tensor{}, map[string]bool{}}
	for _, key := range d.keys {
		name, _ := key.(string)
		if t, ok := d.values[key].(*tensor); ok {
			s.tensors[strings.TrimPrefix(name, prefix)] = t
		}
	}
	return s, nil
}

// floats are a tensor's numbers, which must have the shape.
func (s *state) floats(name string, shape ...int) ([]float32, error) {
	t := s.tensors[name]
	if t == nil {
		return nil, fmt.Errorf("it has no tensor %s", name)
	}
	if fmt.Sprint(t.shape) != fmt.Sprint(shape) {
		return nil, fmt.Errorf("its tensor %s has the shape %v, not %v", name, t.shape, shape)
	}
	s.used[name] = true
	numbers, err := t.floats()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return numbers, nil
}

// unused is a tensor that no part of the graph has, or empty.
func (s *state) unused() string {
	for name := range s.tensors {
		if !s.used[name] {
			return name
		}
	}
	return ""
}

// writer writes a graph, and keeps its first error.
type writer struct {
	*export.Graph
	*state
	err   error
	nodes int
}

func newWriter(s *state, name string) *writer {
	w := &writer{Graph: export.NewGraph(name), state: s}
	w.Input(export.IDs, export.Int64, "batch", "tokens")
	return w
}

func attr(name string, value any) export.Attr { return export.Attr{Name: name, Value: value} }

// op writes a node and gives its output.
func (w *writer) op(op string, inputs []string, attrs ...export.Attr) string {
	w.nodes++
	out := fmt.Sprintf("x%d", w.nodes)
	w.Node(op, inputs, []string{out}, attrs...)
	return out
}

// constant writes numbers.
func (w *writer) constant(name string, shape []int, data any) string {
	if w.err == nil {
		w.Initializer(name, shape, data)
	}
	return name
}

// weights writes a tensor as it is.
func (w *writer) weights(name string, shape ...int) string {
	numbers, err := w.floats(name, shape...)
	if err != nil {
		w.fail(err)
		return name
	}
	return w.constant(name, shape, numbers)
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// finish writes the pooling over tokens [batch, tokens, width] and ends the graph.
func (w *writer) finish(tokens string, width int, first bool) (*export.Graph, error) {
	w.Node("Identity", []string{tokens}, []string{export.Tokens})
	if first {
		w.Node("Gather", []string{export.Tokens, w.constant("first", nil, []int64{0})}, []string{export.Vectors},
			attr("axis", 1))
	} else {
		w.Node("ReduceMax", []string{export.Tokens}, []string{export.Vectors}, attr("axes", []int64{1}),
			attr("keepdims", 0))
	}
	w.Output(export.Vectors, export.Float32, "batch", width)
	return w.Graph, w.err
}

// lstm is the shape of LASER2's encoder.
type lstm struct {
	rows, embedding, hidden, layers int
	both                            bool // directions
}

// graph writes layers of LSTMs over the tokens' vectors (Artetxe and Schwenk, 2019). All sentences of a batch have as
// many tokens, so that nothing is padded, which the program's packed sequences amount to.
func (l lstm) graph(s *state, name string) (*export.Graph, error) {
	w := newWriter(s, name)
	directions, kind := []string{""}, "forward"
	if l.both {
		directions, kind = append(directions, "_reverse"), "bidirectional"
	}
	n, h, width := len(directions), l.hidden, l.embedding
	x := w.op("Gather", []string{w.weights("embed_tokens.weight", l.rows, l.embedding), export.IDs}, attr("axis", 0))
	x = w.op("Transpose", []string{x}, attr("perm", []int64{1, 0, 2}))
	shape := w.constant("shape", []int{3}, []int64{0, 0, int64(n * h)})
	for i := range l.layers {
		var input, recurrent, bias []float32
		for _, d := range directions {
			at := fmt.Sprintf("_l%d%s", i, d)
			input = append(input, w.gates("lstm.weight_ih"+at, h, width)...)
			recurrent = append(recurrent, w.gates("lstm.weight_hh"+at, h, h)...)
			bias = append(append(bias, w.gates("lstm.bias_ih"+at, h)...), w.gates("lstm.bias_hh"+at, h)...)
		}
		if w.err != nil {
			return nil, w.err
		}
		at := fmt.Sprintf("lstm%d.", i)
		x = w.op("LSTM", []string{x, w.constant(at+"input", []int{n, 4 * h, width}, input),
			w.constant(at+"recurrent", []int{n, 4 * h, h}, recurrent), w.constant(at+"bias", []int{n, 8 * h}, bias)},
			attr("hidden_size", h), attr("direction", kind))
		x = w.op("Transpose", []string{x}, attr("perm", []int64{0, 2, 1, 3})) // [tokens, batch, directions, hidden]
		x = w.op("Reshape", []string{x, shape})
		width = n * h
	}
	return w.finish(w.op("Transpose", []string{x}, attr("perm", []int64{1, 0, 2})), width, false)
}

// gates reads the weights of an LSTM's four gates and gives them in ONNX's order: input, output, forget, cell, where
// PyTorch has input, forget, cell, output.
func (w *writer) gates(name string, hidden int, columns ...int) []float32 {
	numbers, err := w.floats(name, append([]int{4 * hidden}, columns...)...)
	if err != nil {
		w.fail(err)
		return nil
	}
	gate := len(numbers) / 4
	var all []float32
	for _, from := range []int{0, 3, 1, 2} {
		all = append(all, numbers[from*gate:(from+1)*gate]...)
	}
	return all
}

// transformer is the shape of LASER3's encoder, which is fairseq's TransformerEncoder.
type transformer struct {
	rows, width, inner, layers, heads, places int
	before                                    bool // layers normalise their input, not their output
	learned, sines, scaled                    bool // positions, and words times the root of the width
	activation                                string
	first                                     bool // the vector is the first token's, not the greatest values
}

// padding is fairseq's id of padding: positions are counted from the next.
const padding = 1

// epsilon of fairseq's layer normalisation.
const epsilon = 1e-5

func (t transformer) graph(s *state, name string) (*export.Graph, error) {
	w := newWriter(s, name)
	table, err := w.floats("embed_tokens.weight", t.rows, t.width)
	if err != nil {
		return nil, err
	}
	if t.scaled {
		for i := range table {
			table[i] *= float32(math.Sqrt(float64(t.width)))
		}
	}
	x := w.op("Gather", []string{w.constant("embed_tokens.weight", []int{t.rows, t.width}, table), export.IDs},
		attr("axis", 0))
	if t.learned || t.sines {
		x = w.op("Add", []string{x, t.positions(w)})
	}
	if w.tensors["layernorm_embedding.weight"] != nil {
		x = w.norm("layernorm_embedding", x, t.width)
	}
	for i := range t.layers {
		x = t.layer(w, fmt.Sprintf("layers.%d.", i), x)
	}
	if w.tensors["layer_norm.weight"] != nil {
		x = w.norm("layer_norm", x, t.width)
	}
	return w.finish(x, t.width, t.first)
}

// positions are the vectors of a sentence's positions, [tokens, width].
func (t transformer) positions(w *writer) string {
	var numbers []float32
	if t.learned {
		all, err := w.floats("embed_positions.weight", t.places+padding+1, t.width)
		if err != nil {
			w.fail(err)
			return ""
		}
		numbers = all[(padding+1)*t.width:]
	} else {
		numbers = architecture.Sines(padding+1, t.places, t.width)
	}
	table := w.constant("positions", []int{t.places, t.width}, numbers)
	length := w.op("Gather", []string{w.op("Shape", []string{export.IDs}), w.constant("one", []int{1}, []int64{1})},
		attr("axis", 0))
	return w.op("Slice", []string{table, w.constant("zero", []int{1}, []int64{0}), length})
}

// layer is attention and two dense layers, each with a residual connection.
func (t transformer) layer(w *writer, at, x string) string {
	part := func(norm string, f func(string) string) {
		y := x
		if t.before {
			y = w.norm(at+norm, y, t.width)
		}
		if x = w.op("Add", []string{f(y), x}); !t.before {
			x = w.norm(at+norm, x, t.width)
		}
	}
	part("self_attn_layer_norm", func(y string) string { return t.attention(w, at+"self_attn.", y) })
	part("final_layer_norm", func(y string) string {
		y = t.activate(w, w.dense(at+"fc1", y, t.width, t.inner))
		return w.dense(at+"fc2", y, t.inner, t.width)
	})
	return x
}

func (t transformer) attention(w *writer, at, x string) string {
	head := t.width / t.heads
	split := w.constant(at+"heads", []int{4}, []int64{0, 0, int64(t.heads), int64(head)})
	project := func(name string, perm ...int64) string {
		y := w.op("Reshape", []string{w.dense(at+name, x, t.width, t.width), split})
		return w.op("Transpose", []string{y}, attr("perm", perm))
	}
	query, key := project("q_proj", 0, 2, 1, 3), project("k_proj", 0, 2, 3, 1)
	value := project("v_proj", 0, 2, 1, 3)
	scale := w.constant(at+"scale", nil, []float32{float32(1 / math.Sqrt(float64(head)))})
	scores := w.op("MatMul", []string{w.op("Mul", []string{query, scale}), key})
	y := w.op("MatMul", []string{w.op("Softmax", []string{scores}, attr("axis", -1)), value})
	y = w.op("Transpose", []string{y}, attr("perm", []int64{0, 2, 1, 3}))
	y = w.op("Reshape", []string{y, w.constant(at+"whole", []int{3}, []int64{0, 0, int64(t.width)})})
	return w.dense(at+"out_proj", y, t.width, t.width)
}

// activate is fairseq's activation function.
func (t transformer) activate(w *writer, x string) string {
	number := func(name string, value float64) string {
		if !w.used["number "+name] {
			w.used["number "+name] = true
			w.constant(name, nil, []float32{float32(value)})
		}
		return name
	}
	if t.activation == "relu" {
		return w.op("Relu", []string{x})
	}
	erf := w.op("Erf", []string{w.op("Mul", []string{x, number("root", math.Sqrt(0.5))})})
	half := w.op("Mul", []string{x, number("half", 0.5)})
	return w.op("Mul", []string{half, w.op("Add", []string{erf, number("unit", 1)})})
}

// dense is a linear layer. PyTorch has the weights [out, in].
func (w *writer) dense(name, x string, in, out int) string {
	weight := w.op("Transpose", []string{w.weights(name+".weight", out, in)}, attr("perm", []int64{1, 0}))
	return w.op("Add", []string{w.op("MatMul", []string{x, weight}), w.weights(name+".bias", out)})
}

func (w *writer) norm(name, x string, width int) string {
	return w.op("LayerNormalization", []string{x, w.weights(name+".weight", width), w.weights(name+".bias", width)},
		attr("axis", -1), attr("epsilon", float32(epsilon)))
}
