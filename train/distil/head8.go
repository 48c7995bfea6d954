package distil

import (
	"context"
	"math"

	"bitextmine/encode"
	"bitextmine/train/export"
)

// A head in 8 bits takes numbers of its products' inputs from fixed ranges, seen on held-out sentences, so that a
// sentence's vector still depends on the sentence alone: a dynamic range would be the batch's. Weights have 7 bits a
// number and a scale a column, so that sums of two products fit into 16 bits, which processors without VNNI add them
// in.

// span is the range of a tensor's numbers.
type span struct{ low, high float32 }

// headroom is how far beyond what was seen a range goes.
const headroom = 1.1

// inputs lists the tensors that the head multiplies by weights, each once.
func (h *head) inputs() []string {
	var names []string
	seen := map[string]bool{}
	for i := range h.nodes {
		if in, _, ok := h.product(i); ok && !seen[in] {
			seen[in] = true
			names = append(names, in)
		}
	}
	return names
}

// product says whether node i multiplies a tensor by a float32 matrix of the head, and which.
func (h *head) product(i int) (input, weight string, ok bool) {
	n := h.nodes[i]
	if n.Op != "MatMul" {
		return "", "", false
	}
	for _, w := range h.weights {
		if w.Name == n.Inputs[1] {
			shape, _, float := float32Weights(w)
			return n.Inputs[0], w.Name, float && len(shape) == 2
		}
	}
	return "", "", false
}

// spans runs a student with its float32 head and takes the ranges of the head's inputs.
func (r *run) spans(ctx context.Context, model *encode.Model, h *head, sentences [][]int32) (map[string]span, error) {
	spans := map[string]span{}
	for _, name := range h.inputs() {
		rows, err := r.vectorsOf(ctx, model, name, sentences)
		if err != nil {
			return nil, err
		}
		s := span{0, 0}
		for _, x := range rows {
			s.low, s.high = min(s.low, x), max(s.high, x)
		}
		spans[name] = s
	}
	return spans, nil
}

// addProduct adds node i in 8 bits.
func (h *head) addProduct(g *export.Graph, i int, done map[string]bool) {
	input, weight, _ := h.product(i)
	s := h.spans[input]
	zero, step := uint8(0), s.high*headroom/255
	if s.low < 0 {
		zero, step = 128, max(-s.low, s.high)*headroom/127
	}
	step = max(step, math.SmallestNonzeroFloat32*1e10)
	name := own + input
	if !done[input] {
		done[input] = true
		g.Initializer(name+".step", nil, []float32{step})
		g.Initializer(name+".zero", nil, []uint8{zero})
		g.Node("QuantizeLinear", []string{input, name + ".step", name + ".zero"}, []string{name + ".bytes"})
	}
	out := h.nodes[i].Outputs[0]
	if !done[weight] {
		done[weight] = true
		shape, numbers, scales := h.bytes(weight)
		for k := range scales {
			scales[k] *= step
		}
		g.Initializer(own+weight, shape, numbers)
		g.Initializer(own+weight+".scales", []int{shape[1]}, scales)
	}
	g.Node("MatMulInteger", []string{name + ".bytes", own + weight, name + ".zero"}, []string{own + out + ".whole"})
	g.Node("Cast", []string{own + out + ".whole"}, []string{own + out + ".float"}, export.Attr{Name: "to", Value: int(export.Float32)})
	g.Node("Mul", []string{own + out + ".float", own + weight + ".scales"}, []string{out})
}

// bytes rounds a matrix [rows, columns] with a scale a column.
func (h *head) bytes(weight string) (shape []int, numbers []int8, scales []float32) {
	const most = 63
	for _, w := range h.weights {
		if w.Name != weight {
			continue
		}
		var values []float32
		shape, values, _ = float32Weights(w)
		columns := shape[1]
		scales, numbers = make([]float32, columns), make([]int8, len(values))
		for i, x := range values {
			scales[i%columns] = max(scales[i%columns], float32(math.Abs(float64(x)))/most)
		}
		for i, x := range values {
			if s := scales[i%columns]; s > 0 {
				numbers[i] = int8(math.RoundToEven(float64(x / s)))
			}
		}
	}
	return shape, numbers, scales
}
