package layers

// #include "kernels.h"
import "C"

import (
	"slices"

	"bitextmine/encode/matrix"
)

type activation = C.int

const (
	plainProduct  activation = C.AFTER_PLAIN
	reluOfProduct activation = C.AFTER_RELU
	geluOfProduct activation = C.AFTER_GELU
	tanhOfProduct activation = C.AFTER_TANH_GELU
	siluOfProduct activation = C.AFTER_SILU
)

// rowsAtOnce is how many tokens go through all layers together: what is computed stays in the second-level cache, and a
// matrix is read from memory for so many rows.
const rowsAtOnce = 256

// Memory holds the working buffers of Run.
type Memory struct {
	slots     [][]float32
	numbers   []uint8
	greatest  []float32
	scratch   []float32
	quantised quantity // quantity that the numbers represent
}

// quantity is a tensor in 8 bits: with scales of rows, or of sentences that stand so many rows apart.
type quantity struct {
	x, gap int
}

// part are some of the sentences that Run computes.
type part struct {
	*Layers
	*Memory
	sentences, tokens int
	input             []float32
}

// Run computes the layers of sentences that have equally many tokens: x [sentences, tokens, Columns] gives out
// [sentences, tokens, Width], or [sentences, Width] if Pooled.
func (l *Layers) Run(m *Memory, x []float32, sentences, tokens int, out []float32) {
	if len(m.slots) < len(l.slots) {
		m.slots = make([][]float32, len(l.slots))
	}
	each := l.Width
	if !l.Pooled {
		each *= tokens
	}
	atOnce := max(1, rowsAtOnce/tokens)
	for first := 0; first < sentences; first += atOnce {
		n := min(atOnce, sentences-first)
		p := part{l, m, n, tokens, x[first*tokens*l.Columns:][:n*tokens*l.Columns]}
		p.run()
		p.write(out[first*each:][:n*each])
	}
}

func (p *part) run() {
	for i, columns := range p.Layers.slots {
		p.Memory.slots[i] = grown(p.Memory.slots[i], p.sentences*p.tokens*columns)
	}
	p.quantised = quantity{x: none}
	n := C.int64_t(p.sentences * p.tokens)
	for i := range p.steps {
		s := &p.steps[i]
		x, xStride := p.data(s.x)
		y, yStride := p.data(s.y)
		out, stride := p.data(s.out)
		columns := C.int64_t(p.tensors[s.x].columns)
		switch s.op {
		case multiply:
			p.multiply(s)
		case apply:
			if s.first != nil {
				y = pointer(s.first)
			}
			C.layers_map(s.after, x, xStride, flag(s.times), y, yStride, n, columns, out, stride)
		case normalise:
			C.layers_normalise(x, xStride, n, columns, pointer(s.first), pointer(s.other), C.float(s.epsilon), out,
				stride)
		case rescale:
			parts := C.int64_t(s.heads)
			C.layers_scale(x, xStride, n, parts, columns/parts, pointer(s.first), C.float(s.epsilon), out, stride)
		case rotate:
			cosines, sines := s.rotary.waves(p.tokens)
			C.layers_rotate(x, xStride, C.int64_t(p.sentences), C.int64_t(p.tokens), C.int64_t(s.heads),
				columns/C.int64_t(s.heads), pointer(cosines), pointer(sines), out, stride)
		case mean:
			C.layers_mean(x, xStride, C.int64_t(p.sentences), C.int64_t(p.tokens), columns, out, stride)
		case attend:
			dim := int(columns) / s.heads
			values, vStride := p.data(s.z)
			p.scratch = grown(p.scratch, (dim+4)*(p.tokens+2*lanes))
			C.layers_attention(x, xStride, y, yStride, values, vStride, C.int64_t(p.sentences), C.int64_t(p.tokens),
				C.int64_t(s.heads), C.int64_t(s.shared), C.int64_t(dim), C.int64_t(s.sight.before),
				C.int64_t(s.sight.behind), C.float(s.scale), pointer(p.scratch), out, stride)
		}
	}
}

func flag(set bool) C.int {
	if set {
		return 1
	}
	return 0
}

// data is where a tensor's first row is, and how far apart its rows are.
func (p *part) data(tensor int) (*C.float, C.int64_t) {
	if tensor == none {
		return nil, 0
	}
	t := p.tensors[tensor]
	b := p.buffers[t.buffer]
	memory := p.input
	if t.buffer != 0 {
		memory = p.Memory.slots[b.slot]
	}
	return pointer(memory[t.offset:]), C.int64_t(b.columns)
}

// multiply runs a product; several that follow each other share the numbers of a tensor.
func (p *part) multiply(s *step) {
	q := s.product
	gap, columns, n := q.gap(), p.tensors[s.x].columns, p.sentences*p.tokens
	if of := (quantity{s.x, gap}); p.quantised != of {
		p.quantise(of)
		p.quantised = of
	}
	first := 0
	if gap > 0 {
		first, n = (gap-q.before)*columns, n+(p.sentences-1)*gap
	}
	rest, restStride := p.data(s.y)
	out, stride := p.data(s.out)
	matrices := matrix.Product{
		Numbers: p.numbers[first:], Step: columns, N: n, K: q.k, Matrix: q.matrix, Columns: q.columns, Shift: q.shift,
		Scales: q.scales, Greatest: p.greatest, Tokens: p.tokens, Gap: gap, Bias: q.bias, After: int32(s.after),
		Rest: (*float32)(rest), RestStride: int(restStride), Times: s.times, Out: (*float32)(out), Stride: int(stride),
	}
	matrices.Compute()
}

// quantise makes the numbers of a tensor.
func (p *part) quantise(q quantity) {
	columns := p.tensors[q.x].columns
	count := p.sentences*(p.tokens+q.gap) + 2*q.gap + matrix.SpareRows
	p.numbers, p.greatest = grown(p.numbers, count*columns), grown(p.greatest, p.sentences*p.tokens)
	x, stride := p.data(q.x)
	numbers := (*C.uint8_t)(&p.numbers[0])
	if q.gap == 0 {
		C.layers_quantise(x, stride, C.int64_t(p.sentences*p.tokens), C.int64_t(columns), numbers, pointer(p.greatest))
		return
	}
	C.layers_quantise_sentences(x, stride, C.int64_t(p.sentences), C.int64_t(p.tokens), C.int64_t(columns),
		C.int64_t(q.gap), numbers, pointer(p.greatest))
}

// write copies the tensor To.
func (p *part) write(out []float32) {
	count := p.sentences
	if !p.Pooled {
		count *= p.tokens
	}
	x, stride := p.data(p.result)
	C.layers_map(C.AFTER_PLAIN, x, stride, 0, nil, 0, C.int64_t(count), C.int64_t(p.Width), pointer(out),
		C.int64_t(p.Width))
}

// grown is memory of n numbers, of which nothing is known.
func grown[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

func pointer(s []float32) *C.float {
	if len(s) == 0 {
		return nil
	}
	return (*C.float)(&s[0])
}
