package encoder

import (
	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// graphs are a transformer's own compiled graphs, by their results. Each has one program for every shape of batch.
type graphs map[graphKey]*g.Exec

type graphKey struct {
	kind     string
	training bool
}

// run computes "forward" (the vectors), "tokens" (those of the last layer) or "backward" (the gradients of the embedded
// tokens and the inner weights, given the vectors' gradient).
func (gs *graphs) run(p *Pass, kind string, dVectors []float32) ([][]float32, error) {
	t, args := p.t, p.Arguments()
	key := graphKey{kind, p.Training()}
	if kind == "backward" {
		args.Give(tensors.FromFlatDataAndDimensions(dVectors, p.n, t.Dim()))
	}
	exec := (*gs)[key]
	if exec == nil {
		build := t.forwardGraph
		switch kind {
		case "tokens":
			build = func(nodes []*g.Node, training bool) []*g.Node {
				e, _ := t.Take(nodes, training)
				return []*g.Node{e.Tokens}
			}
		case "backward":
			build = t.backwardGraph
		}
		exec = t.NewExec(func(nodes []*g.Node) []*g.Node { return build(nodes, key.training) })
		if *gs == nil {
			*gs = graphs{}
		}
		(*gs)[key] = exec
	}
	out, _, err := args.Call(exec, -1)
	return out, err
}

// NewExec creates an executor on the transformer's device. It keeps the program of every shape; the buckets of lengths
// limit their number.
func (t *Transformer) NewExec(build func(nodes []*g.Node) []*g.Node) *g.Exec {
	exec := g.MustNewExec(t.backend, build)
	exec.SetMaxCache(-1)
	return exec
}

func (t *Transformer) forwardGraph(nodes []*g.Node, training bool) []*g.Node {
	e, _ := t.Take(nodes, training)
	return []*g.Node{e.Vectors}
}

func (t *Transformer) backwardGraph(nodes []*g.Node, training bool) []*g.Node {
	e, rest := t.Take(nodes, training)
	loss := g.ReduceAllSum(g.Mul(e.Vectors, rest[0]))
	return g.Gradient(loss, e.Learned...)
}
