package export

import (
	"fmt"
	"math"
)

// Head turns the vectors of tokens into the vector of the sentence.
type Head struct {
	// Poolings are cls (the first token), mean, max, mean_sqrt_len (the sum over the root of the number), weighted (the
	// mean weighted by place) and last (the last token); the results of several stand one after the other.
	Poolings []string
	Dense    []Dense
	Dim      int // if above 0, only the first Dim numbers are kept
}

// Dense is a layer after the pooling: x·Weight + Bias, and its activation. One without Weight divides by the length.
type Dense struct {
	Weight     []float32 // [in, out]
	Bias       []float32 // [out], or nil
	In, Out    int
	Activation string // an ONNX operator, GELU, SiLU, or empty
}

// headPrefix begins the names of a head's tensors.
const headPrefix = "mine."

// Head writes a head after the tokens' vectors [batch, tokens, width] and gives the name and the width of its output.
// Nothing is padded, so all tokens count. opset is the version of the graph's operators.
func (g *Graph) Head(tokens string, h Head, width, opset int) (output string, dim int) {
	h.counted(g, tokens)
	var parts []string
	for _, pooling := range h.Poolings {
		parts = append(parts, g.pool(tokens, pooling, opset))
	}
	x, dim := parts[0], width*len(parts)
	if len(parts) > 1 {
		x = headPrefix + "poolings"
		g.Node("Concat", parts, []string{x}, Attr{Name: "axis", Value: -1})
	}
	return g.After(x, h, dim)
}

// After writes what a head has after its poolings, whose vectors are x [batch, dim], and gives the name and the width
// of its output.
func (g *Graph) After(x string, h Head, dim int) (output string, width int) {
	for i, d := range h.Dense {
		x = g.dense(fmt.Sprintf("%sdense%d.", headPrefix, i+1), d, x)
		if d.Weight != nil {
			dim = d.Out
		}
	}
	if h.Dim > 0 {
		x, dim = g.First(x, h.Dim), h.Dim
	}
	g.Output(x, Float32, "batch", dim)
	return x, dim
}

// First writes the first numbers of the vectors x [batch, width].
func (g *Graph) First(x string, numbers int) string {
	name := func(part string) string { return headPrefix + "first numbers." + part }
	g.Initializer(name("from"), []int{1}, []int64{0})
	g.Initializer(name("to"), []int{1}, []int64{int64(numbers)})
	g.Initializer(name("axis"), []int{1}, []int64{1})
	g.Node("Slice", []string{x, name("from"), name("to"), name("axis")}, []string{headPrefix + "vectors"})
	return headPrefix + "vectors"
}

// counted adds what poolings by number and place of tokens take.
func (h Head) counted(g *Graph, tokens string) {
	for _, pooling := range h.Poolings {
		if pooling != "mean_sqrt_len" && pooling != "weighted" {
			continue
		}
		g.Node("Shape", []string{tokens}, []string{headPrefix + "shape"})
		g.Initializer(headPrefix+"second", nil, []int64{1})
		g.Node("Gather", []string{headPrefix + "shape", headPrefix + "second"}, []string{headPrefix + "number"}, Attr{Name: "axis", Value: 0})
		g.Node("Cast", []string{headPrefix + "number"}, []string{headPrefix + "count"}, Attr{Name: "to", Value: int(Float32)})
		return
	}
}

// pool writes one pooling and gives its output.
func (g *Graph) pool(tokens, pooling string, opset int) string {
	name := func(part string) string { return headPrefix + pooling + "." + part }
	x := headPrefix + "pooled." + pooling
	switch pooling {
	case "mean", "max":
		g.reduce(map[string]string{"mean": "ReduceMean", "max": "ReduceMax"}[pooling], tokens, x, opset)
	case "mean_sqrt_len":
		g.reduce("ReduceMean", tokens, name("mean"), opset)
		g.Node("Sqrt", []string{headPrefix + "count"}, []string{name("root")})
		g.Node("Mul", []string{name("mean"), name("root")}, []string{x})
	case "weighted": // the mean of each token times its place, over the mean of the places, (count + 1) / 2
		g.Initializer(name("from"), nil, []float32{1})
		g.Initializer(name("half"), nil, []float32{0.5})
		g.Initializer(name("axis"), []int{1}, []int64{1})
		g.Node("Add", []string{headPrefix + "count", name("from")}, []string{name("end")})
		g.Node("Range", []string{name("from"), name("end"), name("from")}, []string{name("places")})
		g.Node("Unsqueeze", []string{name("places"), name("axis")}, []string{name("weights")})
		g.Node("Mul", []string{tokens, name("weights")}, []string{name("weighted")})
		g.reduce("ReduceMean", name("weighted"), name("mean"), opset)
		g.Node("Mul", []string{name("end"), name("half")}, []string{name("middle")})
		g.Node("Div", []string{name("mean"), name("middle")}, []string{x})
	default:
		place := map[string]int64{"cls": 0, "last": -1}[pooling]
		g.Initializer(name("place"), nil, []int64{place})
		g.Node("Gather", []string{tokens, name("place")}, []string{x}, Attr{Name: "axis", Value: 1})
	}
	return x
}

// reduce writes a reduction over the tokens.
func (g *Graph) reduce(op, x, out string, opset int) {
	const axesAreInput = 18
	keep := Attr{Name: "keepdims", Value: 0}
	if opset < axesAreInput {
		g.Node(op, []string{x}, []string{out}, Attr{Name: "axes", Value: []int64{1}}, keep)
		return
	}
	g.Initializer(out+".axes", []int{1}, []int64{1})
	g.Node(op, []string{x, out + ".axes"}, []string{out}, keep)
}

// dense writes a layer after x; its names start with at.
func (g *Graph) dense(at string, d Dense, x string) string {
	if d.Weight == nil {
		g.Node("LpNormalization", []string{x}, []string{at + "out"}, Attr{Name: "axis", Value: -1}, Attr{Name: "p", Value: 2})
		return at + "out"
	}
	g.Initializer(at+"weight", []int{d.In, d.Out}, d.Weight)
	g.Node("MatMul", []string{x, at + "weight"}, []string{at + "product"})
	x = at + "product"
	if d.Bias != nil {
		g.Initializer(at+"bias", []int{d.Out}, d.Bias)
		g.Node("Add", []string{x, at + "bias"}, []string{at + "sum"})
		x = at + "sum"
	}
	out := []string{at + "out"}
	switch d.Activation {
	case "":
		return x
	case "SiLU":
		g.Node("Sigmoid", []string{x}, []string{at + "sigmoid"})
		g.Node("Mul", []string{x, at + "sigmoid"}, out)
	case "GELU":
		g.Initializer(at+"root", nil, []float32{math.Sqrt2})
		g.Initializer(at+"one", nil, []float32{1})
		g.Initializer(at+"half", nil, []float32{0.5})
		g.Node("Div", []string{x, at + "root"}, []string{at + "argument"})
		g.Node("Erf", []string{at + "argument"}, []string{at + "erf"})
		g.Node("Add", []string{at + "erf", at + "one"}, []string{at + "erf1"})
		g.Node("Mul", []string{x, at + "erf1"}, []string{at + "double"})
		g.Node("Mul", []string{at + "double", at + "half"}, out)
	default:
		g.Node(d.Activation, []string{x}, out)
	}
	return out[0]
}

// Transposed is a matrix [rows, columns] as [columns, rows].
func Transposed(data []float32, rows, columns int) []float32 {
	turned := make([]float32, len(data))
	for r := range rows {
		for c, x := range data[r*columns:][:columns] {
			turned[c*rows+r] = x
		}
	}
	return turned
}
