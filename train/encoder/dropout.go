package encoder

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Dropout is the masks of one pass, uint8, in the order in which the graph takes them: 0, or 1 for what stays and is multiplied by 1/(1 - p). They are
// made on the host, from a counter and the seed alone, so that the same pass can be computed again, today or after a resumption. Nil drops nothing.
type Dropout struct {
	masks []*g.Node
	kept  float64 // 1/(1 - p)
}

// apply drops from x with the next mask.
func (d *Dropout) apply(x *g.Node) *g.Node {
	if d == nil {
		return x
	}
	mask := d.masks[0]
	d.masks = d.masks[1:]
	return g.Mul(x, g.MulScalar(g.ConvertDType(mask, x.DType()), d.kept))
}

// Seed is a seed for one pass of one step, such as a chunk of a side: never 0.
func Seed(seed uint64, step, pass int) uint64 {
	return mix(mix(mix(seed)+uint64(step))+uint64(pass)) | 1
}

// maskShapes are those of a pass over n sentences of one length.
func (s Settings) maskShapes(n, length int) []shapes.Shape {
	rows := shapes.Make(dtypes.Uint8, n*length, s.Width)
	all := []shapes.Shape{rows}
	for range s.Layers {
		all = append(all, shapes.Make(dtypes.Uint8, n, s.Heads, length, length), rows, rows)
	}
	return all
}

// masks makes the masks of a pass; none without dropout or with the seed 0.
func (s Settings) masks(b *batch) []any {
	if s.Dropout == 0 || !b.training() {
		return nil
	}
	var all []any
	for i, shape := range s.maskShapes(b.n, b.length) {
		mask := tensors.FromShape(shape)
		tensors.MustMutableFlatData(mask, func(flat []uint8) { fillMask(flat, mix(b.seed+uint64(i)), s.dropped()) })
		all = append(all, mask)
	}
	return all
}

// dropped is p in parts of 65,536, to which it is rounded: a number takes 16 random bits.
func (s Settings) dropped() uint64 { return min(uint64(s.Dropout*65536+0.5), 65535) }

// kept is what makes up for what is dropped.
func (s Settings) kept() float64 { return 65536 / float64(65536-s.dropped()) }

func fillMask(mask []uint8, seed, drop uint64) {
	for i := 0; i < len(mask); i += 4 {
		bits := mix(seed + uint64(i))
		for j := i; j < min(i+4, len(mask)); j++ {
			mask[j] = uint8((drop - 1 - bits&0xffff) >> 63) // 1 if the bits are at least drop
			bits >>= 16
		}
	}
}

// mix is SplitMix64's finaliser after one step of its counter (Steele et al., 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
