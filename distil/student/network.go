package student

import (
	"fmt"

	"bitextmine/distil/fit"
	"bitextmine/encode/onnxgraph"
)

// Network is the head in the form that gradient descent trains. An error names a part of it that cannot be trained.
func (h *Head) Network() (*fit.Head, error) {
	n := &fit.Head{From: h.From, To: h.To, Weights: map[string]*fit.Matrix{}}
	weights := map[string]onnxgraph.Initializer{}
	for _, w := range h.Weights {
		weights[w.Name] = w
	}
	lengths := map[string]string{} // tensors of lengths of rows, each with the tensor of the rows
	for _, node := range h.Nodes {
		layer := fit.Layer{Op: node.Op, In: node.Inputs[0], Out: node.Outputs[0]}
		if len(node.Inputs) > 1 {
			layer.With = node.Inputs[1]
		}
		if ofRows(node) {
			lengths[layer.Out] = layer.In
			continue
		}
		if of, ok := lengths[layer.With]; ok && node.Op == "Div" && of == layer.In {
			layer.Op, layer.With = "LpNormalization", ""
		}
		_, constant := weights[layer.In]
		if !fit.Differentiable(layer.Op) || len(node.Inputs) > 2 || constant {
			return nil, fmt.Errorf("has an operator %s that gradient descent does not know", node.Op)
		}
		if w, ok := weights[layer.With]; ok {
			shape, values, ok := Float32Weights(w)
			if !ok || len(shape) > 2 {
				return nil, fmt.Errorf("has a weight %s that is no float32 matrix", w.Name)
			}
			n.Weights[w.Name] = fit.NewMatrix(shape, values)
		}
		n.Layers = append(n.Layers, layer)
	}
	return n, nil
}

// Take copies the weights of a trained network of Network.
func (h *Head) Take(n *fit.Head) {
	for i, w := range h.Weights {
		if m := n.Weights[w.Name]; m != nil {
			h.Weights[i] = onnxgraph.NewFloat32(w.Name, m.Shape, m.Values)
		}
	}
}

// ofRows reports whether a node gives the length of each row, by which exports of mean pooling divide.
func ofRows(n onnxgraph.Node) bool {
	attributes, err := n.Attributes()
	axes := attributes["axes"].Ints
	return err == nil && n.Op == "ReduceL2" && len(axes) == 1 && (axes[0] == 1 || axes[0] == -1) &&
		attributes["keepdims"].First(1) == 1
}
