package encode

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	ort "github.com/yalue/onnxruntime_go"

	"bitextmine/internal/badinput"
)

// Encoder is an open encoder. Encode and Stream may be called from any number of goroutines; together they use at most
// Options.Threads threads. Close must be called last.
type Encoder struct {
	model    *Model
	options  Options
	splitter splitter
	ids      idMap
	graph    graph
	runners  chan *runner // one for each thread; a goroutine must hold one to run the graph
	windows  sync.Pool    // of *window
}

// Open loads a model's tokenizer and graph and verifies the graph against the manifest.
func Open(model *Model, options Options) (*Encoder, error) {
	if err := options.Validate(); err != nil {
		return nil, err
	}
	e := &Encoder{model: model, options: options.withDefaults()}
	if err := e.openTokenizer(); err != nil {
		return nil, err
	}
	if err := e.openGraph(); err != nil {
		e.splitter.Close()
		return nil, err
	}
	return e, nil
}

func (e *Encoder) openTokenizer() error {
	splitter, err := newSplitter(e.model)
	if err != nil {
		return err
	}
	if e.ids, err = newIDMap(e.model, splitter); err != nil {
		splitter.Close()
		return err
	}
	e.splitter = splitter
	return nil
}

func (e *Encoder) openGraph() error {
	if err := acquireRuntime(e.options.Library); err != nil {
		return err
	}
	var err error
	if e.graph, err = openGraph(e.model); err != nil {
		return errors.Join(err, releaseRuntime())
	}
	e.windows.New = func() any { return new(window) }
	e.runners = make(chan *runner, e.options.Threads)
	for range e.options.Threads {
		e.runners <- &runner{model: e.model, graph: e.graph}
	}
	return nil
}

// Name is the name in the manifest.
func (e *Encoder) Name() string { return e.model.Name }

// Dim is the number of values in a vector.
func (e *Encoder) Dim() int { return e.model.Dim }

// Digest identifies everything that changes the vectors (Model.Digest).
func (e *Encoder) Digest() string { return e.model.Digest }

// Close frees the tokenizer, the session and, if this is the last open encoder, ONNX Runtime. No other call may be
// running or follow.
func (e *Encoder) Close() error {
	if e.splitter != nil {
		e.splitter.Close()
	}
	return errors.Join(e.graph.session.Destroy(), releaseRuntime())
}

// Encode writes the vectors of texts, which are normalised sentences of one language, to dst [len(texts), Dim]; row i
// is the vector of texts[i]. A vector that is zero or not finite is a badinput error that names its row.
func (e *Encoder) Encode(ctx context.Context, lang string, texts []string, dst []float32) error {
	if len(dst) != len(texts)*e.model.Dim {
		return fmt.Errorf("encode %d texts: the destination has %d values instead of %d", len(texts), len(dst), len(texts)*e.model.Dim)
	}
	sentences := func(yield func(string, error) bool) {
		for _, text := range texts {
			if !yield(text, nil) {
				return
			}
		}
	}
	_, err := e.Stream(ctx, lang, sentences, func(rows []float32) error {
		dst = dst[copy(dst, rows):]
		return nil
	})
	return err
}

// Stream encodes texts as they arrive and calls emit with their vectors [m, Dim] in order, one window of sentences at a
// time. Its memory does not grow with the number of texts. emit must not retain the slice. Stream returns the number of
// texts that it encoded. It stops at the first error from texts or emit; an error in a vector names the row, counted
// from 0.
func (e *Encoder) Stream(ctx context.Context, lang string, texts iter.Seq2[string, error], emit func(rows []float32) error) (int, error) {
	return e.stream(ctx, lang, texts, emit, nil, nil)
}

// runner holds what one thread needs to run batches. Its buffers grow to the size of the largest batch.
type runner struct {
	model            *Model
	graph            graph
	ids, mask, types []int64   // [batch, tokens]
	sums             []float32 // [batch, columns of the table]
	out              []float32 // [batch, dim] or [batch, tokens, dim]
}

// run encodes the rows of a batch and writes their vectors into the window.
func (r *runner) run(w *window, b batch) error {
	n, dim, values := len(b.rows), r.model.Dim, r.model.Dim
	var err error
	if r.graph.table != nil {
		err = r.head(w, b.rows)
	} else {
		if r.model.Pooling != None {
			values *= b.length
		}
		err = r.whole(w, b, values)
	}
	if errors.Is(err, errNoToken) {
		return badinput.Errorf("encoder %s: its tokenizer gave a token that its graph does not have: correct the tokenizer's file, offset or special tokens in %s",
			r.model.Name, r.model.shown(ManifestName))
	}
	if err != nil {
		return fmt.Errorf("encode %d sentences of at most %d tokens with %s: %w", n, b.length, r.model.Name, err)
	}
	for i, row := range b.rows {
		vector := w.rows[int(row)*dim:][:dim]
		pool(vector, r.out[i*values:][:values], r.model.Pooling)
		if err := finish(vector, r.model.Normalise); err != nil {
			return badinput.Errorf("row %d: encoder %s gave it a vector that %w: remove the sentence or use another encoder",
				w.base+int(row), r.model.Name, err)
		}
	}
	return nil
}

// errNoToken is an id that the graph has no row for.
var errNoToken = errors.New("no such token")

// whole runs the graph on the tokens of rows that have equally many, and leaves values numbers a row in r.out.
func (r *runner) whole(w *window, b batch, values int) error {
	n, l := int64(len(b.rows)), int64(b.length)
	r.ids = r.ids[:0]
	for _, row := range b.rows {
		for _, id := range w.tokens(int(row)) {
			r.ids = append(r.ids, int64(id))
		}
	}
	outShape := ort.NewShape(n, int64(r.model.Dim))
	if r.model.Pooling != None {
		outShape = ort.NewShape(n, l, int64(r.model.Dim))
	}
	r.out = resized(r.out, len(b.rows)*values)
	err := r.call(ort.NewShape(n, l), outShape)
	if err != nil && strings.Contains(err.Error(), "out of data bounds") {
		return errNoToken
	}
	return err
}

// head computes the rows' sums and runs what is left of the graph on them.
func (r *runner) head(w *window, rows []int32) (err error) {
	table := r.graph.table
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
	return r.graph.session.Run([]ort.Value{input}, []ort.Value{output})
}

// call runs the graph on r.ids and writes its output to r.out.
func (r *runner) call(in, out ort.Shape) (err error) {
	inputs := make([]ort.Value, 0, 3)
	defer func() {
		for _, v := range inputs {
			err = errors.Join(err, v.Destroy())
		}
	}()
	add := func(data []int64) error {
		t, err := ort.NewTensor(in, data)
		if err == nil {
			inputs = append(inputs, t)
		}
		return err
	}
	if err := add(r.ids); err != nil {
		return err
	}
	if r.model.Inputs.Mask != "" {
		for len(r.mask) < len(r.ids) {
			r.mask = append(r.mask, 1)
		}
		if err := add(r.mask); err != nil {
			return err
		}
	}
	if r.model.Inputs.TokenTypes != "" {
		r.types = resized(r.types, len(r.ids))
		if err := add(r.types); err != nil {
			return err
		}
	}
	output, err := ort.NewTensor(out, r.out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, output.Destroy()) }()
	return r.graph.session.Run(inputs, []ort.Value{output})
}

// resized returns s with length n. Only newly allocated memory is zero.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
