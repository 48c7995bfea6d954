package student

import (
	"math"

	"bitextmine/train/export"
)

// A head in 8 bits takes the numbers of its products' inputs from fixed ranges, measured on held-out sentences: a
// dynamic range would be the batch's, and a sentence's vector has to depend on the sentence alone. Weights have 7 bits a
// number and a scale a column, so that sums of two products fit into the 16 bits in which processors without VNNI add.

// Span is the range of a tensor's numbers.
type Span struct{ Low, High float32 }

// headroom widens the measured ranges.
const headroom = 1.1

// Inputs lists the tensors that the head multiplies by weights, each once.
func (h *Head) Inputs() []string {
	var names []string
	seen := map[string]bool{}
	for i := range h.Nodes {
		if in, _, ok := h.product(i); ok && !seen[in] {
			seen[in] = true
			names = append(names, in)
		}
	}
	return names
}

// product returns the factors of node i if it multiplies a tensor by a float32 matrix of the head.
func (h *Head) product(i int) (input, weight string, ok bool) {
	n := h.Nodes[i]
	if n.Op != "MatMul" {
		return "", "", false
	}
	for _, w := range h.Weights {
		if w.Name == n.Inputs[1] {
			shape, _, float := Float32Weights(w)
			return n.Inputs[0], w.Name, float && len(shape) == 2
		}
	}
	return "", "", false
}

// addProduct adds node i in 8 bits.
func (h *Head) addProduct(g *export.Graph, i int, done map[string]bool) {
	input, weight, _ := h.product(i)
	s := h.Spans[input]
	zero, step := uint8(0), s.High*headroom/255
	if s.Low < 0 {
		zero, step = 128, max(-s.Low, s.High)*headroom/127
	}
	step = max(step, math.SmallestNonzeroFloat32*1e10)
	name := own + input
	if !done[input] {
		done[input] = true
		g.Initializer(name+".step", nil, []float32{step})
		g.Initializer(name+".zero", nil, []uint8{zero})
		g.Node("QuantizeLinear", []string{input, name + ".step", name + ".zero"}, []string{name + ".bytes"})
	}
	out := h.Nodes[i].Outputs[0]
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
	cast(g, out+".whole", out+".float")
	g.Node("Mul", []string{own + out + ".float", own + weight + ".scales"}, []string{out})
}

// bytes rounds a matrix [rows, columns] with a scale a column.
func (h *Head) bytes(weight string) (shape []int, numbers []int8, scales []float32) {
	const most = 63
	for _, w := range h.Weights {
		if w.Name != weight {
			continue
		}
		var values []float32
		shape, values, _ = Float32Weights(w)
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
