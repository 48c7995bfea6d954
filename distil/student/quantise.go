package student

import (
	"fmt"
	"math"

	"bitextmine/distil/fit"
	"bitextmine/encode/embedding"
	"bitextmine/encode/onnxgraph"
)

// Table is a student's table as it ships: value = scale of the row * (number - zero), numbers being 0 to 2^bits-1 and
// zero half of the largest.
type Table struct {
	rows, Dim int
	bits      int // 4 or 8
	// [rows, dim] less 128; or [rows, dim/2]: a column of the first half, plus 16 times (its counterpart in the second
	// half - 8)
	numbers []int8
	scales  []float32 // [rows]
}

// zero is the level of 0. The number of levels is even, so it lies between two of them, which loses least on numbers
// that are distributed evenly around 0.
func zero(bits int) float32 { return float32(int(1)<<bits-1) / 2 }

// Quantise rounds a table [rows, dim].
func Quantise(values []float32, dim, bits int) *Table {
	t := &Table{rows: len(values) / dim, Dim: dim, bits: bits}
	t.numbers = make([]int8, len(values)*bits/8)
	t.scales = make([]float32, t.rows)
	for i := range t.rows {
		t.scales[i] = BestScale(values[i*dim:(i+1)*dim], bits)
	}
	t.scales = widened(narrowed(t.scales)) // the precision of the file
	for i := range t.rows {
		t.set(i, values[i*dim:(i+1)*dim])
	}
	return t
}

// BestScale tries scales from the one that cuts nothing off downwards, and returns the one with the least square error.
func BestScale(row []float32, bits int) float32 {
	most := float32(0)
	for _, x := range row {
		most = max(most, float32(math.Abs(float64(x))))
	}
	z := zero(bits)
	if most == 0 {
		return 1 // any scale does
	}
	if bits == 8 {
		return most / z // cutting off gains nothing among 256 levels
	}
	best, bestError := float32(0), math.Inf(1)
	for step := range 16 {
		scale := most / z * (1 - float32(step)*0.03)
		sum := 0.0
		for _, x := range row {
			e := float64(x - scale*(float32(level(x, scale, z))-z))
			sum += e * e
		}
		if sum < bestError {
			best, bestError = scale, sum
		}
	}
	return best
}

// set rounds one row with its scale.
func (t *Table) set(i int, row []float32) {
	z, half := zero(t.bits), t.Dim/2
	for k, x := range row {
		n := level(x, t.scales[i], z)
		switch {
		case t.bits == 8:
			t.numbers[i*t.Dim+k] = int8(n - 128)
		case k < half:
			t.numbers[i*half+k] = int8(n)
		default:
			t.numbers[i*half+k-half] += int8(n-8) * 16
		}
	}
}

// level is the level nearest to x.
func level(x, scale, zero float32) uint8 {
	n := math.RoundToEven(float64(x)/float64(scale) + float64(zero))
	return uint8(min(max(n, 0), float64(2*zero)))
}

// narrowed are x as float16.
func narrowed(x []float32) []uint16 {
	return embedding.Narrow(embedding.Matrix{N: len(x), Dim: 1, F32: x}).F16
}

// widened are float16 numbers as float32.
func widened(x []uint16) []float32 {
	out := make([]float32, len(x))
	embedding.Matrix{N: len(x), Dim: 1, F16: x}.Float32(out, 0, len(x))
	return out
}

// Round rounds values to the levels of so many bits with a scale.
func Round(values []float32, scale float32, bits int, dst []float32) {
	z := zero(bits)
	for k, x := range values {
		dst[k] = scale * (float32(level(x, scale, z)) - z)
	}
}

// row writes row i's values.
func (t *Table) row(i int, dst []float32) {
	z, half := zero(t.bits), t.Dim/2
	for k := range dst {
		var n uint8
		switch {
		case t.bits == 8:
			n = uint8(t.numbers[i*t.Dim+k]) + 128
		case k < half:
			n = uint8(t.numbers[i*half+k] & 15)
		default:
			n = uint8(t.numbers[i*half+k-half]>>4) + 8
		}
		dst[k] = t.scales[i] * (float32(n) - z)
	}
}

// zeros are the graph's numbers for 0, by column.
func (t *Table) zeros() []float32 {
	zeros := make([]float32, t.Dim)
	for k := range zeros {
		switch {
		case t.bits == 8:
			zeros[k] = zero(8) - 128
		case k < t.Dim/2:
			zeros[k] = zero(4)
		default:
			zeros[k] = zero(4) - 8
		}
	}
	return zeros
}

// Values are all rows [rows, dim].
func (t *Table) Values() []float32 {
	out := make([]float32, t.rows*t.Dim)
	for i := range t.rows {
		t.row(i, out[i*t.Dim:(i+1)*t.Dim])
	}
	return out
}

// Network is the head in the form that gradient descent trains. An error names a part of it that cannot be trained.
func (h *Head) Network() (*fit.Head, error) {
	n := &fit.Head{From: h.From, To: h.To, Weights: map[string]*fit.Matrix{}}
	weights := map[string]onnxgraph.Initializer{}
	for _, w := range h.Weights {
		weights[w.Name] = w
	}
	lengths := map[string]string{} // tensors of lengths of rows, each with the tensor of the rows
	for _, node := range h.Nodes {
		if len(node.Inputs) == 0 || len(node.Outputs) == 0 {
			return nil, fmt.Errorf("has an operator %s that gradient descent does not know", node.Op)
		}
		layer := fit.Layer{Op: node.Op, In: node.Inputs[0], Out: node.Outputs[0]}
		if len(node.Inputs) > 1 {
			layer.With = node.Inputs[1]
		}
		if ofRows(node) {
			lengths[layer.Out] = layer.In
			continue
		}
		if of, ok := lengths[layer.With]; ok && node.Op == "Div" && of == layer.In {
			layer.Op, layer.With = "LpNormalization", ""
		}
		_, constant := weights[layer.In]
		if !fit.Differentiable(layer.Op) || len(node.Inputs) > 2 || constant {
			return nil, fmt.Errorf("has an operator %s that gradient descent does not know", node.Op)
		}
		if w, ok := weights[layer.With]; ok {
			shape, values, ok := Float32Weights(w)
			if !ok || len(shape) > 2 {
				return nil, fmt.Errorf("has a weight %s that is no float32 matrix", w.Name)
			}
			n.Weights[w.Name] = fit.NewMatrix(shape, values)
		}
		n.Layers = append(n.Layers, layer)
	}
	return n, nil
}

// Take copies the weights of a trained network of Network.
func (h *Head) Take(n *fit.Head) {
	for i, w := range h.Weights {
		if m := n.Weights[w.Name]; m != nil {
			h.Weights[i] = onnxgraph.NewFloat32(w.Name, m.Shape, m.Values)
		}
	}
}

// ofRows reports whether a node gives the length of each row, by which exports of mean pooling divide.
func ofRows(n onnxgraph.Node) bool {
	attributes, err := n.Attributes()
	axes := attributes["axes"].Ints
	return err == nil && n.Op == "ReduceL2" && len(axes) == 1 && (axes[0] == 1 || axes[0] == -1) &&
		attributes["keepdims"].First(1) == 1
}
