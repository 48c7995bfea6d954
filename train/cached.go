package train

import (
	"context"
	"fmt"

	"github.com/gomlx/compute"

	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/encoder"
	"bitextmine/train/objective"
	"bitextmine/train/weights"

	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// stepper gives the terms of a batch's loss and adds to the gradients of all weights.
type stepper interface {
	Run(ctx context.Context, b *data.Batch, seed uint64) ([]encoder.Value, error)
}

var (
	_ stepper = (*encoder.Step)(nil)
	_ stepper = (*cached)(nil)
)

// cached is a step of GradCache (Gao et al., 2021): all of a batch is encoded chunk by chunk, the loss is taken over the vectors alone, and each chunk is encoded
// again for the gradients that the loss gave its vectors. The gradients are those of the whole batch, in the memory of one chunk.
type cached struct {
	encoder   encoder.Encoder
	objective objective.Objective
	heads     []*weights.Tensor // the objective's own and, where it asks for it, the encoder's table of words
	backend   compute.Backend
	chunk     int // sentences; 0: a side at once
	programs  map[shape]*lossProgram
}

// shape is what fixes a loss graph.
type shape struct{ pairs, negatives int }

type lossProgram struct {
	exec  *g.Exec
	terms []objective.Term
}

// Run does one batch.
func (c *cached) Run(ctx context.Context, b *data.Batch, seed uint64) ([]encoder.Value, error) {
	inputs, err := c.objective.Inputs(ctx, b)
	if err != nil {
		return nil, err
	}
	sides := []data.Side{b.Source, b.Target}
	key := shape{pairs: b.Source.N}
	if b.Negatives != nil {
		sides, key.negatives = append(sides, *b.Negatives), b.Negatives.N
	}
	vectors := make([][]float32, len(sides))
	for i, side := range sides {
		vectors[i] = make([]float32, 0, side.N*c.encoder.Dim())
		err := c.eachChunk(ctx, side, i, seed, func(part data.Side, _ int, seed uint64) error {
			v, err := c.encoder.Forward(ctx, part, seed)
			vectors[i] = append(vectors[i], v...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	values, gradients, heads, err := c.loss(key, vectors, inputs)
	if err != nil {
		return nil, fmt.Errorf("step %d: %w", b.Step, err)
	}
	for i, side := range sides {
		err := c.eachChunk(ctx, side, i, seed, func(part data.Side, from int, seed uint64) error {
			dim := c.encoder.Dim()
			return c.encoder.Backward(ctx, part, seed, gradients[i][from*dim:(from+part.N)*dim])
		})
		if err != nil {
			return nil, err
		}
	}
	for i, h := range c.heads { // after the encoder's own: a table of words that is a head, too, has a gradient in every row
		h.AddGradient(heads[i])
	}
	return values, nil
}

// eachChunk cuts a side; every chunk has a seed of its own, the same at each pass.
func (c *cached) eachChunk(ctx context.Context, side data.Side, index int, seed uint64, do func(part data.Side, from int, seed uint64) error) error {
	size := c.chunk
	if size == 0 {
		size = side.N
	}
	for from := 0; from < side.N; from += size {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := do(side.Cut(from, min(from+size, side.N)), from, encoder.Seed(seed, from, index)); err != nil {
			return err
		}
	}
	return nil
}

// loss computes the terms, the gradients of each side's vectors and those of the heads.
func (c *cached) loss(key shape, vectors [][]float32, inputs []*tensors.Tensor) (values []encoder.Value, gradients, heads [][]float32, err error) {
	p := c.programs[key]
	if p == nil {
		p = &lossProgram{}
		p.exec = g.MustNewExec(c.backend, func(nodes []*g.Node) []*g.Node { return c.graph(p, key, nodes) })
		c.programs[key] = p
	}
	var args []any
	for _, v := range vectors {
		args = append(args, tensors.FromFlatDataAndDimensions(v, len(v)/c.encoder.Dim(), c.encoder.Dim()))
	}
	for _, h := range c.heads {
		args = append(args, tensors.FromFlatDataAndDimensions(h.Data, h.Shape...))
	}
	out, err := device.Call(p.exec, args, inputs...)
	if err != nil {
		return nil, nil, nil, err
	}
	return encoder.Values(p.terms, out[0]), out[1 : 1+len(vectors)], out[1+len(vectors):], nil
}

// graph gives the terms [terms], then the gradients of the vectors of each side and of the heads.
func (c *cached) graph(p *lossProgram, key shape, nodes []*g.Node) []*g.Node {
	step := objective.Step{Source: objective.Encoded{Vectors: nodes[0]}, Target: objective.Encoded{Vectors: nodes[1]}, Heads: map[string]*g.Node{}}
	learned := nodes[:2]
	if key.negatives > 0 {
		step.Negatives = &objective.Encoded{Vectors: nodes[2]}
		learned = nodes[:3]
	}
	rest := nodes[len(learned):]
	for i, h := range c.heads {
		step.Heads[h.Name] = rest[i]
	}
	learned = nodes[:len(learned)+len(c.heads)]
	step.Inputs = rest[len(c.heads):]
	p.terms = c.objective.Terms(step)
	return objective.WithGradients(p.terms, learned)
}
