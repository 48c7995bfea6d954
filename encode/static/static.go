// Package static computes what the graph of a static encoder that `mine distill` wrote does before its first layer: the
// sum of a table's rows, divided by a power of their number. A loop over the table's bytes does it at the speed of
// memory, where the graph's operators write every row as float32 first.
package static

/*
#cgo CFLAGS: -O3 -std=c11
#include "sum.h"
*/
import "C"

import (
	"math"
	"slices"
	"unsafe"

	"bitextmine/encode/embedding"
	"bitextmine/encode/onnxgraph"
)

// Names of tensors in a graph of mine distill. The part of the graph that is the teacher's has none with the prefix.
const (
	Prefix = "student."
	table  = Prefix + "table"  // int8 [rows, dim*bits/8]
	scales = Prefix + "scales" // float16 [rows, 1]
	power  = Prefix + "power"  // -p: a sum is divided by tokens^p
	zeros  = Prefix + "zeros"  // [dim] what a number is for nothing
	// Sums names the output of a Table: float32 [batch, dim].
	Sums = Prefix + "scaled"
	// Tokens are the table's rows: float32 [batch, tokens, dim].
	Tokens = Prefix + "tokens"
)

// Table is the table of a static encoder.
type Table struct {
	rows, dim int
	bits      int
	numbers   []int8    // [rows, dim*bits/8]; part of the model's file
	scales    []float32 // [rows]
	zeros     []float32 // [dim]
	power     float64
}

// Find reads the table of a graph; nil if the graph is no static encoder's, or not of a form that Table knows.
func Find(g *onnxgraph.Graph, output string) *Table {
	if output == Sums || !slices.Contains(g.Waists(output), Sums) { // not all of the output passes through the sums
		return nil
	}
	return read(g)
}

// FindTokens is Find for a graph whose output is the table's rows.
func FindTokens(g *onnxgraph.Graph, output string) *Table {
	rows := func(n onnxgraph.Node) bool {
		return n.Op == "Mul" && slices.Equal(n.Inputs, []string{Prefix + "centred", Prefix + "row_scales"}) &&
			slices.Equal(n.Outputs, []string{Tokens})
	}
	if output != Tokens || !slices.ContainsFunc(g.Nodes, rows) {
		return nil
	}
	return read(g)
}

// read reads the table, whatever the graph makes of it.
func read(g *onnxgraph.Graph) *Table {
	tensors := map[string]onnxgraph.Tensor{}
	for _, w := range g.Initializers {
		switch w.Name {
		case table, scales, power, zeros:
			t, err := w.Tensor()
			if err != nil {
				return nil
			}
			tensors[w.Name] = t
		}
	}
	numbers, all, exponent, nothing := tensors[table], tensors[scales], tensors[power], tensors[zeros]
	if numbers.Type != onnxgraph.Int8 || len(numbers.Shape) != 2 || all.Type != onnxgraph.Float16 ||
		len(all.Data) != 2*numbers.Shape[0] ||
		exponent.Type != onnxgraph.Float32 || len(exponent.Data) != 4 || nothing.Type != onnxgraph.Float32 {
		return nil
	}
	t := &Table{rows: numbers.Shape[0], zeros: nothing.Float32s(), power: -float64(exponent.Float32s()[0])}
	t.dim = len(t.zeros)
	switch t.dim {
	case numbers.Shape[1]:
		t.bits = 8
	case 2 * numbers.Shape[1]:
		t.bits = 4
	default:
		return nil
	}
	if t.rows == 0 || t.dim == 0 {
		return nil
	}
	t.numbers = unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(numbers.Data))), len(numbers.Data))
	t.scales = make([]float32, t.rows)
	embedding.Matrix{N: t.rows, Dim: 1, F16: all.Uint16s()}.Float32(t.scales, 0, t.rows)
	return t
}

// Dim is the number of a sum's columns.
func (t *Table) Dim() int { return t.dim }

// Rows is the number of ids.
func (t *Table) Rows() int { return t.rows }

// Row writes the vector of an id of the table to dst [Dim], as the graph rounds it.
func (t *Table) Row(id int32, dst []float32) {
	scale := t.scales[id]
	if t.bits == 8 {
		for k, number := range t.numbers[int(id)*t.dim:][:t.dim] {
			dst[k] = float32(float32(number)-t.zeros[k]) * scale
		}
		return
	}
	half := t.dim / 2
	for k, both := range t.numbers[int(id)*half:][:half] {
		dst[k] = float32(float32(both&15)-t.zeros[k]) * scale
		dst[half+k] = float32(float32(both>>4)-t.zeros[half+k]) * scale
	}
}

// Bits is how many a number has: 4 or 8.
func (t *Table) Bits() int { return t.bits }

// Power returns the exponent of the token count that divides a sum.
func (t *Table) Power() float64 { return t.power }

// Sum writes a sentence's sum to dst [Dim]. The ids must be of the table, and there must be one.
func (t *Table) Sum(ids []int32, dst []float32) {
	clear(dst)
	n, d := C.int64_t(len(ids)), C.int64_t(t.dim)
	list, numbers, scales, out := (*C.int32_t)(unsafe.SliceData(ids)), (*C.int8_t)(unsafe.SliceData(t.numbers)),
		(*C.float)(unsafe.SliceData(t.scales)), (*C.float)(unsafe.SliceData(dst))
	if t.bits == 4 {
		C.static_sum4(list, n, numbers, d, scales, out)
	} else {
		C.static_sum8(list, n, numbers, d, scales, out)
	}
	sum := float32(0)
	for _, id := range ids {
		sum += t.scales[id]
	}
	scale := float32(math.Pow(float64(len(ids)), -t.power))
	for k, zero := range t.zeros {
		dst[k] = (dst[k] - float32(sum*zero)) * scale
	}
}
