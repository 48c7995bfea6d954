package layers

import (
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	g "github.com/gomlx/gomlx/core/graph"
)

// withGradient returns forward(x), which has the shape of x, with backward as its gradient function. Automatic
// differentiation of the functions below would need two to three times as many passes over memory.
func withGradient(x *g.Node, forward func(x *g.Node) *g.Node, backward func(y, grad *g.Node) *g.Node) *g.Node {
	var y *g.Node
	out, own := g.InternalFusedOpCaller(func() *g.Node { y = forward(g.StopGradient(x)); return y }, func() *g.Node {
		return g.IdentityWithCustomGradient(x, func(_, grad *g.Node) *g.Node { return backward(y, grad) })
	}, true)
	if !own { // GoMLX's fused operators are disabled in the environment
		return forward(x)
	}
	return out
}

// lastAxisSum sums over the last axis, [..., 1].
func lastAxisSum(x *g.Node) *g.Node { return g.ReduceAndKeep(x, g.ReduceSum, -1) }

// Softmax computes the softmax over the last axis.
func Softmax(x *g.Node) *g.Node {
	return withGradient(x, func(x *g.Node) *g.Node {
		e := g.Exp(g.Sub(x, g.StopGradient(g.ReduceAndKeep(x, g.ReduceMax, -1))))
		return g.Div(e, lastAxisSum(e))
	}, func(y, grad *g.Node) *g.Node {
		weighted := g.Mul(grad, y)
		return g.Sub(weighted, g.Mul(y, lastAxisSum(weighted)))
	})
}

// Standardise subtracts the mean of the last axis and divides by its standard deviation.
func Standardise(x *g.Node, epsilon float64) *g.Node {
	over := 1 / float64(x.Shape().Dimensions[x.Rank()-1])
	var deviation *g.Node
	return withGradient(x, func(x *g.Node) *g.Node {
		centred := g.Sub(x, g.MulScalar(lastAxisSum(x), over))
		deviation = g.Sqrt(g.AddScalar(g.MulScalar(lastAxisSum(g.Mul(centred, centred)), over), epsilon))
		return g.Div(centred, deviation)
	}, func(y, grad *g.Node) *g.Node {
		mean := g.MulScalar(lastAxisSum(grad), over)
		along := g.MulScalar(lastAxisSum(g.Mul(grad, y)), over)
		return g.Div(g.Sub(g.Sub(grad, mean), g.Mul(y, along)), deviation)
	})
}

// scaledGELU is u·(1 + erf(u)) = √2·gelu(√2·u). The factors are multiplied into the weights before and after it, where
// they cost less. Its derivative is 1 + erf(u) + 2/√π·u·exp(-u²); if exp(u²) overflows, u divided by it is 0, which is
// correct.
func scaledGELU(u *g.Node) *g.Node {
	var twice *g.Node // 1 + erf(u)
	return withGradient(u, func(u *g.Node) *g.Node {
		twice = g.AddScalar(g.Erf(u), 1)
		return g.Mul(u, twice)
	}, func(_, grad *g.Node) *g.Node {
		slope := g.Add(twice, g.MulScalar(g.Div(u, g.Exp(g.Mul(u, u))), 2/math.Sqrt(math.Pi)))
		return g.Mul(grad, slope)
	})
}

// Gelu is x·(1 + erf(x/√2))/2.
func Gelu(x *g.Node) *g.Node {
	return g.MulScalar(scaledGELU(g.MulScalar(x, math.Sqrt2/2)), math.Sqrt2/2)
}

// geluTanh is x·(1 + tanh(√(2/π)·(x + 0.044715 x³)))/2.
func geluTanh(x *g.Node) *g.Node {
	const cubic = 0.044715
	c := math.Sqrt(2 / math.Pi)
	var tanh *g.Node
	return withGradient(x, func(x *g.Node) *g.Node {
		inner := g.Mul(x, g.AddScalar(g.MulScalar(g.Mul(x, x), c*cubic), c))
		tanh = g.Tanh(inner)
		return g.MulScalar(g.Mul(x, g.AddScalar(tanh, 1)), 0.5)
	}, func(_, grad *g.Node) *g.Node {
		inner := g.Mul(x, g.AddScalar(g.MulScalar(g.Mul(x, x), 3*c*cubic), c)) // x times the inner derivative
		slope := g.Add(g.AddScalar(tanh, 1), g.Mul(inner, g.OneMinus(g.Mul(tanh, tanh))))
		return g.Mul(grad, g.MulScalar(slope, 0.5))
	})
}

// Rectify is max(x, 0). Its gradient passes where x is above zero.
func Rectify(x *g.Node) *g.Node { return g.Max(x, g.ScalarZero(x.Graph(), x.DType())) }

// Columns are the columns from..to of x's last axis. GoMLX's own gradient of a slice is a Pad, which ONNX Runtime's
// backend does not have. Here it is a product: with a mask of the parts where x has equal ones, else with a matrix.
func Columns(x *g.Node, from, to int) *g.Node {
	size := to - from
	dims := x.Shape().Dimensions
	last := len(dims) - 1
	width := dims[last]
	if size == width {
		return x
	}
	if width%size != 0 || from%size != 0 {
		shape := shapes.Make(dtypes.Int64, width, size)
		row, column := g.Iota(x.Graph(), shape, 0), g.Iota(x.Graph(), shape, 1)
		chosen := g.ConvertDType(g.Equal(row, g.AddScalar(column, from)), x.DType())
		return g.Dot(x, chosen).General([]int{last}, nil, []int{0}, nil)
	}
	axes := make([]g.SliceAxisSpec, last+1)
	for i := range last {
		axes[i] = g.AxisRange()
	}
	axes[last] = g.AxisRange(from, to)
	part := make([]float32, width/size)
	part[from/size] = 1
	y, _ := g.InternalFusedOpCaller(func() *g.Node { return g.Slice(x, axes...) }, func() *g.Node {
		split := slices.Concat(dims[:last], []int{width / size, size})
		one := slices.Repeat([]int{1}, last)
		mask := g.Reshape(g.ConvertDType(g.Const(x.Graph(), part), x.DType()), append(one, width/size, 1)...)
		return g.ReduceSum(g.Mul(g.Reshape(x, split...), mask), last)
	}, true)
	return y
}
