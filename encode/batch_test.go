package encode

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"bitextmine/encode/model"
)

// weights is a float32 initialiser with random values.
func weights(name string, rng *rand.Rand, rows, columns int) message {
	var raw []byte
	for range rows * columns {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(rng.NormFloat64()/16)))
	}
	return message{}.number(1, rows).number(1, columns).number(2, 1).text(8, name).bytes(9, raw)
}

// attention is a graph with the parts of a transformer in which one row of a batch could change another's bits:
// products with shared weights, whose shape depends on the batch, and attention, whose shape does not.
func attention(rng *rand.Rand, words, dim int) []byte {
	graph := message{}
	op := func(op string, output string, inputs ...string) {
		graph = graph.bytes(1, node(op, inputs, []string{output}))
	}
	op("Gather", "x", "table", "ids")
	op("MatMul", "h", "x", "w1")
	op("Tanh", "t", "h")
	perm := message{}.text(1, "perm").number(8, 0).number(8, 2).number(8, 1).number(20, 7) // INTS
	graph = graph.bytes(1, node("Transpose", []string{"t"}, []string{"tt"}).bytes(5, perm))
	op("MatMul", "scores", "t", "tt")
	op("Softmax", "p", "scores")
	op("MatMul", "mixed", "p", "t")
	op("MatMul", "wide", "mixed", "w2")
	op("Tanh", "active", "wide")
	op("MatMul", "states", "active", "w3")
	graph = graph.text(2, "attention").
		bytes(5, weights("table", rng, words, dim)).bytes(5, weights("w1", rng, dim, dim)).
		bytes(5, weights("w2", rng, dim, 4*dim)).bytes(5, weights("w3", rng, 4*dim, dim)).
		bytes(11, value("ids", 7, 0, 0)).bytes(12, value("states", 1, 0, 0, dim))
	return message{}.number(1, 8).bytes(7, graph).bytes(8, message{}.number(2, 13))
}

// The operators of a transformer, like the built-in encoder, give the same vectors in any batch on this CPU.
func TestTransformerVectorDoesNotDependOnBatch(t *testing.T) {
	const dim = 256
	m, texts := transformer(t, model.Mean, dim)
	var want []float32
	for _, options := range []Options{{Threads: 1}, {TokenBudget: 1}, {TokenBudget: 100}, {TokenBudget: 4000}, {Threads: 3, Window: 10}} {
		e, err := Open(m, options)
		if err != nil {
			t.Fatal(err)
		}
		got := encodeAll(t, e, texts)
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if want == nil {
			want = got
		}
		compare(t, got, want, dim)
	}
}
