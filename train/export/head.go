package export

import "fmt"

// Dense is a layer after the pooling.
type Dense struct {
	Weight     []float32 // [in, out]
	Bias       []float32 // [out], or nil
	In, Out    int
	Activation string // an ONNX operator, or empty
}

// Head writes pooling, mean or max or else the first token's, and dense layers, and gives the name and the width of
// their output. Nothing is padded, so the mean is over all tokens.
func (g *Graph) Head(tokens, pooling string, dense []Dense, opset int) (output string, dim int) {
	const prefix = "mine."
	x := prefix + "pooled"
	const axesAreInput = 18
	var axes []Attr
	inputs := []string{tokens}
	reduce := map[string]string{"mean": "ReduceMean", "max": "ReduceMax"}[pooling]
	switch {
	case reduce == "":
		g.Initializer(prefix+"first", nil, []int64{0})
		g.Node("Gather", []string{tokens, prefix + "first"}, []string{x}, Attr{Name: "axis", Value: 1})
	case opset >= axesAreInput:
		g.Initializer(prefix+"axes", []int{1}, []int64{1})
		inputs = append(inputs, prefix+"axes")
	default:
		axes = []Attr{{Name: "axes", Value: []int64{1}}}
	}
	if reduce != "" {
		g.Node(reduce, inputs, []string{x}, append(axes, Attr{Name: "keepdims", Value: 0})...)
	}
	for i, d := range dense {
		at := fmt.Sprintf("%sdense%d.", prefix, i+1)
		g.Initializer(at+"weight", []int{d.In, d.Out}, d.Weight)
		g.Node("MatMul", []string{x, at + "weight"}, []string{at + "product"})
		x = at + "product"
		if d.Bias != nil {
			g.Initializer(at+"bias", []int{d.Out}, d.Bias)
			g.Node("Add", []string{x, at + "bias"}, []string{at + "sum"})
			x = at + "sum"
		}
		if d.Activation != "" {
			g.Node(d.Activation, []string{x}, []string{at + "out"})
			x = at + "out"
		}
		dim = d.Out
	}
	g.Output(x, Float32, "batch", dim)
	return x, dim
}
