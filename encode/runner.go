package encode

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	ort "github.com/yalue/onnxruntime_go"

	"bitextmine/encode/gpu"
	"bitextmine/encode/layers"
	"bitextmine/encode/model"
	"bitextmine/encode/session"
	"bitextmine/encode/static"
	"bitextmine/internal/badinput"
)

// runner holds what one thread needs to run batches. Its buffers grow to the size of the largest batch.
type runner struct {
	model            *model.Model
	session          *session.Session
	loaded           *ort.DynamicAdvancedSession
	binding          *ort.IoBinding // binding of inputs and outputs on a GPU; nil on the CPU
	number           int            // GPU number
	ids, mask, types []int64        // [batch, tokens]
	positions        []int64        // [batch, tokens]
	sums             []float32      // [batch, columns of the table]
	out              []float32      // [batch, dim] or [batch, tokens, dim]
	memory           static.Memory

	layered *session.Layered // nil: loaded is the whole graph
	words   []float32        // table of word vectors of the layers
	first   []float32        // inputs of the layers: [batch, tokens, columns]
	last    []float32        // outputs of the layers if the graph continues
	work    layers.Memory

	lane      *gpu.Lane // computes the graph by the program's own kernels; nil: ONNX Runtime does
	busy      *atomic.Int64
	sentences [][]int32
}

// run encodes the rows of a batch and writes their vectors into the window.
func (r *runner) run(w *window, b batch) error {
	n, dim, values := len(b.rows), r.model.Dim, r.model.Dim
	var err error
	switch {
	case r.lane != nil:
		err = r.kernels(w, b)
	case r.session.Table != nil:
		err = r.head(w, b.rows)
	default:
		if r.model.Pooling != model.None {
			values *= b.length
		}
		err = r.whole(w, b, values)
	}
	if errors.Is(err, errNoToken) {
		return badinput.Errorf(
			"encoder %s: its tokenizer gave a token that its graph does not have: correct the tokenizer's file, offset or special tokens in %s",
			r.model.Name, r.model.Path(model.FileName))
	}
	if errors.Is(err, errTooLong) {
		return badinput.Errorf("encoder %s: its graph does not take %d tokens: lower max_tokens in %s",
			r.model.Name, b.length, r.model.Path(model.FileName))
	}
	if err != nil {
		return fmt.Errorf("encode %d sentences of at most %d tokens with %s: %w", n, b.length, r.model.Name, err)
	}
	for i, row := range b.rows[:b.size] {
		vector := w.rows[int(row)*dim:][:dim]
		pool(vector, r.out[i*values:][:values], r.model.Pooling)
		if r.model.Judge != nil { // a logit may be 0; Judge looks for those that are no numbers
			continue
		}
		if err := finish(vector, r.model.Normalise, w.centre); err != nil {
			return badinput.Errorf(
				"row %d: encoder %s gave it a vector that %w: remove the sentence or use another encoder",
				w.base+int(row), r.model.Name, err)
		}
	}
	return nil
}

// errNoToken is an id that the graph has no row for.
var errNoToken = errors.New("no such token")

// errTooLong says that the graph takes fewer tokens.
var errTooLong = errors.New("too many tokens")

// whole runs the graph on the tokens of rows that have equally many, and leaves values numbers a row in r.out.
func (r *runner) whole(w *window, b batch, values int) error {
	n, l := int64(len(b.rows)), int64(b.length)
	r.ids = r.ids[:0]
	for _, row := range b.rows {
		for _, id := range w.tokens(int(row)) {
			if r.session.IDs > 0 && int(id) >= r.session.IDs {
				return errNoToken
			}
			r.ids = append(r.ids, int64(id))
		}
	}
	outShape := ort.NewShape(n, int64(r.model.Dim))
	if r.model.Pooling != model.None {
		outShape = ort.NewShape(n, l, int64(r.model.Dim))
	}
	r.out = resized(r.out, len(b.rows)*values)
	err := r.call(ort.NewShape(n, l), outShape, b.size)
	if err != nil && strings.Contains(err.Error(), "out of data bounds") {
		return errNoToken
	}
	if err != nil && !gpu.OutOfMemory(err) && strings.Contains(err.Error(), "Non-zero status code") {
		// A node has failed. If it does not fail with one token a row, it is for their number.
		r.ids = r.ids[:n]
		if r.model.Pooling != model.None {
			outShape[1] = 1
		}
		if r.call(ort.NewShape(n, 1), outShape, b.size) == nil {
			return errTooLong
		}
	}
	return err
}

// head computes the rows' sums and runs what is left of the graph on them.
func (r *runner) head(w *window, rows []int32) (err error) {
	table := r.session.Table
	dim := table.Dim()
	r.sums, r.out = resized(r.sums, len(rows)*dim), resized(r.out, len(rows)*r.model.Dim)
	for i, row := range rows {
		ids := w.tokens(int(row))
		for _, id := range ids {
			if id < 0 || int(id) >= table.Rows() {
				return errNoToken
			}
		}
		table.Sum(ids, r.sums[i*dim:(i+1)*dim])
	}
	if head := r.session.Head; head != nil {
		head.Vectors(&r.memory, r.sums, len(rows), r.out)
		return nil
	}
	input, err := ort.NewTensor(ort.NewShape(int64(len(rows)), int64(dim)), r.sums)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, input.Destroy()) }()
	output, err := ort.NewTensor(ort.NewShape(int64(len(rows)), int64(r.model.Dim)), r.out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, output.Destroy()) }()
	return r.loaded.Run([]ort.Value{input}, []ort.Value{output})
}

// close frees what the runner alone has.
func (r *runner) close() error {
	if r.binding == nil {
		return nil
	}
	return r.binding.Destroy()
}

// call runs the graph on r.ids and writes its output to r.out. The rows after the distinct ones repeat one of them, and
// need no output.
func (r *runner) call(in, out ort.Shape, distinct int) (err error) {
	if r.layered != nil {
		return r.callLayers(in, out, distinct)
	}
	output, err := ort.NewTensor(out, r.out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, output.Destroy()) }()
	return r.withInputs(r.session.Takes, in, func(inputs []ort.Value) error {
		if r.binding != nil {
			return r.bound(inputs, output)
		}
		return r.loaded.Run(inputs, []ort.Value{output})
	})
}

// withInputs calls f with those of the graph's inputs that have the names, in their order.
func (r *runner) withInputs(names []string, shape ort.Shape, f func(inputs []ort.Value) error) (err error) {
	inputs := make([]ort.Value, 0, 5)
	defer func() {
		for _, v := range inputs {
			err = errors.Join(err, v.Destroy())
		}
	}()
	for len(r.mask) < len(r.ids) {
		r.mask = append(r.mask, 1)
	}
	r.setTypes(int(shape[1]))
	for _, name := range names {
		data := r.ids
		switch name {
		case r.model.Inputs.Mask:
			data = r.mask
		case r.model.Inputs.TokenTypes:
			data = r.types
		case r.model.Inputs.Positions:
			data = r.places(int(shape[1]))
		}
		t, err := ort.NewTensor(shape, data)
		if err != nil {
			return err
		}
		inputs = append(inputs, t)
	}
	return f(inputs)
}

// places are the places of the tokens in rows of so many ids.
func (r *runner) places(length int) []int64 {
	r.positions = resized(r.positions, len(r.ids))
	for i := range r.positions {
		r.positions[i] = int64(i % length)
	}
	return r.positions
}

// setTypes sets the token types of rows of so many ids: 0, and 1 after the first sentence of a judge whose pairs are
// divided so.
func (r *runner) setTypes(length int) {
	r.types = resized(r.types, len(r.ids))
	if r.model.Judge == nil || !r.model.Judge.Segments {
		return
	}
	between := int64(r.model.Judge.Between[0])
	for start := 0; start < len(r.ids); start += length {
		row := r.ids[start : start+length]
		first := slices.Index(row[1:], between) + 2 // 1 for the special token at the start, 1 for the one found
		clear(r.types[start : start+first])
		for i := first; i < length; i++ {
			r.types[start+i] = 1
		}
	}
}

// callLayers is call for a graph in parts.
func (r *runner) callLayers(in, out ort.Shape, distinct int) error {
	l, n, tokens := r.layered.Layers, int(in[0]), int(in[1])
	columns := func(of int) (int, ort.Shape) { return n * tokens * of, ort.NewShape(in[0], in[1], int64(of)) }
	var words []float32
	var shape ort.Shape
	if w := l.Words; w != nil {
		var size int
		size, shape = columns(w.Columns)
		if r.words = resized(r.words, size); !w.Look(r.ids, r.words) {
			return errNoToken
		}
		words = r.words
	}
	first := words
	if r.layered.Before != nil {
		size, to := columns(l.Columns)
		r.first = resized(r.first, size)
		if err := r.part(r.layered.Before, in, words, shape, r.first, to); err != nil {
			return err
		}
		first = r.first
	}
	if r.layered.After == nil {
		l.Run(&r.work, first, distinct, tokens, r.out)
		return nil
	}
	size, shape := columns(l.Width)
	if l.Pooled {
		shape, size = ort.NewShape(in[0], int64(l.Width)), n*l.Width
	}
	r.last = resized(r.last, size)
	l.Run(&r.work, first, n, tokens, r.last)
	return r.part(r.layered.After, in, r.last, shape, r.out, out)
}

// part runs a part of the graph on the ids and, if the part has a last input for it, the layers' output.
func (r *runner) part(p *session.Part, in ort.Shape, last []float32, lastShape ort.Shape, to []float32,
	out ort.Shape) (err error) {
	output, err := ort.NewTensor(out, to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, output.Destroy()) }()
	names := p.Takes
	if last != nil {
		names = names[:len(names)-1]
	}
	return r.withInputs(names, in, func(inputs []ort.Value) (err error) {
		if last != nil {
			layers, failure := ort.NewTensor(lastShape, last)
			if failure != nil {
				return failure
			}
			defer func() { err = errors.Join(err, layers.Destroy()) }()
			return p.Run(append(inputs, layers), []ort.Value{output})
		}
		return p.Run(inputs, []ort.Value{output})
	})
}

// resized returns s with length n. Only newly allocated memory is zero.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
