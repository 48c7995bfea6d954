package gpu

import (
	"cmp"
	"fmt"
	"time"

	"bitextmine/encode/layers"
	"bitextmine/internal/cuda"
)

// Lane has the memory of a batch on a GPU.
type Lane struct {
	on *Transformer

	whole          []int32     // pinned: the whole numbers of a batch
	pooled         []float32   // pinned: its vectors
	given          cuda.Memory // the whole numbers on the GPU
	x, sums, large cuda.Memory // float16: tokens [tokens, width], sums, and what is within a block
	out            cuda.Memory // float32 [rows, width]
	unpin          []func() error
	began, ended   *cuda.Event
	rows           int
}

// wholes is how many whole numbers a batch may have: ids, places, where sentences start, and tiles of attention.
func wholes(tokens, rows int) int {
	return 2*tokens + rows + 1 + 3*(rows+tokens/attendRows)
}

// parts are the bytes of a lane's memory on the GPU.
func partsOf(t *layers.Transformer, tokens, rows int) (given, x, sums, large, out int) {
	row := 2 * tokens
	return 4 * wholes(tokens, rows), row * t.Width, row * t.Width, row * max(t.Inner, 4*t.Width), 4 * rows * t.Width
}

func bytesOf(t *layers.Transformer, tokens, rows int) int64 {
	given, x, sums, large, out := partsOf(t, tokens, rows)
	return int64(given + x + sums + large + out)
}

// allocate takes the memory, which release gives back also after an error.
func (l *Lane) allocate(rows int) (err error) {
	g := l.on
	l.rows = rows
	given, x, sums, large, out := partsOf(g.t, g.tokens, rows)
	for _, m := range []struct {
		to    *cuda.Memory
		bytes int
	}{{&l.given, given}, {&l.x, x}, {&l.sums, sums}, {&l.large, large}, {&l.out, out}} {
		if *m.to, err = g.Allocate(int64(m.bytes)); err != nil {
			return err
		}
	}
	var unpin func() error
	if l.whole, unpin, err = cuda.Pinned[int32](g.Device, given/4); err != nil {
		return err
	}
	l.unpin = append(l.unpin, unpin)
	if l.pooled, unpin, err = cuda.Pinned[float32](g.Device, out/4); err != nil {
		return err
	}
	l.unpin = append(l.unpin, unpin)
	if l.began, err = g.Event(); err == nil {
		l.ended, err = g.Event()
	}
	return err
}

func (l *Lane) release() (err error) {
	for _, m := range []cuda.Memory{l.given, l.x, l.sums, l.large, l.out} {
		err = cmp.Or(err, l.on.Release(m))
	}
	for _, unpin := range l.unpin {
		err = cmp.Or(err, unpin())
	}
	for _, e := range []*cuda.Event{l.began, l.ended} {
		if e != nil {
			err = cmp.Or(err, e.Release())
		}
	}
	return err
}

// batch is where a lane's whole numbers are on the GPU, and how many there are.
type batch struct {
	ids, places, starts, tiles cuda.Memory
	tokens, rows, blocks       int
}

// place writes the whole numbers of sentences: ids, places, starts, and tiles.
func (l *Lane) place(sentences [][]int32) (b batch, n int, err error) {
	for _, ids := range sentences {
		b.tokens += len(ids)
		b.blocks += ceil(len(ids), attendRows) / attendRows
	}
	if b.rows = len(sentences); b.tokens > l.on.tokens || b.rows > l.rows {
		return b, 0, fmt.Errorf("a batch of %d tokens and %d sentences is larger than a GPU's: %d and %d", b.tokens, b.rows, l.on.tokens, l.rows)
	}
	ids, places := l.whole[:b.tokens], l.whole[b.tokens:2*b.tokens]
	starts := l.whole[2*b.tokens:][:b.rows+1]
	tiles := l.whole[2*b.tokens+b.rows+1:][:0]
	at := 0
	for i, sentence := range sentences {
		starts[i] = int32(at)
		copy(ids[at:], sentence)
		for j := range sentence {
			places[at+j] = int32(j)
			if j%attendRows == 0 {
				tiles = append(tiles, int32(at+j), int32(at), int32(at+len(sentence)))
			}
		}
		at += len(sentence)
	}
	starts[b.rows] = int32(at)
	b.ids = l.given
	b.places = b.ids + cuda.Memory(4*b.tokens)
	b.starts = b.places + cuda.Memory(4*b.tokens)
	b.tiles = b.starts + cuda.Memory(4*(b.rows+1))
	return b, 2*b.tokens + b.rows + 1 + len(tiles), nil
}

// Run computes the vectors of sentences, [len(sentences), Width], and how long the GPU took. They are valid until the
// lane's next call. Ids must be rows of the table of words.
func (l *Lane) Run(sentences [][]int32) ([]float32, time.Duration, error) {
	b, n, err := l.place(sentences)
	if err != nil {
		return nil, 0, err
	}
	out := l.pooled[:b.rows*l.on.t.Width]
	l.on.turn.Lock()
	err = cmp.Or(cuda.UploadLater(l.on.Device, l.given, l.whole[:n]), l.began.Record(), l.compute(b),
		cuda.DownloadLater(l.on.Device, out, l.out), l.ended.Record())
	l.on.turn.Unlock()
	if err = cmp.Or(err, l.ended.Wait()); err != nil {
		return nil, 0, err
	}
	took, err := l.ended.Since(l.began)
	return out, took, err
}

// compute gives the GPU a batch to compute.
func (l *Lane) compute(b batch) error {
	g, width, first := l.on, int32(l.on.t.Width), int32(0)
	if g.first {
		first = 1
	}
	do := &launches{g: g, b: b}
	broad := g.broad()
	rows, blocks := int32(b.tokens), ceil(b.tokens, rowsOfNorm)/rowsOfNorm
	normalise := func(n norm) {
		do.run("norm"+broad, blocks, l.sums, l.x, n.scale, n.shift, l.x, width, rows, n.epsilon)
	}
	do.run("embed"+broad, blocks, b.ids, b.places, g.words, g.places, g.embedded.scale, g.embedded.shift, l.x, width, rows,
		g.embedded.epsilon)
	attended := l.large + cuda.Memory(2*g.tokens*3*g.t.Width)
	for _, layer := range g.blocks {
		do.product(layer.into, l.x, l.large)
		do.run(fmt.Sprint("attend", g.t.Width/g.t.Heads), b.blocks*g.t.Heads, l.large, b.tiles, attended,
			int32(g.t.Heads), width, layer.scale)
		do.product(layer.out, attended, l.sums)
		normalise(layer.after)
		do.product(layer.in, l.x, l.large)
		do.product(layer.back, l.large, l.sums)
		normalise(layer.last)
	}
	do.run("pool"+broad, b.rows, l.x, b.starts, l.out, width, first)
	return do.err
}

// launches starts kernels up to the first error.
type launches struct {
	g   *Transformer
	b   batch
	err error
}

// run adds the scratch memory, of which our kernels need none.
func (do *launches) run(name string, blocks int, parameters ...any) {
	if do.err == nil {
		do.err = do.g.kernels[name].Launch(blocks, append(parameters, noMemory, noMemory)...)
	}
}

func (do *launches) product(p product, x, out cuda.Memory) {
	rows, cols := ceil(do.b.tokens, tile)/tile, p.columns/tile
	do.run(p.kernel, rows*cols, x, p.matrix, p.bias, out, int32(rows), int32(cols), int32(p.k))
}
