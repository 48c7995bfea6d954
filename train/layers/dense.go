package layers

import (
	"math"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

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

// LoRA are low-rank adapters of the dense layers of attention and FFN (Hu et al., 2021): x·W becomes
// x·W + Alpha/Rank · x·A·B, where A [in, Rank] and B [Rank, out] learn and W does not.
type LoRA struct {
	Rank  int     `yaml:"rank" json:"rank"`   // 0: there are none
	Alpha float64 `yaml:"alpha" json:"alpha"` // usually twice the rank
}

// Check calls check for every setting.
func (l LoRA) Check(check func(ok bool, format string, args ...any)) {
	check(l.Rank >= 0 && l.Rank <= 1024, "lora.rank is %d but must be from 1 to 1024, or 0 for no adapters", l.Rank)
	check(l.Rank != 0 || l.Alpha == 0, "lora.alpha is %v but has no effect without lora.rank: set a rank, or remove it", l.Alpha)
	check(l.Rank <= 0 || l.Alpha > 0 && l.Alpha <= 1e4, "lora.alpha is %v but must be above 0 and at most 10000 where there is a rank", l.Alpha)
}

// Scale is the factor of A·B.
func (l LoRA) Scale() float64 { return l.Alpha / float64(l.Rank) }

// The ends of the names of an adapter's tensors, after that of its dense layer.
const (
	AdapterIn  = ".lora.in"
	AdapterOut = ".lora.out"
)

// Adapted is the layer of a matrix, whose adapter has its name.
func Adapted(matrix string) string { return strings.TrimSuffix(matrix, ".weight") }

// AdapterSpecs are the adapters of the named layer. B is zero at first, so that they change nothing.
func (s Shape) AdapterSpecs(name string) (specs []weights.Spec) {
	if s.LoRA.Rank == 0 {
		return nil
	}
	for _, spec := range s.Specs(name) {
		if layer, ok := strings.CutSuffix(spec.Name, ".weight"); ok {
			specs = append(specs, s.LoRA.Specs(layer, spec.Shape[0], spec.Shape[1])...)
		}
	}
	return specs
}

// Specs are the adapter of a dense layer.
func (l LoRA) Specs(layer string, in, out int) []weights.Spec {
	return []weights.Spec{
		{Name: layer + AdapterIn, Shape: []int{in, l.Rank}, Init: weights.Normal, Scale: 1 / math.Sqrt(3*float64(in))},
		{Name: layer + AdapterOut, Shape: []int{l.Rank, out}, Init: weights.Zeros},
	}
}

// Dense computes x·W + b.
func (s *Stack) Dense(name string, x *graph.Node) *graph.Node {
	return s.affine(name, x, s.Params[name+".weight"], s.Params[name+".bias"], 1)
}

// scaledDense is Dense with its weight and bias multiplied by factors.
func (s *Stack) scaledDense(name string, x *graph.Node, weight, bias float64) *graph.Node {
	return s.affine(name, x, graph.MulScalar(s.Params[name+".weight"], weight),
		graph.MulScalar(s.Params[name+".bias"], bias), weight)
}

// affine is x·weight + bias, and a factor of what the layer's adapter adds, if it has one.
func (s *Stack) affine(name string, x, weight, bias *graph.Node, factor float64) *graph.Node {
	return graph.Add(s.AdaptedProduct(name, x, weight, factor), graph.Reshape(bias, 1, bias.Shape().Dimensions[0]))
}

// AdaptedProduct is x·weight, and a factor of what the named layer's adapter adds, if it has one.
func (s *Stack) AdaptedProduct(name string, x, weight *graph.Node, factor float64) *graph.Node {
	y := s.Product(x, 1, weight, 0, nil)
	if in := s.Params[name+AdapterIn]; in != nil {
		whole := &Stack{Shape: Shape{Precision: Float32}} // adapters are small, and their gradients all that there is
		low := whole.Product(whole.Product(x, 1, in, 0, nil), 1, s.Params[name+AdapterOut], 0, nil)
		y = graph.Add(y, graph.MulScalar(low, factor*s.LoRA.Scale()))
	}
	return y
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
	return graph.Add(graph.Mul(Standardise(x, s.Epsilon), row(".scale")), row(".bias"))
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

// Dropout is the masks of one pass, uint8, in the order in which the graph uses them: 1 for values that stay, which are
// multiplied by 1/(1 - p), and 0 for the others. The host computes them from a counter and the seed alone, so the same
// pass can be computed again, also after a resumption. A nil Dropout drops nothing.
type Dropout struct {
	masks []*graph.Node
	kept  float64 // 1/(1 - p)
}

// NewDropout returns a Dropout for masks that Masks made with the same p.
func NewDropout(masks []*graph.Node, p float64) *Dropout {
	return &Dropout{masks, 65536 / float64(65536-parts(p))}
}

// Apply applies the next mask to x.
func (d *Dropout) Apply(x *graph.Node) *graph.Node {
	if d == nil {
		return x
	}
	mask := d.masks[0]
	d.masks = d.masks[1:]
	return graph.Mul(x, graph.MulScalar(graph.ConvertDType(mask, x.DType()), d.kept))
}

// RowMask is the shape of the mask for the x of a stack.
func RowMask(n, length, width int) shapes.Shape { return shapes.Make(dtypes.Uint8, n*length, width) }

// MaskShapes are the shapes of the masks of one layer, for n sequences of one length.
func (s Shape) MaskShapes(n, length int) []shapes.Shape {
	rows := RowMask(n, length, s.Width)
	if s.KeepAttention {
		return []shapes.Shape{rows, rows}
	}
	return []shapes.Shape{shapes.Make(dtypes.Uint8, n, s.Heads, length, length), rows, rows}
}

// Masks returns masks of the given shapes in which a share p is 0.
func Masks(of []shapes.Shape, p float64, seed uint64) []*tensors.Tensor {
	all := make([]*tensors.Tensor, len(of))
	for i, shape := range of {
		all[i] = tensors.FromShape(shape)
		tensors.MustMutableFlatData(all[i], func(flat []uint8) { fillMask(flat, Mix(seed+uint64(i)), parts(p)) })
	}
	return all
}

// parts is p as a multiple of 1/65,536, to which it is rounded: each value uses 16 random bits.
func parts(p float64) uint64 { return min(uint64(p*65536+0.5), 65535) }

func fillMask(mask []uint8, seed, drop uint64) {
	for i := 0; i < len(mask); i += 4 {
		bits := Mix(seed + uint64(i))
		for j := i; j < min(i+4, len(mask)); j++ {
			mask[j] = uint8((drop - 1 - bits&0xffff) >> 63) // 1 if the bits are at least drop
			bits >>= 16
		}
	}
}

// Seed returns a seed for one pass of one step, such as a chunk of a side. It is never 0.
func Seed(seed uint64, step, pass int) uint64 {
	return Mix(Mix(Mix(seed)+uint64(step))+uint64(pass)) | 1
}

// Mix is SplitMix64's finaliser after one step of its counter (Steele et al., 2014).
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
