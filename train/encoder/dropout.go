package encoder

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Dropout is the masks of one pass, in the order in which the graph takes them: 0, or 1/(1 - p) for what stays. They are made on the host, from a
// counter and the seed alone, so that the same pass can be computed again, today or after a resumption. Nil drops nothing.
type Dropout struct {
	masks []*g.Node
}

// apply drops from x with the next mask.
func (d *Dropout) apply(x *g.Node) *g.Node {
	if d == nil {
		return x
	}
	mask := d.masks[0]
	d.masks = d.masks[1:]
	return g.Mul(x, mask)
}

// Seed is a seed for one pass of one step, such as a chunk of a side: never 0.
func Seed(seed uint64, step, pass int) uint64 {
	return mix(mix(mix(seed)+uint64(step))+uint64(pass)) | 1
}

// maskShapes are those of a pass over n sentences of one length.
func (s Settings) maskShapes(n, length int) []shapes.Shape {
	rows := shapes.Make(dtypes.Float32, n*length, s.Width)
	all := []shapes.Shape{rows}
	for range s.Layers {
		all = append(all, shapes.Make(dtypes.Float32, n, s.Heads, length, length), rows, rows)
	}
	return all
}

// masks makes the masks of a pass; none without dropout or with the seed 0.
func (s Settings) masks(b *batch) []any {
	if s.Dropout == 0 || b.seed == 0 {
		return nil
	}
	var all []any
	for i, shape := range s.maskShapes(b.n, b.length) {
		mask := tensors.FromShape(shape)
		tensors.MustMutableFlatData(mask, func(flat []float32) { fillMask(flat, mix(b.seed+uint64(i)), s.Dropout) })
		all = append(all, mask)
	}
	return all
}

// fillMask draws 16 bits for each number: p is rounded to 1/65536.
func fillMask(mask []float32, seed uint64, p float64) {
	drop := uint64(p*65536 + 0.5)
	kept := float32(65536 / float64(65536-drop))
	choice := [2]float32{0, kept}
	for i := 0; i < len(mask); i += 4 {
		bits := mix(seed + uint64(i))
		for j := i; j < min(i+4, len(mask)); j++ {
			at := 0
			if bits&0xffff >= drop {
				at = 1
			}
			mask[j] = choice[at]
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
