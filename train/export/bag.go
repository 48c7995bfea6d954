package export

// Bag returns the graph of a bag of subword vectors; each is a row [dim] of bytes with a scale. The mean has the
// direction of the sum, so the graph only divides by the norm. The token vectors are inner tensors, which a manifest
// may name.
func Bag(name string, numbers []int8, scales []float32) *Graph {
	rows := len(scales)
	dim := len(numbers) / rows
	g := NewGraph(name)
	g.Input(IDs, Int64, "batch", "tokens")
	g.Input(Mask, Int64, "batch", "tokens")
	g.Initializer("table", []int{rows, dim}, numbers)
	g.Initializer("scales", []int{rows, 1}, scales)
	g.Initializer("axis_tokens", []int{1}, []int64{1})
	g.Initializer("axis_dim", []int{1}, []int64{2})
	g.Node("Gather", []string{"table", IDs}, []string{"bytes"}, Attr{"axis", 0})
	g.Node("Cast", []string{"bytes"}, []string{"numbers"}, Attr{"to", int(Float32)})
	g.Node("Gather", []string{"scales", IDs}, []string{"scale"}, Attr{"axis", 0})
	g.Node("Mul", []string{"numbers", "scale"}, []string{Tokens})
	g.Node("Cast", []string{Mask}, []string{"present"}, Attr{"to", int(Float32)})
	g.Node("Unsqueeze", []string{"present", "axis_dim"}, []string{"presence"})
	g.Node("Mul", []string{Tokens, "presence"}, []string{"kept"})
	g.Node("ReduceSum", []string{"kept", "axis_tokens"}, []string{"sum"}, Attr{"keepdims", 0})
	g.Node("LpNormalization", []string{"sum"}, []string{Vectors}, Attr{"axis", 1}, Attr{"p", 2})
	g.Output(Vectors, Float32, "batch", dim)
	return g
}
