package layers

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"

	"bitextmine/train/weights"
)

// deviation is the standard deviation of new weights (BERT).
const deviation = 0.02

// DenseSpecs are the specs of a matrix [in, out], which multiplies rows from the right, and a bias.
func DenseSpecs(name string, in, out int) []weights.Spec {
	return []weights.Spec{
		{Name: name + ".weight", Shape: []int{in, out}, Init: weights.Normal, Scale: deviation},
		{Name: name + ".bias", Shape: []int{out}, Init: weights.Zeros, NoDecay: true},
	}
}

// NormSpecs are the specs of the scale and bias of a layer normalisation.
func NormSpecs(name string, width int) []weights.Spec {
	return []weights.Spec{
		{Name: name + ".scale", Shape: []int{width}, Init: weights.Ones, NoDecay: true},
		{Name: name + ".bias", Shape: []int{width}, Init: weights.Zeros, NoDecay: true},
	}
}

// Dense computes x·W + b.
func (s *Stack) Dense(name string, x *graph.Node) *graph.Node {
	return s.affine(x, s.Params[name+".weight"], s.Params[name+".bias"])
}

// scaledDense is Dense with its weight and bias multiplied by factors.
func (s *Stack) scaledDense(name string, x *graph.Node, weight, bias float64) *graph.Node {
	return s.affine(x, graph.MulScalar(s.Params[name+".weight"], weight), graph.MulScalar(s.Params[name+".bias"], bias))
}

func (s *Stack) affine(x, weight, bias *graph.Node) *graph.Node {
	return graph.Add(s.Product(x, 1, weight, 0, nil), graph.Reshape(bias, 1, bias.Shape().Dimensions[0]))
}

// Product sums x·y over one axis of each, in the precision of the stack. batch are the axes that both have.
func (s *Stack) Product(x *graph.Node, xAxis int, y *graph.Node, yAxis int, batch []int) *graph.Node {
	whole := x.DType()
	if s.Precision == BFloat16 {
		x, y = graph.ConvertDType(x, dtypes.BFloat16), graph.ConvertDType(y, dtypes.BFloat16)
	}
	// sums of bfloat16 products are float32
	product := graph.Dot(x, y).General([]int{xAxis}, batch, []int{yAxis}, batch)
	return graph.ConvertDType(product, whole)
}

// Normalise is layer normalisation with its scale and bias (Ba et al., 2016).
func (s *Stack) Normalise(name string, x *graph.Node) *graph.Node {
	row := func(part string) *graph.Node { return graph.Reshape(s.Params[name+part], 1, s.Width) }
	return graph.Add(graph.Mul(standardise(x, s.Epsilon), row(".scale")), row(".bias"))
}

// FeedForward is two dense layers with the activation between them.
func (s *Stack) FeedForward(name string, x *graph.Node) *graph.Node {
	in, out := name+".in", name+".out"
	switch s.Activation {
	case GELU:
		x = scaledGELU(s.scaledDense(in, x, math.Sqrt2/2, math.Sqrt2/2))
		return s.scaledDense(out, x, math.Sqrt2/2, 1)
	case GELUTanh:
		return s.Dense(out, geluTanh(s.Dense(in, x)))
	default:
		return s.Dense(out, Rectify(s.Dense(in, x)))
	}
}
