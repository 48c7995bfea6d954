package layers

import (
	"slices"
	"strings"
	"unsafe"

	"bitextmine/encode/onnxgraph"
	"bitextmine/encode/static"
)

// Words is the table of a graph's words in 8 bits, one scale a row. Its rows stay where they are in the graph's file.
type Words struct {
	To      string // tensor of the words' vectors, [batch, tokens, Columns]
	Columns int

	rows   []int8
	scales []float32
}

// Look writes the rows of words to out [len(ids), Columns]; false: an id has no row.
func (w *Words) Look(ids []int64, out []float32) bool {
	for i, id := range ids {
		if id < 0 || id >= int64(len(w.scales)) {
			return false
		}
		scale, to := w.scales[id], out[i*w.Columns:][:w.Columns]
		for k, x := range w.rows[int(id)*w.Columns:][:w.Columns] {
			to[k] = float32(x) * scale
		}
	}
	return true
}

// findWords finds the table that mine model quantise wrote for the graph's words; nil: there is none.
func findWords(g *onnxgraph.Graph, ids string) *Words {
	constants, made := map[string]onnxgraph.Initializer{}, map[string]onnxgraph.Node{}
	for _, w := range g.Initializers {
		constants[w.Name] = w
	}
	for _, n := range g.Nodes {
		for _, out := range n.Outputs {
			made[out] = n
		}
	}
	for _, n := range g.Nodes {
		if n.Op != "Gather" || len(n.Inputs) != 2 || n.Inputs[1] != ids || len(n.Outputs) != 1 {
			continue
		}
		table, ok := strings.CutSuffix(n.Inputs[0], static.Rows)
		to, also := strings.CutSuffix(strings.TrimPrefix(n.Outputs[0], static.Quantised), static.Bytes)
		own := static.Quantised + to
		if !ok || !also || made[to].Op != "Mul" ||
			!slices.Equal(made[to].Inputs, []string{own + static.Floats, own + static.Scales}) ||
			!slices.Equal(made[own+static.Floats].Inputs, n.Outputs) ||
			!slices.Equal(made[own+static.Scales].Inputs, []string{table + static.Scales, ids}) {
			continue
		}
		rows, err := constants[n.Inputs[0]].Tensor()
		scales, wrong := constants[table+static.Scales].Tensor()
		if err != nil || wrong != nil || rows.Type != onnxgraph.Int8 || len(rows.Shape) != 2 ||
			scales.Type != onnxgraph.Float32 || !slices.Equal(scales.Shape, []int{rows.Shape[0], 1}) {
			continue
		}
		return &Words{To: to, Columns: rows.Shape[1], scales: scales.Float32s(),
			rows: unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(rows.Data))), len(rows.Data))}
	}
	return nil
}
