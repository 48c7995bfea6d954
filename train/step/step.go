// Package step computes training steps up to the optimiser: it encodes the views that an objective needs, computes the
// terms of its loss, and adds to the gradients of all weights.
//
// The graph of a loss is assembled in one way, with two fronts. The step of a transformer is one graph from tokens to
// gradients. With GradCache (Gao et al., 2021), and always with a bag, views are encoded chunk by chunk, the loss is
// computed from the vectors alone, and each chunk is encoded again with the gradients of its vectors. This gives the
// gradients of the whole batch in the memory of one chunk.
package step

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/encoder"
	"bitextmine/train/layers"
	"bitextmine/train/objective"
	"bitextmine/train/weights"
)

// Options are the settings of steps.
type Options struct {
	Chunk      int // sentences of a view that are encoded at once (GradCache); with 0 a transformer's step is one graph
	Accumulate int // batches per optimiser step; 0 means one

	// Resident has the values of a transformer's inner weights and of the heads on the device, and takes their
	// gradients; nil: they are on the host. It needs a step that is one graph.
	Resident device.Resident
}

// Cached reports whether the loss of an encoder's steps gets only vectors, so that the objective has no tokens. graph
// comes from the encoder's Kind.
func Cached(graph bool, chunk int) bool { return !graph || chunk > 0 }

// graphEncoder is an encoder whose step can be one graph. encoder.Transformer documents the methods.
type graphEncoder interface {
	encoder.Encoder
	Inner() []*weights.Tensor
	LearnsTables() bool
	Keep(resident device.Resident)
	NewExec(build func(nodes []*graph.Node) []*graph.Node) *graph.Exec
	Pass(sides []data.Side, seed uint64) (*encoder.Pass, error)
	Take(nodes []*graph.Node, training bool) (encoder.Taken, []*graph.Node)
}

// whole returns the encoder of a step that is one graph; nil if the loss gets only vectors.
func whole(e encoder.Encoder, chunk int) graphEncoder {
	if t, ok := e.(graphEncoder); ok && !Cached(ok, chunk) {
		return t
	}
	return nil
}

// Inner are the encoder's weights that may stay on a device: those in the graph, if a step is one graph.
func Inner(e encoder.Encoder, chunk int) []*weights.Tensor {
	if t := whole(e, chunk); t != nil {
		return t.Inner()
	}
	return nil
}

// Step computes the steps of one training. It must not be used concurrently.
type Step struct {
	objective  objective.Objective
	terms      []objective.Term
	heads      []*weights.Tensor
	front      front
	accumulate int
	resident   device.Resident
	learned    []*weights.Tensor      // the encoder's inner weights that are not frozen, if they are resident
	toHost     int                    // number of outputs that the host needs, if weights are resident
	programs   map[string]*graph.Exec // keys are the rows of the views
}

// New combines an encoder with an objective. heads are the tensors of the objective's Heads and, if it needs it, the
// encoder's embedding table, which has no gradient if it is frozen.
func New(e encoder.Encoder, o objective.Objective, heads []*weights.Tensor, backend compute.Backend,
	options Options) *Step {
	s := &Step{objective: o, terms: o.Terms(), heads: heads, accumulate: max(1, options.Accumulate),
		programs: map[string]*graph.Exec{}}
	if t := whole(e, options.Chunk); t != nil {
		s.front = wholeFront{t}
		if options.Resident != nil {
			t.Keep(options.Resident)
			s.resident, s.learned = options.Resident, weights.Learned(t.Inner())
			s.toHost = 1 // the values
			if t.LearnsTables() {
				s.toHost++ // the gradient of the embedded tokens
			}
		}
	} else {
		s.front = cached{e, backend, options.Chunk}
	}
	return s
}

// front is the part of a step that provides a loss with its encoded views.
type front interface {
	// begin starts the pass of a batch.
	begin(ctx context.Context, views []data.Side, seed uint64) (pass, error)
	// compile compiles a graph.
	compile(build func(nodes []*graph.Node) []*graph.Node) *graph.Exec
	// take builds the encoded views, with the given numbers of rows, from the first arguments of a graph. It also
	// returns the nodes whose gradients are needed and the remaining arguments.
	take(rows []int, nodes []*graph.Node) (views []encoder.Encoded, learned, rest []*graph.Node)
}

// pass is the computation of one batch in a front.
type pass interface {
	// arguments are the first arguments of the graph.
	arguments() *device.Arguments
	// learn adds to the encoder's gradients. gradients starts with those of the nodes that take returned as learned;
	// learn returns the others.
	learn(ctx context.Context, gradients [][]float32) (rest [][]float32, err error)
}

// Run returns the terms of a batch's loss and adds to the gradients of the encoder's weights and of the heads. seed
// determines the dropout and must not be 0.
func (s *Step) Run(ctx context.Context, b *data.Batch, seed uint64) ([]Value, error) {
	views, err := s.objective.Views(b)
	if err != nil {
		return nil, err
	}
	inputs, err := s.objective.Inputs(ctx, b, views)
	if err != nil {
		return nil, err
	}
	p, err := s.front.begin(ctx, views, seed)
	if err != nil {
		return nil, err
	}
	values, args := make([]Value, len(s.terms)), p.arguments()
	for _, h := range s.heads {
		args.Weight(h, s.resident)
	}
	for i, term := range s.terms {
		values[i] = Value{Name: term.Name, Weight: term.Weight.At(b.Step / s.accumulate)}
		args.Give(tensors.FromScalar(float32(values[i].Weight)))
	}
	args.Give(inputs...)
	first := -1
	if s.resident != nil {
		first = s.toHost
	}
	out, gradients, err := args.Call(s.program(views), first)
	if err != nil {
		return nil, fmt.Errorf("step %d, %d pairs of %d tokens: %w", b.Step, views[0].N, views[0].Length, err)
	}
	for i := range values {
		values[i].Value = out[0][i]
	}
	heads, err := p.learn(ctx, out[1:])
	if err != nil {
		return nil, err
	}
	if s.resident != nil {
		return values, s.keep(gradients)
	}
	// This is after the encoder's own gradients, because an embedding table that is also a head has a gradient in every
	// row.
	for i, h := range weights.Learned(s.heads) {
		h.AddGradient(heads[i])
	}
	return values, nil
}

// keep gives the gradients of resident weights to whoever has their values.
func (s *Step) keep(gradients []*tensors.Tensor) error {
	for i, w := range slices.Concat(s.learned, weights.Learned(s.heads)) {
		if err := s.resident.Add(w, gradients[i]); err != nil {
			return err
		}
	}
	return nil
}

// program returns the compiled graph for views with these numbers of rows.
func (s *Step) program(views []data.Side) *graph.Exec {
	rows := make([]int, len(views))
	for i, v := range views {
		rows[i] = v.N
	}
	key := fmt.Sprint(rows)
	if s.programs[key] == nil {
		s.programs[key] = s.front.compile(func(nodes []*graph.Node) []*graph.Node { return s.graph(rows, nodes) })
	}
	return s.programs[key]
}

// graph computes the terms [terms], then the gradients of the loss with respect to the encoder's learned nodes and the
// heads.
func (s *Step) graph(rows []int, nodes []*graph.Node) []*graph.Node {
	views, learned, rest := s.front.take(rows, nodes)
	of := objective.Step{Views: views, Heads: map[string]*graph.Node{}}
	for i, h := range s.heads {
		of.Heads[h.Name] = rest[i]
		if !h.Frozen {
			learned = append(learned, rest[i])
		}
	}
	rest = rest[len(s.heads):]
	of.Inputs = rest[len(s.terms):]
	values := s.objective.Loss(of)
	if len(values) != len(s.terms) {
		panic(fmt.Sprintf("step: the objective has %d terms and gave %d values", len(s.terms), len(values)))
	}
	var loss *graph.Node
	for i, value := range values {
		weighted := graph.Mul(value, rest[i])
		if loss == nil {
			loss = weighted
		} else {
			loss = graph.Add(loss, weighted)
		}
		values[i] = graph.Reshape(value, 1)
	}
	return append([]*graph.Node{graph.Concatenate(values, 0)}, graph.Gradient(loss, learned...)...)
}

// wholeFront includes the encoder in the loss's graph: all views are encoded in one pass.
type wholeFront struct{ t graphEncoder }

func (w wholeFront) begin(ctx context.Context, views []data.Side, seed uint64) (pass, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := w.t.Pass(views, seed)
	return wholePass{p}, err
}

func (w wholeFront) compile(build func([]*graph.Node) []*graph.Node) *graph.Exec {
	return w.t.NewExec(build)
}

func (w wholeFront) take(rows []int, nodes []*graph.Node) (views []encoder.Encoded, learned, rest []*graph.Node) {
	taken, rest := w.t.Take(nodes, true)
	from := 0
	for _, n := range rows {
		to := from + n
		views = append(views, encoder.Encoded{
			Vectors: layers.Rows(taken.Vectors, from, to, 1),
			Tokens:  layers.Rows(taken.Tokens, from, to, 1),
			Mask:    graph.SliceAxis(taken.Mask, 0, graph.AxisRange(from, to)),
		})
		from = to
	}
	return views, taken.Learned, rest
}

type wholePass struct{ *encoder.Pass }

func (p wholePass) arguments() *device.Arguments { return p.Arguments() }

func (p wholePass) learn(_ context.Context, gradients [][]float32) ([][]float32, error) {
	return p.AddGradients(gradients), nil
}

// Value is the computed value of a term. The loss is the sum of Weight x Value.
type Value struct {
	Name   string
	Weight float64
	Value  float32
}

// Describe lists the terms of a loss that is NaN or infinite. If only some of them are, it says which.
func Describe(values []Value) string {
	var all, wrong []string
	for _, v := range values {
		all = append(all, fmt.Sprintf("%s %v", v.Name, v.Value))
		if x := float64(v.Value); math.IsNaN(x) || math.IsInf(x, 0) {
			wrong = append(wrong, v.Name)
		}
	}
	text := strings.Join(all, ", ")
	if len(wrong) > 0 && len(wrong) < len(values) {
		text += "; because of " + strings.Join(wrong, " and ")
	}
	return text
}
