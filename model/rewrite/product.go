package rewrite

import (
	"errors"
	"io"
	"math"
	"slices"

	"bitextmine/encode/onnxgraph"
	"bitextmine/encode/static"
	"bitextmine/train/export"
)

// quantised adds the numbers of tensor x as uint8, 128 for 0, with one scale for everything along the axes:
// x is about (numbers - 128) * greatest / 127.
func (r *rewriter) quantised(x string, axes ...int64) (numbers, greatest string) {
	p := prefix + x
	numbers, greatest = p+static.Numbers, p+static.Greatest
	if len(axes) > 1 {
		numbers, greatest = p+".sentence.numbers", p+".sentence.greatest"
	}
	if r.written[numbers] {
		return numbers, greatest
	}
	r.written[numbers] = true
	b, own := r.out, func(part string) string { return numbers + "." + part }
	r.reduce(b, "ReduceMax", x, own("high"), axes)
	r.reduce(b, "ReduceMin", x, own("low"), axes)
	b.Node("Neg", []string{own("low")}, []string{own("deep")})
	b.Node("Max", []string{own("high"), own("deep"), least}, []string{greatest})
	b.Node("Div", []string{full, greatest}, []string{own("factor")})
	b.Node("Mul", []string{x, own("factor")}, []string{own("scaled")})
	b.Node("QuantizeLinear", []string{own("scaled"), one, zero}, []string{numbers})
	return numbers, greatest
}

// reduce takes axes as an attribute before version 18 of ONNX's operators, and as an input since.
func (r *rewriter) reduce(b *export.Graph, op, x, out string, axes []int64) {
	if r.graph.Opsets[""] < 18 {
		b.Node(op, []string{x}, []string{out}, export.Attr{Name: "axes", Value: axes},
			export.Attr{Name: "keepdims", Value: 1})
		return
	}
	b.Initializer(out+".axes", []int{len(axes)}, axes)
	b.Node(op, []string{x, out + ".axes"}, []string{out}, export.Attr{Name: "keepdims", Value: 1})
}

// matrix adds a weight [rows, columns] as int8 with one scale a column, which has the 1/127 of its inputs in it. read
// gives its numbers.
func (r *rewriter) matrix(name string, read func() ([]float32, error), rows, columns int) (numbers, scales string, err error) {
	numbers, scales = prefix+name+".weight", prefix+name+static.Scales
	if r.written[numbers] {
		return numbers, scales, nil
	}
	r.written[numbers] = true
	values, err := read()
	if err != nil {
		return "", "", err
	}
	greatest, all := make([]float32, columns), make([]float32, columns)
	for row := range slices.Chunk(values, columns) {
		for k, x := range row {
			greatest[k] = max(greatest[k], float32(math.Abs(float64(x))))
		}
	}
	for k, g := range greatest {
		all[k] = g / 127 / 127
	}
	const lanes, together = 16, 4
	shape, place := []int{rows, columns}, func(row, column int) int { return row*columns + column }
	stored := numbers
	if r.packs && rows%lanes == 0 && columns%(2*lanes) == 0 {
		shape, stored = []int{columns / lanes, rows / together, lanes, together}, numbers+".packed"
		place = func(row, column int) int {
			return column/lanes*rows*lanes + row/together*lanes*together + column%lanes*together + row%together
		}
		r.out.Node("Transpose", []string{stored}, []string{numbers + ".turned"}, export.Attr{Name: "perm", Value: []int64{int64(static.Unpack[0]), int64(static.Unpack[1]), int64(static.Unpack[2]), int64(static.Unpack[3])}})
		r.out.Initializer(numbers+".shape", []int{2}, []int64{int64(rows), int64(columns)})
		r.out.Node("Reshape", []string{numbers + ".turned", numbers + ".shape"}, []string{numbers})
	}
	r.out.Initializer(scales, []int{columns}, all)
	r.out.Initializer(stored, shape, export.Bytes{Type: export.Int8, Write: func(w io.Writer) error {
		values, err := read()
		if err != nil {
			return err
		}
		whole := make([]byte, len(values))
		for i := range rows {
			for k, g := range greatest {
				if g > 0 {
					whole[place(i, k)] = byte(int8(math.RoundToEven(float64(values[i*columns+k]) / float64(g) * 127)))
				}
			}
		}
		_, err = w.Write(whole)
		return err
	}})
	return numbers, scales, nil
}

// multiply adds the product of quantised numbers and a matrix.
func multiply(b *export.Graph, numbers, greatest, weight, scales, bias, out string) {
	b.Node(microsoft+":MatMulIntegerToFloat", []string{numbers, weight, one, scales, zero},
		[]string{prefix + out + ".units"})
	product := out
	if bias != "" {
		product = prefix + out + ".product"
	}
	b.Node("Mul", []string{prefix + out + ".units", greatest}, []string{product})
	if bias != "" {
		b.Node("Add", []string{product, bias}, []string{out})
	}
}

// product stands for a MatMul or a Gemm.
func (r *rewriter) product(n onnxgraph.Node, w weight, turned bool) error {
	name, read, rows, columns := n.Inputs[1], w.all, w.Shape[0], w.Shape[1]
	if turned {
		name, rows, columns = name+".turned", columns, rows
		read = func() ([]float32, error) {
			values, err := w.all()
			if err != nil {
				return nil, err
			}
			return export.Transposed(values, w.Shape[0], w.Shape[1]), nil
		}
	}
	numbers, greatest := r.quantised(n.Inputs[0], -1)
	weight, scales, err := r.matrix(name, read, rows, columns)
	multiply(r.out, numbers, greatest, weight, scales, biasOf(n), n.Outputs[0])
	r.Products++
	return err
}

// biasOf is the third input; "" if there is none.
func biasOf(n onnxgraph.Node) string {
	if len(n.Inputs) > 2 {
		return n.Inputs[2]
	}
	return ""
}

// table stands for a Gather of rows of words: one scale a row.
func (r *rewriter) table(n onnxgraph.Node, t weight) error {
	b, name, ids, out := r.out, prefix+n.Inputs[0], n.Inputs[1], n.Outputs[0]
	if !r.written[name] {
		r.written[name] = true
		var scales []float32
		err := t.rows(func(row []float32) {
			scales = append(scales, greatestOf(row)/127)
		})
		if err != nil {
			return err
		}
		b.Initializer(name+static.Scales, []int{t.Shape[0], 1}, scales)
		b.Initializer(name+static.Rows, t.Shape, export.Bytes{Type: export.Int8, Write: func(w io.Writer) error {
			whole := make([]byte, t.Shape[1])
			var failed error
			err := t.rows(func(row []float32) {
				greatest := float64(greatestOf(row))
				for k, x := range row {
					whole[k] = byte(int8(math.RoundToEven(float64(x) * 127 / max(greatest, math.SmallestNonzeroFloat32))))
				}
				if _, err := w.Write(whole); err != nil {
					failed = err
				}
			})
			return errors.Join(err, failed)
		}})
	}
	b.Node("Gather", []string{name + static.Rows, ids}, []string{prefix + out + static.Bytes})
	b.Node("Cast", []string{prefix + out + static.Bytes}, []string{prefix + out + static.Floats},
		export.Attr{Name: "to", Value: int(export.Float32)})
	b.Node("Gather", []string{name + static.Scales, ids}, []string{prefix + out + static.Scales})
	b.Node("Mul", []string{prefix + out + static.Floats, prefix + out + static.Scales}, []string{out})
	r.Tables++
	return nil
}

// rows calls f with each row of a table, some of which are in memory at once.
func (w weight) rows(f func(row []float32)) error {
	const numbersAtOnce = 1 << 20
	columns := w.Shape[1]
	each := max(1, numbersAtOnce/columns)
	for from := 0; from < w.Shape[0]; from += each {
		values, err := w.values(from*columns, min(each, w.Shape[0]-from)*columns)
		if err != nil {
			return err
		}
		for row := range slices.Chunk(values, columns) {
			f(row)
		}
	}
	return nil
}

func greatestOf(row []float32) (greatest float32) {
	for _, x := range row {
		greatest = max(greatest, float32(math.Abs(float64(x))))
	}
	return greatest
}
