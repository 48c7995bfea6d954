package encoder

import (
	"fmt"
	"slices"

	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"gonum.org/v1/gonum/blas/blas32"

	"bitextmine/train/weights"
)

// embed sets p.embedded.
func (p *Pass) embed() error {
	t, w := p.t, p.t.Width
	p.embedded = make([]float32, p.n*p.length*w)
	words, scale := t.byName[Words], float32(t.wordScale())
	places := t.places()
	for row := range p.n {
		for place := range int(p.lengths[row]) {
			at := row*p.length + place
			id := p.ids[at]
			if int(id) >= t.Vocabulary || id < 0 {
				return fmt.Errorf("a batch has the token %d but the vocabulary has %d", id, t.Vocabulary)
			}
			dst := p.embedded[at*w : (at+1)*w]
			if places == nil { // they are in the graph
				copy(dst, words.Row(int(id)))
				continue
			}
			from := places[place*w : (place+1)*w]
			for i, x := range words.Row(int(id)) {
				dst[i] = x*scale + from[i]
			}
		}
	}
	return nil
}

// places are the vectors added to the word at each position, [max tokens, width]: the position and the first token
// type. An imported encoder has none.
func (t *Transformer) places() []float32 {
	var places []float32
	switch t.Positions {
	case Learned:
		places = slices.Clone(t.byName[positions].Data[t.PositionOffset*t.Width:])
	case Sinusoidal:
		places = slices.Clone(t.sines)
	default:
		return nil
	}
	if t.TokenTypes > 0 {
		first := t.byName[types].Row(0)
		for place := range t.MaxTokens {
			add(places[place*t.Width:(place+1)*t.Width], first)
		}
	}
	return places
}

// unembed adds the gradient of the embedded tokens [n, length, width] to the tables' gradients.
func (p *Pass) unembed(grad []float32) {
	t, w := p.t, p.t.Width
	words, scale := t.byName[Words], float32(t.wordScale())
	words.NeedGrad()
	seen := map[int32]bool{}
	places := make([]float32, p.length*w)
	for row := range p.n {
		for place := range int(p.lengths[row]) {
			at := row*p.length + place
			src := grad[at*w : (at+1)*w]
			dst := words.GradRow(int(p.ids[at]))
			seen[p.ids[at]] = true
			sum := places[place*w : (place+1)*w]
			for i, x := range src {
				dst[i] += x * scale
				sum[i] += x
			}
		}
	}
	rows := make([]int32, 0, len(seen))
	for id := range seen {
		rows = append(rows, id)
	}
	touch(words, rows)
	if t.Positions == Learned {
		table := t.byName[positions]
		table.NeedGrad()
		add(table.Grad[t.PositionOffset*w:t.PositionOffset*w+len(places)], places)
	}
	if t.TokenTypes > 0 {
		table := t.byName[types]
		table.NeedGrad()
		for place := range p.length {
			add(table.GradRow(0), places[place*w:(place+1)*w])
		}
	}
}

// touch adds rows to a table's touched rows.
func touch(table *weights.Tensor, rows []int32) {
	rows = append(rows, table.Touched...)
	slices.Sort(rows)
	table.Touched = slices.Compact(rows)
}

// Tables are the tables of an exported encoder: the words [vocabulary, width], scaled, and the vectors added at every
// position [max tokens, width].
func (t *Transformer) Tables() (words, places []float32) {
	words = slices.Clone(t.byName[Words].Data)
	if scale := float32(t.wordScale()); scale != 1 {
		for i := range words {
			words[i] *= scale
		}
	}
	return words, t.places()
}

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
