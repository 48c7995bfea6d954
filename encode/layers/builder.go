package layers

import (
	"slices"

	"bitextmine/encode/onnxgraph"
	"bitextmine/encode/static"
)

// builder has the steps so far, and the tensors that they make.
type builder struct {
	Layers
	since []int // the step after which a tensor is there, by tensor; -1: from the beginning
}

// tensor is a new one with a buffer of its own.
func (b *builder) tensor(columns int) int {
	b.buffers = append(b.buffers, buffer{columns: columns})
	return b.view(tensor{buffer: len(b.buffers) - 1, columns: columns})
}

// view is a tensor in a buffer that there is.
func (b *builder) view(t tensor) int {
	b.tensors, b.since = append(b.tensors, t), append(b.since, len(b.steps)-1)
	return len(b.tensors) - 1
}

// step adds a step that makes a tensor of so many columns of others.
func (b *builder) step(s step, columns int) int {
	b.steps = append(b.steps, s)
	out := b.tensor(columns)
	b.steps[len(b.steps)-1].out = out
	return out
}

// place gives each buffer memory that no other needs at the same time.
func (l *Layers) place() {
	const never = -1
	first := slices.Repeat([]int{never}, len(l.buffers))
	for b := range l.buffers {
		l.buffers[b].last, l.buffers[b].slot = never, never
	}
	for i, s := range l.steps {
		if b := l.tensors[s.out].buffer; first[b] == never {
			first[b] = i
		}
		for _, t := range []int{s.x, s.y, s.z, s.out} {
			if t != none {
				l.buffers[l.tensors[t].buffer].last = i
			}
		}
	}
	l.buffers[l.tensors[l.result].buffer].last = len(l.steps)
	var free []int
	for i := range l.steps {
		for b := range l.buffers {
			if first[b] != i {
				continue
			}
			if len(free) == 0 {
				free, l.slots = append(free, len(l.slots)), append(l.slots, 0)
			}
			slot := free[len(free)-1]
			free = free[:len(free)-1]
			l.buffers[b].slot, l.slots[slot] = slot, max(l.slots[slot], l.buffers[b].columns)
		}
		for b := range l.buffers {
			if l.buffers[b].last == i && l.buffers[b].slot != never {
				free = append(free, l.buffers[b].slot)
			}
		}
	}
}

// source holds the graph's nodes that no step computes.
type source struct {
	constants map[string]onnxgraph.Tensor
	made      map[string]onnxgraph.Node // node by output tensor
	mask      string
}

// row is a constant row of so many columns; nil if the input is not one.
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
			if by, ok := s.number(n, 1); !ok || !static.Finite([]float32{by}) {
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
