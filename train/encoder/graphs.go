package encoder

import (
	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"gonum.org/v1/gonum/blas/blas32"
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

// groups are concatenated lists: list i is members[ends[i-1]:ends[i]].
type groups struct {
	ends    []int
	members []int32
}

func (g groups) of(i int) []int32 {
	if i == 0 {
		return g.members[:g.ends[0]]
	}
	return g.members[g.ends[i-1]:g.ends[i]]
}

// group adds member(k) to list place[k] of n lists, in the order of k.
func group(place []int32, n int, member func(k int) int32) groups {
	g := groups{ends: make([]int, n), members: make([]int32, len(place))}
	for _, p := range place {
		g.ends[p]++
	}
	sum := 0
	for i, c := range g.ends {
		g.ends[i] = sum
		sum += c
	}
	for k, p := range place {
		g.members[g.ends[p]] = member(k)
		g.ends[p]++
	}
	return g
}

// number lists the distinct values, all below limit, in ascending order, and for each value its index in that list.
func number(values []int32, limit int) (distinct, places []int32) {
	at := make([]int32, limit)
	for _, v := range values {
		at[v] = 1
	}
	for v, seen := range at {
		if seen == 1 {
			at[v] = int32(len(distinct))
			distinct = append(distinct, int32(v))
		}
	}
	places = make([]int32, len(values))
	for k, v := range values {
		places[k] = at[v]
	}
	return distinct, places
}

// axpy adds a times x to y.
func axpy(y, x []float32, a float32) {
	blas32.Axpy(a, blas32.Vector{N: len(y), Inc: 1, Data: x}, blas32.Vector{N: len(y), Inc: 1, Data: y})
}
