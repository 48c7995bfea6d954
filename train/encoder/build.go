package encoder

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	g "github.com/gomlx/gomlx/core/graph"

	"bitextmine/train/objective"
)

// Build builds the encoder's graph. params are all of Specs but the tables; embedded [n, length, width] is what their rows add up to, of the params' float
// type; lengths [n] int32; dropout is nil in evaluation. What stands after a sentence's length does not change its vector.
func (s Settings) Build(params map[string]*g.Node, embedded, lengths *g.Node, dropout *Dropout) objective.Encoded {
	n, length := embedded.Shape().Dimensions[0], embedded.Shape().Dimensions[1]
	b := builder{Settings: s, params: params, dropout: dropout, n: n, length: length}
	places := g.Iota(embedded.Graph(), shapes.Make(dtypes.Int32, n, length), 1)
	mask := g.LessThan(places, g.Reshape(lengths, n, 1))
	present := g.ConvertDType(mask, embedded.DType()) // [n, length]
	b.bias = g.Reshape(g.MulScalar(g.AddScalar(present, -1), 1e9), n, 1, 1, length)

	x := g.Reshape(embedded, n*length, s.Width)
	if s.Norm == PostNorm {
		x = b.norm("embeddings.norm", x)
	}
	x = dropout.apply(x)
	for i := range s.Layers {
		x = b.layer(i, x)
	}
	if s.Norm == PreNorm {
		x = b.norm("final.norm", x)
	}
	tokens := g.Reshape(x, n, length, s.Width)
	return objective.Encoded{Vectors: b.pool(tokens, present), Tokens: tokens, Mask: mask}
}

// builder builds one graph. Its x are [n·length, width]: two axes make every product one GEMM.
type builder struct {
	Settings
	params    map[string]*g.Node
	dropout   *Dropout
	n, length int
	bias      *g.Node // [n, 1, 1, length]: 0, or -1e9 where there is no token
}

func (b *builder) layer(i int, x *g.Node) *g.Node {
	attend := func(x *g.Node) *g.Node { return b.dropout.apply(b.attention(i, x)) }
	feed := func(x *g.Node) *g.Node { return b.dropout.apply(b.ffn(i, x)) }
	if b.Norm == PreNorm {
		x = g.Add(x, attend(b.norm(layer(i, "attention.norm"), x)))
		return g.Add(x, feed(b.norm(layer(i, "ffn.norm"), x)))
	}
	x = b.norm(layer(i, "attention.norm"), g.Add(x, attend(x)))
	return b.norm(layer(i, "ffn.norm"), g.Add(x, feed(x)))
}

// dense is x·W + b.
func (b *builder) dense(name string, x *g.Node) *g.Node {
	return b.affine(x, b.params[name+".weight"], b.params[name+".bias"])
}

// scaled is dense with its weight and bias multiplied.
func (b *builder) scaled(name string, x *g.Node, weight, bias float64) *g.Node {
	return b.affine(x, g.MulScalar(b.params[name+".weight"], weight), g.MulScalar(b.params[name+".bias"], bias))
}

func (b *builder) affine(x, weight, bias *g.Node) *g.Node {
	return g.Add(b.product(x, 1, weight, 0, nil), g.Reshape(bias, 1, bias.Shape().Dimensions[0]))
}

// product sums x·y over an axis of each in the settings' precision; batch are the axes that both have.
func (b *builder) product(x *g.Node, xAxis int, y *g.Node, yAxis int, batch []int) *g.Node {
	whole := x.DType()
	if b.Precision == BFloat16 {
		x, y = g.ConvertDType(x, dtypes.BFloat16), g.ConvertDType(y, dtypes.BFloat16)
	}
	return g.ConvertDType(g.Dot(x, y).General([]int{xAxis}, batch, []int{yAxis}, batch), whole) // Dot sums bfloat16 in float32
}

// attention is softmax(Q·Kᵀ / sqrt(width of a head))·V of every head (Vaswani et al., 2017).
func (b *builder) attention(i int, x *g.Node) *g.Node {
	size := b.Width / b.Heads
	heads := func(name string) *g.Node {
		return g.TransposeAllAxes(g.Reshape(b.dense(layer(i, "attention."+name), x), b.n, b.length, b.Heads, size), 0, 2, 1, 3)
	}
	q, k, v := heads("query"), heads("key"), heads("value")
	batch := []int{0, 1}
	scores := b.product(g.MulScalar(q, 1/math.Sqrt(float64(size))), 3, k, 3, batch) // [n, heads, length, length]
	shares := b.dropout.apply(softmax(g.Add(scores, b.bias)))
	context := b.product(shares, 3, v, 2, batch)
	return b.dense(layer(i, "attention.out"), g.Reshape(g.TransposeAllAxes(context, 0, 2, 1, 3), b.n*b.length, b.Width))
}

// norm is layer normalisation with its scale and bias (Ba et al., 2016).
func (b *builder) norm(name string, x *g.Node) *g.Node {
	row := func(part string) *g.Node { return g.Reshape(b.params[name+part], 1, b.Width) }
	return g.Add(g.Mul(standardise(x, b.Epsilon), row(".scale")), row(".bias"))
}

// ffn is two products with the activation between them.
func (b *builder) ffn(i int, x *g.Node) *g.Node {
	in, out := layer(i, "ffn.in"), layer(i, "ffn.out")
	switch b.Activation {
	case GELU:
		x = scaledGELU(b.scaled(in, x, math.Sqrt2/2, math.Sqrt2/2))
		return b.scaled(out, x, math.Sqrt2/2, 1)
	case GELUTanh:
		return b.dense(out, geluTanh(b.dense(in, x)))
	default:
		return b.dense(out, relu(b.dense(in, x)))
	}
}

// pool makes vectors [n, width] of tokens [n, length, width]; present [n, length] is 1 or 0.
func (b *builder) pool(tokens, present *g.Node) *g.Node {
	switch b.Pooling {
	case CLS:
		return rows(g.Reshape(tokens, b.n*b.length, b.Width), 0, b.n*b.length, b.length)
	case Mean:
		share := g.Div(present, g.ReduceAndKeep(present, g.ReduceSum, 1))
		return g.ReduceSum(g.Mul(tokens, g.Reshape(share, b.n, b.length, 1)), 1)
	default:
		absent := g.MulScalar(g.AddScalar(present, -1), 1e9)
		return g.ReduceMax(g.Add(tokens, g.Reshape(absent, b.n, b.length, 1)), 1)
	}
}

// rows are x's rows from, from+step ... before to. ONNX Runtime's backend has no Pad, which is the gradient of a slice; that of a gather it has.
func rows(x *g.Node, from, to, step int) *g.Node {
	var places []int64
	for r := from; r < to; r += step {
		places = append(places, int64(r))
	}
	return g.Gather(x, g.Reshape(g.Const(x.Graph(), places), len(places), 1))
}
