package layers

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
)

// Attention computes softmax(Q·Kᵀ / sqrt(head width) + bias)·V for every head (Vaswani et al., 2017). bias is broadcast
// to [n, heads, length, length].
func (s *Stack) Attention(name string, x, bias *graph.Node) *graph.Node {
	size := s.Width / s.Heads
	heads := func(part string) *graph.Node {
		return graph.TransposeAllAxes(graph.Reshape(s.Dense(name+"."+part, x), s.N, s.Length, s.Heads, size), 0, 2, 1,
			3)
	}
	q, k, v := heads("query"), heads("key"), heads("value")
	batch := []int{0, 1}
	scores := s.Product(graph.MulScalar(q, 1/math.Sqrt(float64(size))), 3, k, 3, batch) // [n, heads, length, length]
	shares := s.Dropout.Apply(softmax(graph.Add(scores, bias)))
	context := s.Product(shares, 3, v, 2, batch)
	return s.Dense(name+".out", graph.Reshape(graph.TransposeAllAxes(context, 0, 2, 1, 3), s.N*s.Length, s.Width))
}

// excluded is subtracted from the score of a token that must not be attended to.
const excluded = 1e9

// Present is a bool [n, length]: true where a sequence has a token, given the lengths [n], int32.
func Present(lengths *graph.Node, length int) *graph.Node {
	n := lengths.Shape().Dimensions[0]
	places := graph.Iota(lengths.Graph(), shapes.Make(dtypes.Int32, n, length), 1)
	return graph.LessThan(places, graph.Reshape(lengths, n, 1))
}

// Absent is 0 where present [n, length] is 1, and -1 times excluded where it is 0.
func Absent(present *graph.Node) *graph.Node {
	return graph.MulScalar(graph.AddScalar(present, -1), excluded)
}

// Padding is the bias [n, 1, 1, length] that excludes padding from attention. present [n, length] is 1 or 0.
func Padding(present *graph.Node) *graph.Node {
	n, length := present.Shape().Dimensions[0], present.Shape().Dimensions[1]
	return graph.Reshape(Absent(present), n, 1, 1, length)
}

// Causal is the bias [1, 1, length, length] that excludes later tokens from attention. It has the type of like.
func Causal(like *graph.Node, length int) *graph.Node {
	square := shapes.Make(dtypes.Int32, length, length)
	query, key := graph.Iota(like.Graph(), square, 0), graph.Iota(like.Graph(), square, 1)
	seen := graph.ConvertDType(graph.LessOrEqual(key, query), like.DType())
	return graph.Reshape(Absent(seen), 1, 1, length, length)
}
