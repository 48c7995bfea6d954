package fit

import (
	"fmt"
	"math"
)

// Matrix is a weight [Rows, Columns], or a bias, which has one row.
type Matrix struct {
	Shape         []int
	Rows, Columns int
	Values        []float32
}

// NewMatrix is a weight of at most two axes; its values are changed in place.
func NewMatrix(shape []int, values []float32) *Matrix {
	m := &Matrix{Shape: shape, Rows: 1, Columns: len(values), Values: values}
	if len(shape) == 2 {
		m.Rows, m.Columns = shape[0], shape[1]
	}
	return m
}

// Layer is one operator of a head: Out = Op(In...).
type Layer struct {
	Op      string // MatMul, Add, Relu, Tanh, Identity or LpNormalization
	In, Out string
	With    string // the other tensor of an Add, or a weight of MatMul or Add
}

// Head is a network from a sentence's features, From, to its vector, To.
type Head struct {
	From, To string
	Layers   []Layer // listed in the order of computation
	Weights  map[string]*Matrix
}

// Differentiable reports whether a head may have an operator.
func Differentiable(op string) bool {
	switch op {
	case "MatMul", "Add", "Relu", "Tanh", "Identity", "LpNormalization":
		return true
	}
	return false
}

// Chunk is the number of sentences that pass a head at once.
const Chunk = 64

// widths finds every tensor's columns.
func (h *Head) widths(features, vector int) (map[string]int, error) {
	width := map[string]int{h.From: features}
	for _, l := range h.Layers {
		in, ok := width[l.In]
		if !ok {
			return nil, fmt.Errorf("nothing makes the head's tensor %s", l.In)
		}
		width[l.Out] = in
		w, weight := h.Weights[l.With]
		switch {
		case l.Op == "MatMul" && !weight, l.Op == "MatMul" && w.Rows != in, l.Op == "Add" && weight &&
			(w.Rows != 1 || w.Columns != in),
			l.Op == "Add" && !weight && width[l.With] != in:
			return nil, fmt.Errorf("the head's %s of %s and %s has shapes that do not fit", l.Op, l.In, l.With)
		case l.Op == "MatMul":
			width[l.Out] = w.Columns
		}
	}
	if width[h.To] != vector {
		return nil, fmt.Errorf("the head's tensor %s has %d columns instead of %d", h.To, width[h.To], vector)
	}
	return width, nil
}

// Pass is one chunk in a head: its tensors, their gradients, and those of the weights.
type Pass struct {
	head    *Head
	width   map[string]int
	values  map[string][]float32
	grads   map[string][]float32
	weights map[string][]float32
}

func (h *Head) newPass(width map[string]int) *Pass {
	p := &Pass{head: h, width: width, values: map[string][]float32{}, grads: map[string][]float32{},
		weights: map[string][]float32{}}
	for name, columns := range width {
		p.values[name], p.grads[name] = make([]float32, Chunk*columns), make([]float32, Chunk*columns)
	}
	for name, w := range h.Weights {
		p.weights[name] = make([]float32, len(w.Values))
	}
	return p
}

// Forward returns the head's vectors of n rows of features, which the next call overwrites.
func (p *Pass) Forward(n int) []float32 {
	for _, l := range p.head.Layers {
		p.forward(l, n)
	}
	return p.values[p.head.To][:n*p.width[p.head.To]]
}

func (p *Pass) forward(l Layer, n int) {
	columns := p.width[l.Out]
	in, out := p.values[l.In][:n*p.width[l.In]], p.values[l.Out][:n*columns]
	w := p.head.Weights[l.With]
	switch l.Op {
	case "MatMul":
		product(in, w.Rows, w.Values, columns, out, false)
	case "Add":
		if w != nil {
			for i, x := range in {
				out[i] = x + w.Values[i%columns]
			}
			return
		}
		for i, x := range p.values[l.With][:n*columns] {
			out[i] = in[i] + x
		}
	case "Relu":
		for i, x := range in {
			out[i] = max(x, 0)
		}
	case "Tanh":
		for i, x := range in {
			out[i] = float32(math.Tanh(float64(x)))
		}
	case "LpNormalization":
		copy(out, in)
		for i := range n {
			normalise(out[i*columns : (i+1)*columns])
		}
	case "Identity":
		copy(out, in)
	}
}

// NewPass makes a pass of up to Chunk rows from features to a vector of so many columns.
func (h *Head) NewPass(features, vector int) (*Pass, error) {
	width, err := h.widths(features, vector)
	if err != nil {
		return nil, err
	}
	return h.newPass(width), nil
}

// Features is the place to write the features of n rows before Forward.
func (p *Pass) Features(n int) []float32 { return p.values[p.head.From][:n*p.width[p.head.From]] }

// Backward returns the gradient of the features of n rows, which Forward has seen, given that of their vectors. It is
// overwritten by the next call, as is Gradient's.
func (p *Pass) Backward(n int, gradients []float32, turned Turned) []float32 {
	p.clear()
	copy(p.grads[p.head.To], gradients)
	p.backward(n, turned)
	return p.grads[p.head.From][:n*p.width[p.head.From]]
}

// Gradient is the gradient of a weight that the last Backward gave.
func (p *Pass) Gradient(weight string) []float32 { return p.weights[weight] }

// Turned has the weights of a head transposed, for Backward.
type Turned map[string][]float32

// Turned transposes the current weights.
func (h *Head) Turned() Turned {
	turned := Turned{}
	for name, w := range h.Weights {
		turned[name] = Transposed(w.Values, w.Columns)
	}
	return turned
}

// clear sets all gradients to 0.
func (p *Pass) clear() {
	for _, g := range p.grads {
		clear(g)
	}
	for _, g := range p.weights {
		clear(g)
	}
}

// backward propagates the gradient in grads[To] to grads[From] and to the weights. turned has the weights transposed.
func (p *Pass) backward(n int, turned Turned) {
	for i := len(p.head.Layers) - 1; i >= 0; i-- {
		p.back(p.head.Layers[i], n, turned)
	}
}

func (p *Pass) back(l Layer, n int, turned Turned) {
	columns, wide := p.width[l.Out], p.width[l.In]
	in, out, g, to := p.values[l.In][:n*wide], p.values[l.Out][:n*columns], p.grads[l.Out][:n*columns],
		p.grads[l.In][:n*wide]
	switch l.Op {
	case "MatMul":
		product(g, columns, turned[l.With], wide, to, true)
		product(Transposed(in, wide), n, g, columns, p.weights[l.With], true)
	case "Add":
		for i, x := range g {
			to[i] += x
		}
		if bias, ok := p.weights[l.With]; ok {
			for i, x := range g {
				bias[i%columns] += x
			}
			return
		}
		other := p.grads[l.With]
		for i, x := range g {
			other[i] += x
		}
	case "Relu":
		for i, x := range g {
			if in[i] > 0 {
				to[i] += x
			}
		}
	case "Tanh":
		for i, x := range g {
			to[i] += x * (1 - out[i]*out[i])
		}
	case "LpNormalization":
		for i := range n {
			normaliseBack(in[i*wide:(i+1)*wide], out[i*wide:(i+1)*wide], g[i*wide:(i+1)*wide], to[i*wide:(i+1)*wide])
		}
	case "Identity":
		for i, x := range g {
			to[i] += x
		}
	}
}

// normalise scales a row to length 1, unless it is 0.
func normalise(row []float32) {
	squares := 0.0
	for _, x := range row {
		squares += float64(x) * float64(x)
	}
	if length := math.Sqrt(squares); length > 0 {
		for k := range row {
			row[k] = float32(float64(row[k]) / length)
		}
	}
}

// normaliseBack adds the gradient of out = in / |in|.
func normaliseBack(in, out, g, to []float32) {
	squares, along := 0.0, 0.0
	for k, x := range in {
		squares += float64(x) * float64(x)
		along += float64(g[k]) * float64(out[k])
	}
	if squares == 0 {
		return
	}
	scale := 1 / math.Sqrt(squares)
	for k := range to {
		to[k] += float32((float64(g[k]) - along*float64(out[k])) * scale)
	}
}

// Vectors gives the head's vectors [n, vector], of length 1; row writes the features of row i.
func (h *Head) Vectors(n, features, vector, threads int, row func(i int, to []float32)) ([]float32, error) {
	width, err := h.widths(features, vector)
	if err != nil {
		return nil, err
	}
	out := make([]float32, n*vector)
	passes := make(chan *Pass, threads)
	for range threads {
		passes <- h.newPass(width)
	}
	parallel(threads, (n+Chunk-1)/Chunk, func(c int) {
		p := <-passes
		lo, hi := c*Chunk, min((c+1)*Chunk, n)
		for i := lo; i < hi; i++ {
			row(i, p.Features(hi - lo)[(i-lo)*features:(i-lo+1)*features])
		}
		copy(out[lo*vector:hi*vector], p.Forward(hi-lo))
		for i := lo; i < hi; i++ {
			normalise(out[i*vector : (i+1)*vector])
		}
		passes <- p
	})
	return out, nil
}
