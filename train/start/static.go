package start

import (
	"context"
	"fmt"
	"math"
	"slices"

	"bitextmine/distil/fit"
	"bitextmine/distil/student"
	"bitextmine/encode/model"
	"bitextmine/encode/onnxgraph"
	"bitextmine/encode/static"
	"bitextmine/internal/badinput"
	"bitextmine/internal/parallel"
	"bitextmine/train/data"
	"bitextmine/train/encoder"
	"bitextmine/train/export"
	"bitextmine/train/weights"
)

// Static is a static encoder of `mine distill`: a sum of subword vectors, divided by a power of their number, and the
// head of the encoder that it was distilled from. It is computed on the host, as encoder.Bag is, whose mean it takes.
type Static struct {
	rows    *encoder.Bag // rows of the table
	power   float64      // a sum is divided by tokens^power
	bits    int          // bits of a number of the exported table
	head    *student.Head
	network *fit.Head // network with the same weights
	learned []*weights.Tensor
	start   *model.Model
}

var _ encoder.Encoder = (*Static)(nil)

// pace is the ratio of the learning rates of table and head: the optimiser sees the table divided by it. The table's
// numbers are larger, and a batch has few of its rows; distillation's descent has the ratio 60. A power of two changes
// no number.
const pace = 64

// tableName and headPrefix begin the names of the tensors.
const (
	tableName  = "static.table"
	headPrefix = "static.head."
)

// openStatic reads an encoder that mine distill, or a training of one, has exported. Another encoder is a badinput
// error.
func openStatic(m *model.Model, s encoder.StaticSettings) (*Static, error) {
	raw, err := m.ReadFile(m.ONNX)
	if err != nil {
		return nil, err
	}
	e, err := readStatic(m, raw)
	if err != nil {
		return nil, badinput.Errorf("encoder.start: %s %w", m.Name, err)
	}
	if s.Bits != 0 {
		e.bits = s.Bits
	}
	e.rows = tableOf(e, e.round)
	return e, nil
}

// tableOf is the encoder's table with rows that round has changed.
func tableOf(e *Static, round func(row []float32)) *encoder.Bag {
	return encoder.NewTable(tableName, e.width(), e.table().Data, round)
}

// readStatic reads a graph. The table is not rounded again.
func readStatic(m *model.Model, graph []byte) (*Static, error) {
	g, err := onnxgraph.Parse(graph)
	if err != nil {
		return nil, err
	}
	found := static.Find(g, m.Output)
	if found == nil {
		return nil, fmt.Errorf("is no static encoder: name one that mine distill wrote, or a training of one")
	}
	e := &Static{power: found.Power(), bits: found.Bits(), start: m}
	dim := found.Dim()
	values := make([]float32, found.Rows()*dim)
	parallel.Ranges(found.Rows(), dim, func(from, to int) {
		for i := from; i < to; i++ {
			found.Row(int32(i), values[i*dim:(i+1)*dim])
			for k := range dim {
				values[i*dim+k] /= pace
			}
		}
	})
	e.rows = encoder.NewTable(tableName, dim, values, nil)
	head, err := student.FindHead(g, features(g), m.Output, m.Dim)
	if err != nil {
		return nil, err
	}
	if e.head, err = head.Widened(); err != nil {
		return nil, fmt.Errorf("cannot be trained: its head %w", err)
	}
	return e, e.takeHead()
}

// features is the head's first tensor: the sums, or their last alias.
func features(g *onnxgraph.Graph) string {
	name := static.Sums
	for _, n := range g.Nodes {
		if n.Op == "Identity" && n.Inputs[0] == name {
			name = n.Outputs[0]
		}
	}
	return name
}

// takeHead makes the network and the list of its tensors.
func (e *Static) takeHead() (err error) {
	if e.network, err = e.head.Network(); err != nil {
		return fmt.Errorf("cannot be trained: its head %w", err)
	}
	e.learned = nil
	for _, w := range e.head.Weights {
		if m := e.network.Weights[w.Name]; m != nil {
			e.learned = append(e.learned,
				&weights.Tensor{Name: headPrefix + w.Name, Shape: m.Shape, Data: m.Values, NoDecay: len(m.Shape) < 2})
		}
	}
	_, err = e.network.NewPass(e.width(), e.head.Dim)
	return err
}

// table is the learned tensor of the table.
func (e *Static) table() *weights.Tensor { return e.rows.Weights()[0] }

// width is the number of columns of the table.
func (e *Static) width() int { return e.rows.Dim() }

// round rounds a row as the exported table has it.
func (e *Static) round(row []float32) {
	student.Round(row, student.BestScale(row, e.bits), e.bits, row)
}

// Dim is the length of a vector.
func (e *Static) Dim() int { return e.head.Dim }

// Weights are the table and the weights of the head.
func (e *Static) Weights() []*weights.Tensor {
	return append([]*weights.Tensor{e.table()}, e.learned...)
}

// Forward gives the vectors [n, dim].
func (e *Static) Forward(ctx context.Context, side data.Side, seed uint64) ([]float32, error) {
	sums, err := e.sums(ctx, side, seed)
	if err != nil {
		return nil, err
	}
	out := make([]float32, side.N*e.Dim())
	return out, e.chunks(side.N, func(_, from, to int, p *fit.Pass) {
		copy(p.Features(to-from), sums[from*e.width():])
		copy(out[from*e.Dim():], p.Forward(to-from))
	})
}

// sums are the features [n, width]: the bag's means, times the share of n that the power leaves.
func (e *Static) sums(ctx context.Context, side data.Side, seed uint64) ([]float32, error) {
	sums, err := e.rows.Forward(ctx, side, seed)
	if err == nil {
		scale(side, sums, 1-e.power)
	}
	return sums, err
}

// scale multiplies the row of each sentence by pace times tokens^power.
func scale(side data.Side, rows []float32, power float64) {
	width := len(rows) / side.N
	for i, n := range side.Lengths {
		by := float32(pace * math.Pow(float64(n), power))
		row := rows[i*width : (i+1)*width]
		for k := range row {
			row[k] *= by
		}
	}
}

// Backward adds to the gradients of the table and of the head.
func (e *Static) Backward(ctx context.Context, side data.Side, seed uint64, gradients []float32) error {
	sums, err := e.sums(ctx, side, seed)
	if err != nil {
		return err
	}
	back := make([]float32, len(sums))
	turned := e.network.Turned()
	parts := make([][][]float32, (side.N+fit.Chunk-1)/fit.Chunk) // indexed by chunk and weight
	err = e.chunks(side.N, func(chunk, from, to int, p *fit.Pass) {
		copy(p.Features(to-from), sums[from*e.width():])
		p.Forward(to - from)
		copy(back[from*e.width():], p.Backward(to-from, gradients[from*e.Dim():to*e.Dim()], turned))
		for _, w := range e.learned {
			parts[chunk] = append(parts[chunk], append([]float32(nil), p.Gradient(w.Name[len(headPrefix):])...))
		}
	})
	if err != nil {
		return err
	}
	for _, part := range parts {
		for i, w := range e.learned {
			w.AddGradient(part[i])
		}
	}
	scale(side, back, 1-e.power)
	return e.rows.Backward(ctx, side, seed, back)
}

// chunks calls do for chunks of n rows, on many threads, each with a pass of its own.
func (e *Static) chunks(n int, do func(chunk, from, to int, p *fit.Pass)) error {
	const wide = 1 << 20 // a chunk is always worth a goroutine
	parts := (n + fit.Chunk - 1) / fit.Chunk
	errs := make([]error, parts)
	parallel.Ranges(parts, wide, func(first, last int) {
		p, err := e.network.NewPass(e.width(), e.Dim())
		for c := first; c < last; c++ {
			if errs[c] = err; err == nil {
				do(c, c*fit.Chunk, min((c+1)*fit.Chunk, n), p)
			}
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Export returns the graph, and an encoder with its rounded table and head.
func (e *Static) Export(name string) (*export.Graph, encoder.Encoder, error) {
	head := *e.head
	head.Weights = slices.Clone(head.Weights)
	head.Take(e.network)
	values := slices.Clone(e.table().Data)
	for i := range values {
		values[i] *= pace
	}
	s := &student.Student{Name: name, Table: student.Quantise(values, e.width(), e.bits), Dim: e.width(),
		Power: e.power, Head: &head}
	g, err := s.Graph()
	if err != nil {
		return nil, nil, err
	}
	raw, err := g.Model()
	if err != nil {
		return nil, nil, err
	}
	m := *e.start
	m.Output = head.To
	exact, err := readStatic(&m, raw)
	if err != nil {
		return nil, nil, err
	}
	return g, exact, nil
}

// Longest is 0.
func (e *Static) Longest() int { return 0 }

// Architecture adds nothing.
func (e *Static) Architecture() encoder.Architecture { return encoder.Architecture{} }

// Describe writes into a manifest how the exported graph is run, and the licence and origin of its start.
func (e *Static) Describe(m *model.Manifest) {
	m.Inputs, m.Output, m.Normalise = model.Inputs{IDs: export.IDs}, e.head.To, e.start.Normalise
	m.Tokens = model.TokenOutput{Output: student.TokensOutput, Dim: e.width(), Static: true}
	if m.Licence == "" {
		m.Licence = e.start.Licence
	}
	m.TrainedOn = slices.Concat(e.start.TrainedOn, m.TrainedOn)
}
