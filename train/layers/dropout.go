package layers

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

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
