package layers

import "slices"

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
