package step

import (
	"context"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/encoder"
	"bitextmine/train/layers"
)

// cached gives a loss only vectors, which any encoder computes chunk by chunk.
type cached struct {
	encoder encoder.Encoder
	backend compute.Backend
	chunk   int // sentences; 0 means a whole view
}

// cachedPass is a batch with encoded views.
type cachedPass struct {
	cached
	views   []data.Side
	vectors [][]float32
	seed    uint64
}

func (c cached) begin(ctx context.Context, views []data.Side, seed uint64) (pass, error) {
	p := &cachedPass{c, views, make([][]float32, len(views)), seed}
	for i, view := range views {
		p.vectors[i] = make([]float32, 0, view.N*c.encoder.Dim())
		err := p.eachChunk(ctx, i, func(part data.Side, _ int, seed uint64) error {
			v, err := c.encoder.Forward(ctx, part, seed)
			p.vectors[i] = append(p.vectors[i], v...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (c cached) compile(build func([]*graph.Node) []*graph.Node) *graph.Exec {
	return graph.MustNewExec(c.backend, build)
}

func (c cached) take(rows []int, nodes []*graph.Node) (views []encoder.Encoded, learned, rest []*graph.Node) {
	for i := range rows {
		views = append(views, encoder.Encoded{Vectors: nodes[i]})
	}
	return views, nodes[:len(rows):len(rows)], nodes[len(rows):]
}

func (p *cachedPass) arguments() *device.Arguments {
	args := &device.Arguments{}
	for _, v := range p.vectors {
		args.Give(tensors.FromFlatDataAndDimensions(v, len(v)/p.encoder.Dim(), p.encoder.Dim()))
	}
	return args
}

func (p *cachedPass) learn(ctx context.Context, gradients [][]float32) ([][]float32, error) {
	dim := p.encoder.Dim()
	for i := range p.views {
		err := p.eachChunk(ctx, i, func(part data.Side, from int, seed uint64) error {
			return p.encoder.Backward(ctx, part, seed, gradients[i][from*dim:(from+part.N)*dim])
		})
		if err != nil {
			return nil, err
		}
	}
	return gradients[len(p.views):], nil
}

// eachChunk cuts a view into chunks. Every chunk has its own seed, which is the same in each pass.
func (p *cachedPass) eachChunk(ctx context.Context, view int,
	do func(part data.Side, from int, seed uint64) error) error {
	side, size := p.views[view], p.chunk
	if size == 0 {
		size = side.N
	}
	for from := 0; from < side.N; from += size {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := do(side.Cut(from, min(from+size, side.N)), from, layers.Seed(p.seed, from, view)); err != nil {
			return err
		}
	}
	return nil
}
