package encoder

import (
	"context"
	"fmt"

	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/objective"
	"bitextmine/train/weights"
)

// Step is a whole training step but for the optimiser, as one graph: a batch's sides through the transformer, the objective, and every gradient.
type Step struct {
	t         *Transformer
	objective objective.Objective
	heads     []*weights.Tensor
	programs  map[stepKey]*program
}

// Value is a term of the loss, computed; the loss is the sum of Weight x Value.
type Value struct {
	Name   string
	Weight float64
	Value  float32
}

// Values joins terms and their computed values [terms], as objective.WithGradients gives them.
func Values(terms []objective.Term, computed []float32) []Value {
	values := make([]Value, len(terms))
	for i, term := range terms {
		values[i] = Value{term.Name, term.Weight, computed[i]}
	}
	return values
}

// stepKey is what fixes a graph beside the shapes of its arguments.
type stepKey struct {
	pairs, negatives int
	training         bool
}

// program is a graph and what its terms are called.
type program struct {
	exec  *g.Exec
	terms []objective.Term
}

// NewStep joins a transformer and an objective; heads are the tensors of objective.Heads(t.Dim()) and,
// for an objective that asks for it, the table Words.
func (t *Transformer) NewStep(o objective.Objective, heads []*weights.Tensor) *Step {
	return &Step{t: t, objective: o, heads: heads, programs: map[stepKey]*program{}}
}

// Run gives the terms of a batch's loss and adds to the gradients of the transformer's weights and of the heads. seed is Forward's.
func (s *Step) Run(ctx context.Context, b *data.Batch, seed uint64) ([]Value, error) {
	inputs, err := s.objective.Inputs(ctx, b)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sides, key := []data.Side{b.Source, b.Target}, stepKey{pairs: b.Source.N}
	if b.Negatives != nil {
		sides = append(sides, *b.Negatives)
		key.negatives = b.Negatives.N
	}
	under, err := s.t.batch(sides, seed)
	if err != nil {
		return nil, err
	}
	args := s.t.arguments(under)
	key.training = under.training()
	for _, h := range s.heads {
		args = append(args, tensors.FromFlatDataAndDimensions(h.Data, h.Shape...))
	}
	p := s.programs[key]
	if p == nil {
		p = &program{}
		p.exec = newExec(s.t, func(nodes []*g.Node) []*g.Node { return s.graph(p, key, nodes) })
		s.programs[key] = p
	}
	out, err := device.Call(p.exec, args, inputs...)
	if err != nil {
		return nil, fmt.Errorf("step %d, %d pairs of %d tokens: %w", b.Step, key.pairs, under.length, err)
	}
	values := Values(p.terms, out[0])
	s.t.addGradients(under, out[1:])
	for i, h := range s.heads {
		h.AddGradient(out[2+len(s.t.inner)+i])
	}
	return values, nil
}

// graph gives the terms [terms], then the gradients of the embedded tokens, the inner weights and the heads.
func (s *Step) graph(p *program, key stepKey, nodes []*g.Node) []*g.Node {
	e, rest := s.t.take(nodes, key.training)
	all := e.Encoded
	step := objective.Step{Heads: map[string]*g.Node{}}
	cut := func(from, to int) objective.Encoded {
		return objective.Encoded{Vectors: rows(all.Vectors, from, to, 1), Tokens: rows(all.Tokens, from, to, 1), Mask: g.SliceAxis(all.Mask, 0, g.AxisRange(from, to))}
	}
	step.Source, step.Target = cut(0, key.pairs), cut(key.pairs, 2*key.pairs)
	if key.negatives > 0 {
		negatives := cut(2*key.pairs, 2*key.pairs+key.negatives)
		step.Negatives = &negatives
	}
	learned := e.learned
	for i, h := range s.heads {
		step.Heads[h.Name] = rest[i]
		learned = append(learned, rest[i])
	}
	step.Inputs = rest[len(s.heads):]
	p.terms = s.objective.Terms(step)
	return objective.WithGradients(p.terms, learned)
}
