package layers

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"bitextmine/train/weights"
)

// TableSpec is the spec of an embedding table [rows, width].
func TableSpec(name string, rows, width int, deviation float64) weights.Spec {
	return weights.Spec{Name: name, Shape: []int{rows, width}, Init: weights.Normal, Scale: deviation}
}

// Lookup returns the rows of a table [rows, width] for ids [n, length], int32, in the shape that a stack needs:
// [n·length, width].
func Lookup(table, ids *graph.Node) *graph.Node {
	// ONNX Runtime's backend does not support int32 indices.
	return graph.Gather(table, graph.Reshape(graph.ConvertDType(ids, dtypes.Int64), ids.Shape().Size(), 1))
}

// Rows returns x's rows from, from+step ... below to. It is a gather, because ONNX Runtime's backend has no Pad, which
// is the gradient of a slice.
func Rows(x *graph.Node, from, to, step int) *graph.Node {
	var places []int64
	for r := from; r < to; r += step {
		places = append(places, int64(r))
	}
	return graph.Gather(x, graph.Reshape(graph.Const(x.Graph(), places), len(places), 1))
}

// First is [1, length, 1], float32: 1 at the first place and 0 at the others.
func First(g *graph.Graph, length int) *graph.Node {
	places := graph.Iota(g, shapes.Make(dtypes.Int32, 1, length, 1), 1)
	return graph.ConvertDType(graph.Equal(places, graph.ScalarZero(g, dtypes.Int32)), dtypes.Float32)
}

// Sinusoids returns position embeddings [length, width]: sines in the first half of a row and cosines in the second,
// with wavelengths from 2π to 10000·2π. Vaswani et al., 2017, interleave them, which only changes the order of the
// columns. They are added to embeddings that are multiplied by sqrt(width).
func Sinusoids(length, width int) []float32 {
	out := make([]float32, length*width)
	half := (width + 1) / 2
	for p := range length {
		for i := range width {
			angle := float64(p) * math.Pow(10000, -float64(i%half)/float64(half))
			if i < half {
				out[p*width+i] = float32(math.Sin(angle))
			} else {
				out[p*width+i] = float32(math.Cos(angle))
			}
		}
	}
	return out
}
