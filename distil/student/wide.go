package student

import (
	"fmt"
	"maps"
	"slices"

	"bitextmine/encode/onnxgraph"
)

// Widened returns the head with matrices in float32 in place of those that `mine model quantise` wrote in 8 bits, whose
// products have no gradients. A head without any is returned as it is.
func (h *Head) Widened() (*Head, error) {
	weights := map[string]onnxgraph.Initializer{}
	for _, w := range h.Weights {
		weights[w.Name] = w
	}
	made, nodes := map[string]onnxgraph.Node{}, slices.Clone(h.Nodes)
	for _, n := range nodes {
		for _, out := range n.Outputs {
			made[out] = n
		}
	}
	input := func(n onnxgraph.Node, i int) string { // "" if there is none
		if i >= len(n.Inputs) {
			return ""
		}
		return n.Inputs[i]
	}
	units := map[string]onnxgraph.Node{} // products that are yet to be multiplied by the scale of their row
	for i, n := range nodes {
		if len(n.Outputs) != 1 {
			continue
		}
		if n.Op == "MatMulIntegerToFloat" {
			units[n.Outputs[0]] = n
		}
		product, ok := units[input(n, 0)]
		if !ok || n.Op != "Mul" {
			continue
		}
		numbers := made[input(product, 0)]
		scaled := made[input(numbers, 0)] // x times the factor of its row
		values, shape, err := widenedMatrix(weights[input(product, 1)], weights[input(product, 3)])
		if err != nil || numbers.Op != "QuantizeLinear" || scaled.Op != "Mul" {
			return nil, fmt.Errorf("has a product in 8 bits, %s, that mine model quantise does not write", product.Outputs[0])
		}
		wide := input(product, 1) + ".wide"
		weights[wide] = onnxgraph.NewFloat32(wide, shape, values)
		nodes[i] = onnxgraph.NewNode("MatMul", []string{input(scaled, 0), wide}, n.Outputs[0])
	}
	if len(units) == 0 {
		return h, nil
	}
	out := *h
	out.Nodes, out.Weights = nil, nil
	needed, takes := (&onnxgraph.Graph{Nodes: nodes}).Between(h.From, h.To)
	for _, i := range needed {
		out.Nodes = append(out.Nodes, nodes[i])
	}
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		if takes[name] {
			out.Weights = append(out.Weights, weights[name])
		}
	}
	return &out, nil
}

// widenedMatrix is a matrix [rows, columns] of 8-bit numbers with a scale a column, which has the 1/127 of the inputs
// in it.
func widenedMatrix(numbers, scales onnxgraph.Initializer) (values []float32, shape []int, err error) {
	n, err := numbers.Tensor()
	if err != nil {
		return nil, nil, err
	}
	s, err := scales.Tensor()
	if err != nil {
		return nil, nil, err
	}
	if n.Type != onnxgraph.Int8 || s.Type != onnxgraph.Float32 || len(n.Shape) != 2 || len(s.Data) != 4*n.Shape[1] {
		return nil, nil, fmt.Errorf("%s is no matrix in 8 bits", numbers.Name)
	}
	by := s.Float32s()
	values = make([]float32, len(n.Data))
	for i, b := range n.Data {
		values[i] = float32(int8(b)) * by[i%len(by)] * 127
	}
	return values, n.Shape, nil
}
