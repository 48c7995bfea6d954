package architecture

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"bitextmine/train/export"
)

// builder adds nodes to a graph, each output with a name of its own, and notes which tensors the graph needs.
type builder struct {
	*export.Graph
	e     *Encoder
	typed bool // there is an input of token types

	count   int
	numbers int64
	used    map[string]bool
	made    map[string]string // tensors that several layers take, by what they are
	wrong   []string
}

func attr(name string, value any) export.Attr { return export.Attr{Name: name, Value: value} }

// op adds a node of inputs (strings) and attributes and gives its output.
func (b *builder) op(op string, args ...any) string {
	b.count++
	out := fmt.Sprintf("%s_%d", op, b.count)
	b.node(op, []string{out}, args...)
	return out
}

func (b *builder) node(op string, outputs []string, args ...any) {
	var inputs []string
	var attrs []export.Attr
	for _, a := range args {
		if attr, ok := a.(export.Attr); ok {
			attrs = append(attrs, attr)
		} else {
			inputs = append(inputs, a.(string))
		}
	}
	b.Node(op, inputs, outputs, attrs...)
}

// once gives the tensor of a key, which is made at its first use.
func (b *builder) once(key string, make func() string) string {
	if b.made[key] == "" {
		b.made[key] = make()
	}
	return b.made[key]
}

// scalar is a constant number.
func (b *builder) scalar(value float64) string {
	return b.constant(nil, []float32{float32(value)})
}

// wholes is a constant list of whole numbers.
func (b *builder) wholes(values ...int64) string {
	return b.constant([]int{len(values)}, values)
}

// whole is a constant whole number.
func (b *builder) whole(value int64) string {
	return b.constant(nil, []int64{value})
}

func (b *builder) constant(shape []int, values any) string {
	return b.once(fmt.Sprintf("constant %v %T %v", shape, values, values), func() string {
		b.count++
		name := fmt.Sprintf("constant_%d", b.count)
		b.Initializer(name, shape, values)
		return name
	})
}

// take notes that a tensor is needed in a shape, and reports whether it is there.
func (b *builder) take(name string, shape ...int) bool {
	b.used[name] = true
	got, ok := b.e.store.Shape(b.e.names[name])
	switch {
	case !ok:
		b.wrong = append(b.wrong, name+" is missing")
	case !slices.Equal(got, shape):
		b.wrong = append(b.wrong, fmt.Sprintf("%s has the shape %v instead of %v", name, got, shape))
	default:
		n := int64(1)
		for _, d := range shape {
			n *= int64(d)
		}
		b.numbers += n
		return true
	}
	return false
}

// has reports whether the model has a tensor.
func (b *builder) has(name string) bool { return b.e.names[name] != "" }

// chunk is the number of values of a table that are read at once.
const chunk = 1 << 20

// table adds a tensor [rows, columns] as it is stored.
func (b *builder) table(name string, rows, columns int) string {
	if !b.take(name, rows, columns) {
		return name
	}
	file, store, each := b.e.names[name], b.e.store, max(1, chunk/columns)
	b.Initializer(name, []int{rows, columns}, export.Stream(func(yield func([]float32) error) error {
		for from := 0; from < rows; from += each {
			values, err := store.Rows(file, from, from+each)
			if err != nil {
				return err
			}
			if err := yield(values); err != nil {
				return err
			}
		}
		return nil
	}))
	return name
}

// lazily adds a tensor made of the stored values of one.
func (b *builder) lazily(name string, shape []int, make func(values []float32) []float32) string {
	file, store := b.e.names[name], b.e.store
	b.Initializer(name, shape, export.Stream(func(yield func([]float32) error) error {
		values, err := store.Read(file)
		if err != nil {
			return err
		}
		return yield(make(values))
	}))
	return name
}

// row adds a tensor [n], with a number added to each value.
func (b *builder) row(name string, n int, plus float32) string {
	if !b.take(name, n) {
		return name
	}
	return b.lazily(name, []int{n}, func(values []float32) []float32 {
		for i := range values {
			values[i] += plus
		}
		return values
	})
}

// linear is x by NAME.weight, stored [out, in], with NAME.bias if there is to be one.
func (b *builder) linear(x, name string, in, out int, bias bool) string {
	weight := name + ".weight"
	if b.take(weight, out, in) {
		b.lazily(weight, []int{in, out}, func(values []float32) []float32 { return export.Transposed(values, out, in) })
	}
	x = b.op("MatMul", x, weight)
	if bias {
		x = b.op("Add", x, b.row(name+".bias", out, 0))
	}
	return x
}

// split divides the columns of x into parts of these widths.
func (b *builder) split(x string, widths ...int64) []string {
	var parts []string
	for range widths {
		b.count++
		parts = append(parts, fmt.Sprintf("Split_%d", b.count))
	}
	b.node("Split", parts, x, b.wholes(widths...), attr("axis", -1))
	return parts
}

// norm is layer normalisation; the first BERTs call its tensors gamma and beta.
func (b *builder) norm(x, name string, width int, epsilon float64, bias bool) string {
	scale, shift := name+".weight", name+".bias"
	if b.has(name + ".gamma") {
		scale, shift = name+".gamma", name+".beta"
	}
	args := []any{x, b.row(scale, width, 0)}
	if bias {
		args = append(args, b.row(shift, width, 0))
	}
	return b.op("LayerNormalization", append(args, attr("axis", -1), attr("epsilon", float32(epsilon)))...)
}

// rms is normalisation by the root mean square (Zhang and Sennrich 2019), in the form that ONNX Runtime makes one
// operator of; plus is added to its weights.
func (b *builder) rms(x, name string, width int, epsilon float64, plus float32) string {
	mean := b.op("ReduceMean", b.op("Pow", x, b.scalar(2)), attr("axes", []int64{-1}), attr("keepdims", 1))
	root := b.op("Sqrt", b.op("Add", mean, b.scalar(epsilon)))
	return b.op("Mul", b.op("Div", x, root), b.row(name+".weight", width, plus))
}

// activations write a function of x. GELU has the form that ONNX Runtime makes one operator of.
var activations = map[string]func(b *builder, x string) string{
	"gelu":              gelu,
	"gelu_new":          tanhGELU,
	"gelu_pytorch_tanh": tanhGELU,
	"gelu_fast":         tanhGELU,
	"relu":              func(b *builder, x string) string { return b.op("Relu", x) },
	"silu":              silu,
	"swish":             silu,
}

func gelu(b *builder, x string) string {
	erf := b.op("Erf", b.op("Div", x, b.scalar(math.Sqrt2)))
	return b.op("Mul", b.op("Mul", x, b.op("Add", erf, b.scalar(1))), b.scalar(0.5))
}

func tanhGELU(b *builder, x string) string {
	cube := b.op("Mul", b.op("Mul", b.op("Mul", x, x), x), b.scalar(0.044715))
	tanh := b.op("Tanh", b.op("Mul", b.op("Add", x, cube), b.scalar(math.Sqrt(2/math.Pi))))
	return b.op("Mul", b.op("Mul", x, b.op("Add", tanh, b.scalar(1))), b.scalar(0.5))
}

func silu(b *builder, x string) string { return b.op("Mul", x, b.op("Sigmoid", x)) }

// embed looks up the words.
func (b *builder) embed(name string, rows, width int) string {
	return b.op("Gather", b.table(name, rows, width), export.IDs, attr("axis", 0))
}

// tokens is the number of a row's tokens.
func (b *builder) tokens() string {
	return b.once("tokens", func() string {
		return b.op("Gather", b.op("Shape", export.IDs), b.whole(1), attr("axis", 0))
	})
}

// places adds to x [batch, tokens, width] the first rows of a table of as many places.
func (b *builder) places(x string, table []float32, width int) string {
	b.Initializer("places", []int{len(table) / width, width}, table)
	end := b.op("Unsqueeze", b.tokens(), b.wholes(0))
	return b.op("Add", x, b.op("Slice", "places", b.wholes(0), end))
}

// read gives the values of a small tensor while the graph is built; false if they cannot be had, which is noted.
func (b *builder) read(name string, shape ...int) ([]float32, bool) {
	if !b.take(name, shape...) {
		return nil, false
	}
	values, err := b.e.store.Read(b.e.names[name])
	if err != nil {
		b.wrong = append(b.wrong, strings.TrimSpace(err.Error()))
	}
	return values, err == nil
}
