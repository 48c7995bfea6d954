package encoder

import (
	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/device"
	"bitextmine/train/objective"
)

// graphs are a transformer's compiled graphs, by what they compute; each keeps one program for every shape of batch.
type graphs map[graphKey]*g.Exec

type graphKey struct {
	kind     string
	training bool
}

// run computes "forward" (the vectors) or "backward" (the gradients of the embedded tokens and the inner weights, given the vectors' gradient).
func (gs *graphs) run(t *Transformer, kind string, b *batch, dVectors []float32) ([][]float32, error) {
	args := t.arguments(b)
	key := graphKey{kind, b.training()}
	if kind == "backward" {
		args = append(args, tensors.FromFlatDataAndDimensions(dVectors, b.n, t.Width))
	}
	exec := (*gs)[key]
	if exec == nil {
		build := t.forwardGraph
		if kind == "backward" {
			build = t.backwardGraph
		}
		exec = newExec(t, func(nodes []*g.Node) []*g.Node { return build(nodes, key.training) })
		if *gs == nil {
			*gs = graphs{}
		}
		(*gs)[key] = exec
	}
	return device.Call(exec, args)
}

func newExec(t *Transformer, build func(nodes []*g.Node) []*g.Node) *g.Exec {
	exec := g.MustNewExec(t.backend, build)
	exec.SetMaxCache(-1) // the number of shapes is bounded by the buckets of lengths
	return exec
}

// arguments are what every graph takes first: embedded tokens, lengths, the inner weights, the masks if there is dropout.
func (t *Transformer) arguments(b *batch) []any {
	args := []any{tensors.FromFlatDataAndDimensions(b.embedded, b.n, b.length, t.Width), tensors.FromFlatDataAndDimensions(b.lengths, b.n)}
	for _, w := range t.inner {
		args = append(args, tensors.FromFlatDataAndDimensions(w.Data, w.Shape...))
	}
	return append(args, t.masks(b)...)
}

// taken is the encoder's part of a graph.
type taken struct {
	objective.Encoded
	learned []*g.Node // embedded tokens and inner weights: what gradients are wanted of
}

// take builds the encoder from the first arguments of a graph and gives it with the others. What is not training is in float32 and drops nothing.
func (t *Transformer) take(nodes []*g.Node, training bool) (taken, []*g.Node) {
	embedded, lengths, nodes := nodes[0], nodes[1], nodes[2:]
	params, learned := map[string]*g.Node{}, []*g.Node{embedded}
	for i, w := range t.inner {
		params[w.Name] = nodes[i]
		learned = append(learned, nodes[i])
	}
	nodes = nodes[len(t.inner):]
	s := t.Settings
	if !training {
		s.Precision = Float32
	}
	var masks *Dropout
	if training && t.Dropout > 0 {
		count := 1 + 3*t.Layers
		masks, nodes = &Dropout{nodes[:count], t.kept()}, nodes[count:]
	}
	return taken{s.Build(params, embedded, lengths, masks), learned}, nodes
}

func (t *Transformer) forwardGraph(nodes []*g.Node, training bool) []*g.Node {
	e, _ := t.take(nodes, training)
	return []*g.Node{e.Vectors}
}

func (t *Transformer) backwardGraph(nodes []*g.Node, training bool) []*g.Node {
	e, rest := t.take(nodes, training)
	return g.Gradient(g.ReduceAllSum(g.Mul(e.Vectors, rest[0])), e.learned...)
}
