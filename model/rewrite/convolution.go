package rewrite

import (
	"fmt"
	"math"

	"bitextmine/encode/onnxgraph"
	"bitextmine/train/export"
)

// convolution stands for a Conv of x [batch, channels, tokens] with a weight [outputs, channels, width]: the tokens of
// each window stand beside each other in a row, which a matrix [width*channels, outputs] is multiplied with.
func (r *rewriter) convolution(n onnxgraph.Node, w weight, pads []int) error {
	b := r.out
	if pads == nil {
		pads = []int{0, 0}
	}
	out := n.Outputs[0]
	own := func(part string) string { return prefix + out + "." + part }
	numbers, greatest := r.quantised(n.Inputs[0], 1, 2)
	turn := export.Attr{Name: "perm", Value: []int64{0, 2, 1}}
	b.Node("Transpose", []string{numbers}, []string{own("tokens")}, turn)
	b.Initializer(own("pads"), []int{6}, []int64{0, int64(pads[0]), 0, 0, int64(pads[1]), 0})
	b.Node("Pad", []string{own("tokens"), own("pads"), zero}, []string{own("padded")})
	windows := windows(b, own, w.Shape[2])
	b.Node("Concat", windows, []string{own("windows")}, export.Attr{Name: "axis", Value: 2})
	weight, scales, err := r.matrix(n.Inputs[1], func() ([]float32, error) {
		values, err := w.all()
		if err != nil {
			return nil, err
		}
		return windowMatrix(w.Shape, values), nil
	}, w.Shape[1]*w.Shape[2], w.Shape[0])
	multiply(b, own("windows"), greatest, weight, scales, biasOf(n), own("turned"))
	b.Node("Transpose", []string{own("turned")}, []string{out}, turn)
	r.Convolutions++
	return err
}

// windows adds the padded tokens without their last width-1, without the first and the last width-2, and so on.
func windows(b *export.Graph, own func(string) string, width int) (names []string) {
	b.Initializer(own("axis"), []int{1}, []int64{1})
	for j := range width {
		part := own(fmt.Sprint("window", j))
		end := int64(j - width + 1)
		if end == 0 {
			end = math.MaxInt32
		}
		b.Initializer(part+".from", []int{1}, []int64{int64(j)})
		b.Initializer(part+".to", []int{1}, []int64{end})
		b.Node("Slice", []string{own("padded"), part + ".from", part + ".to", own("axis")}, []string{part})
		names = append(names, part)
	}
	return names
}

// windowMatrix turns a weight [outputs, channels, width] to [width*channels, outputs].
func windowMatrix(shape []int, values []float32) []float32 {
	outputs, channels, width := shape[0], shape[1], shape[2]
	matrix := make([]float32, len(values))
	for o := range outputs {
		for c := range channels {
			for j := range width {
				matrix[(j*channels+c)*outputs+o] = values[(o*channels+c)*width+j]
			}
		}
	}
	return matrix
}
