package layers

import (
	"slices"

	"bitextmine/encode/onnxgraph"
)

// source holds the graph's nodes that no step computes.
type source struct {
	constants map[string]onnxgraph.Tensor
	made      map[string]onnxgraph.Node // node by output tensor
	mask      string
}

// row is a constant row of so many columns; nil: the input is none.
func (s *source) row(n onnxgraph.Node, i, columns int) []float32 {
	if i >= len(n.Inputs) {
		return nil
	}
	c, ok := s.constants[n.Inputs[i]]
	if !ok || c.Type != onnxgraph.Float32 || len(c.Shape) == 0 || c.Shape[len(c.Shape)-1] != columns ||
		len(c.Data) != 4*columns {
		return nil
	}
	return slices.Clone(c.Float32s())
}

// number is a constant number.
func (s *source) number(n onnxgraph.Node, i int) (float32, bool) {
	if i >= len(n.Inputs) {
		return 0, false
	}
	if c, ok := s.constants[n.Inputs[i]]; ok && c.Type == onnxgraph.Float32 && len(c.Data) == 4 {
		return c.Float32s()[0], true
	}
	return 0, false
}

// whole is a constant of whole numbers.
func (s *source) whole(n onnxgraph.Node, i int) []int64 {
	if i >= len(n.Inputs) {
		return nil
	}
	if c, ok := s.constants[n.Inputs[i]]; ok && c.Type == onnxgraph.Int64 {
		return c.Int64s()
	}
	return nil
}

// zero says whether a tensor is 0 where the mask is 1: a multiple of 1 - mask.
func (s *source) zero(name string) bool {
	for range s.made { // a damaged graph may go in a circle
		n := s.made[name]
		if len(n.Inputs) == 0 {
			return false
		}
		name = n.Inputs[0]
		switch n.Op {
		case "Unsqueeze":
		case "Mul":
			if by, ok := s.number(n, 1); !ok || !finite([]float32{by}) {
				return false
			}
		case "Sub":
			other, ok := s.number(n, 1)
			if !ok && len(n.Inputs) > 1 {
				other, ok = s.number(n, 0)
				name = n.Inputs[1]
			}
			return ok && other == 1 && s.isMask(name)
		default:
			return false
		}
	}
	return false
}

// isMask says whether a tensor is the mask as float32.
func (s *source) isMask(name string) bool {
	n := s.made[name]
	return s.mask != "" && n.Op == "Cast" && slices.Equal(n.Inputs, []string{s.mask})
}
