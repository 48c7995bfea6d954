package gpu

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"bitextmine/encode/layers"
	"bitextmine/encode/onnxgraph"
	"bitextmine/internal/badinput"
	"bitextmine/internal/cuda"
)

// kernels are the GPU's: make cuda-kernels makes the file of kernels.py.
//
//go:embed kernels.json.gz
var kernels []byte

var bundle = sync.OnceValue(func() cuda.Bundle { return cuda.ReadBundle(kernels) })

// The sizes that kernels.py has, too.
const (
	tile         = 128 // rows and columns of a product's tile
	attendRows   = 64  // tokens of a block of attend
	rowsOfNorm   = 4   // rows of a block of embed and norm
	side         = 64  // rows and columns of a block of turn
	noMemory     = cuda.Memory(0)
	maxTokens    = 1 << 18 // a batch's: kernels count numbers in 31 bits
	weightsReady = 4       // weights that are read at a time
)

// Transformer is an encoder on a GPU. Its lanes compute batches of sentences, one after the other.
type Transformer struct {
	*cuda.Device
	t       *layers.Transformer
	tokens  int // a batch's, at most: a multiple of tile
	first   bool
	kernels map[string]*cuda.Kernel
	turns   *cuda.Kernel
	memory  []cuda.Memory

	words, places cuda.Memory
	embedded      norm
	blocks        []block
	lanes         []*Lane
	turn          sync.Mutex // who holds it gives the GPU work
}

type norm struct {
	scale, shift cuda.Memory
	epsilon      float32
}

// product is a matrix [columns, k] in float16 and its bias [columns].
type product struct {
	matrix, bias cuda.Memory
	k, columns   int
	kernel       string
}

type block struct {
	into, out, in, back product // into: queries, keys and values side by side
	scale               float32
	after, last         norm
}

// Load loads an encoder on a GPU, with lanes for batches of up to so many tokens and rows; fewer tokens, if its
// memory has no room for more. first says that a sentence's vector is that of its first token, otherwise it is the
// mean. A GPU that is too old is layers.ErrOther.
func Load(on cuda.GPU, t *layers.Transformer, tokens, rows, lanes int, first bool) (_ *Transformer, err error) {
	if err := Suits(on); err != nil {
		return nil, err
	}
	g := &Transformer{t: t, first: first, kernels: map[string]*cuda.Kernel{}}
	if g.Device, err = cuda.Attach(on); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = g.Close() // err says what is wrong
		}
	}()
	if err := g.ready(); err != nil {
		return nil, err
	}
	free, err := g.Free()
	if err != nil {
		return nil, err
	}
	places := t.Places.Shape[0]
	g.tokens = ceil(max(min(tokens, maxTokens), places), tile)
	for int64(lanes)*bytesOf(t, g.tokens, rows) > free/16*15 {
		if g.tokens = ceil(g.tokens/2, tile); g.tokens < places {
			return nil, badinput.Errorf("GPU %d (%s) has %d MiB of memory left, too little for a sentence of %d tokens: end what else runs there or name another GPU",
				on.Number, on.Name, free>>20, places)
		}
	}
	for range lanes {
		l := &Lane{on: g}
		g.lanes = append(g.lanes, l)
		if err := l.allocate(rows); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// Suits is layers.ErrOther for a GPU that is too old.
func Suits(on cuda.GPU) error {
	if on.TooOld() {
		return fmt.Errorf("%w: GPU %d is %s, and they need 8.0 (Ampere)", layers.ErrOther, on.Number, on)
	}
	return nil
}

func ceil(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }

// Lanes compute batches, each one at a time.
func (g *Transformer) Lanes() []*Lane { return g.lanes }

// Tokens is how many a batch may have.
func (g *Transformer) Tokens() int { return g.tokens }

// Close frees what the GPU has.
func (g *Transformer) Close() (err error) {
	for _, l := range g.lanes {
		err = cmp.Or(err, l.release())
	}
	for _, m := range g.memory {
		err = cmp.Or(err, g.Release(m))
	}
	for _, k := range append(slices.Collect(maps.Values(g.kernels)), g.turns) {
		if k != nil {
			err = cmp.Or(err, k.Release())
		}
	}
	return cmp.Or(err, g.Device.Close())
}

// broad is the width that a kernel of rows is compiled for.
func (g *Transformer) broad() string {
	if g.t.Width <= 512 {
		return "512"
	}
	return "1024"
}

// ready compiles the kernels that the transformer needs, and loads its weights at the same time.
func (g *Transformer) ready() (err error) {
	broad := g.broad()
	names := []string{fmt.Sprint("attend", g.t.Width/g.t.Heads), "embed" + broad, "norm" + broad, "pool" + broad, "product", "gelu"}
	if g.turns, err = g.Compile(bundle().Find("turn", g.GPU)); err != nil {
		return err
	}
	compiled := make([]*cuda.Kernel, len(names))
	var all errgroup.Group
	for i, name := range names {
		all.Go(func() (err error) {
			compiled[i], err = g.Compile(bundle().Find(name, g.GPU))
			return err
		})
	}
	all.Go(g.load)
	err = all.Wait()
	for i, name := range names {
		g.kernels[name] = compiled[i]
	}
	return err
}

// take is memory that is given back by Close.
func (g *Transformer) take(bytes int) (cuda.Memory, error) {
	m, err := g.Allocate(int64(bytes))
	if err == nil {
		g.memory = append(g.memory, m)
	}
	return m, err
}

// load copies all weights to the GPU. Matrices are turned and rounded there.
func (g *Transformer) load() (err error) {
	t := g.t
	values := 0
	for _, b := range t.Blocks {
		values = max(values, b.In.Matrix.Size, b.Query.Matrix.Size)
	}
	passing, err := g.Allocate(int64(values))
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, g.Release(passing)) }()
	l := &loader{gpu: g, passing: passing}
	l.reading.SetLimit(weightsReady)
	g.words, g.places = l.table(t.Words), l.table(t.Places)
	g.embedded = l.normal(t.Embedded)
	for _, b := range t.Blocks {
		g.blocks = append(g.blocks, block{
			into: l.product("product", b.Query, b.Key, b.Value), out: l.product("product", b.Out),
			in: l.product("gelu", b.In), back: l.product("product", b.Back),
			// Exponents are of 2.
			scale: b.Scale * math.Log2E, after: l.normal(b.After), last: l.normal(b.Last),
		})
	}
	err = cmp.Or(l.reading.Wait(), l.err)
	return cmp.Or(err, g.Wait())
}

// loader copies weights. Its first error of taking memory is err.
type loader struct {
	gpu     *Transformer
	passing cuda.Memory // where a matrix is until it is turned
	reading errgroup.Group
	copying sync.Mutex
	err     error
}

func (l *loader) take(bytes int) (m cuda.Memory) {
	if l.err == nil {
		m, l.err = l.gpu.take(bytes)
	}
	return m
}

// later reads a weight, and copies it when no other is copied.
func (l *loader) later(w onnxgraph.Weight, to func(data []byte) error) {
	if l.err != nil {
		return
	}
	l.reading.Go(func() error {
		data, err := w.Read(0, w.Size)
		if err != nil {
			return err
		}
		l.copying.Lock()
		defer l.copying.Unlock()
		return to(data)
	})
}

func (l *loader) table(w onnxgraph.Weight) cuda.Memory {
	m := l.take(w.Size)
	l.later(w, func(data []byte) error { return cuda.Upload(l.gpu.Device, m, data) })
	return m
}

func (l *loader) row(values []float32) cuda.Memory {
	m := l.take(4 * len(values))
	if l.err == nil {
		l.copying.Lock()
		l.err = cuda.Upload(l.gpu.Device, m, values)
		l.copying.Unlock()
	}
	return m
}

func (l *loader) normal(n layers.Norm) norm {
	return norm{l.row(n.Scale), l.row(n.Shift), n.Epsilon}
}

// product has the columns of several side by side.
func (l *loader) product(name string, parts ...layers.Dense) product {
	g := l.gpu
	p := product{kernel: name, k: parts[0].K}
	var bias []float32
	for _, part := range parts {
		p.columns += part.Columns
		if part.Bias == nil {
			bias = append(bias, make([]float32, part.Columns)...)
		}
		bias = append(bias, part.Bias...)
	}
	p.matrix, p.bias = l.take(2*p.k*p.columns), l.row(bias)
	at := p.matrix
	for _, part := range parts {
		to, k, columns := at, part.K, part.Columns
		l.later(part.Matrix, func(data []byte) error {
			return cmp.Or(cuda.Upload(g.Device, l.passing, data), g.turns.Launch(k/side*columns/side, l.passing, to,
				int32(k), int32(columns), noMemory, noMemory))
		})
		at += cuda.Memory(2 * k * columns)
	}
	return p
}
