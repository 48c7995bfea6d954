package static

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bitextmine/encode/onnxgraph"
)

// random makes a table and its values [rows, dim].
func random(rows, dim, bits int) (*Table, [][]float64) {
	r := rand.New(rand.NewPCG(uint64(dim), uint64(bits)))
	t := &Table{rows: rows, dim: dim, bits: bits, power: 0.5, numbers: make([]int8, rows*dim*bits/8), scales: make([]float32, rows), zeros: make([]float32, dim)}
	for k := range t.zeros {
		t.zeros[k] = r.Float32()
	}
	values := make([][]float64, rows)
	for i := range values {
		t.scales[i] = r.Float32()
		values[i] = make([]float64, dim)
		for k := range dim {
			var number int
			switch half := dim / 2; {
			case bits == 8:
				number = r.IntN(256) - 128
				t.numbers[i*dim+k] = int8(number)
			case k < half:
				number = r.IntN(16)
				t.numbers[i*half+k] = int8(number)
			default:
				number = r.IntN(16) - 8
				t.numbers[i*half+k-half] += int8(number * 16)
			}
			values[i][k] = float64(t.scales[i]) * (float64(number) - float64(t.zeros[k]))
		}
	}
	return t, values
}

func TestSum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, bits := range []int{4, 8} {
		for _, dim := range []int{2, 48, 330, 512} {
			table, values := random(70, dim, bits)
			for range 20 {
				ids := make([]int32, 1+r.IntN(40))
				want := make([]float64, dim)
				for i := range ids {
					ids[i] = int32(r.IntN(table.Rows()))
					for k, x := range values[ids[i]] {
						want[k] += x / math.Sqrt(float64(len(ids)))
					}
				}
				got := make([]float32, table.Dim())
				got[0] = 1e9 // old content must be overwritten
				table.Sum(ids, got)
				for k := range want {
					if math.Abs(float64(got[k])-want[k]) > 1e-5*float64(len(ids))*128 {
						t.Fatalf("%d bits, column %d of %d: %g, want %g", bits, k, dim, got[k], want[k])
					}
				}
			}
		}
	}
}

// TestHeadSteps compares what the head does to rows with the same in float64, and the products of all processors.
func TestHeadSteps(t *testing.T) {
	h := &Head{columns: []int{48, 48, 64, 64, 64, 64}}
	r := rand.New(rand.NewPCG(3, 3))
	numbers, scales, weights := make([]byte, 48*64), make([]float32, 64), make([]float64, 48*64)
	for i := range weights {
		column, number := i%64, r.IntN(255)-127
		numbers[i] = byte(int8(number))
		scales[column] = float32(column+1) / 1e6
		weights[i] = float64(number) * float64(scales[column])
	}
	p := newProduct(numbers, 64, scales, one)
	h.steps = []step{{op: "Relu", x: 0, out: 1}, {op: "product", x: 1, out: 2, product: p}, {op: "Tanh", x: 2, out: 3}, {op: "Add", x: 2, y: 3, out: 4}, {op: "LpNormalization", x: 4, out: 5}}
	const n = 61 // blocks of all processors, and some rows
	sums, got := make([]float32, n*48), make([]float32, n*64)
	for i := range sums {
		sums[i] = float32(r.NormFloat64())
	}
	clear(sums[9*48 : 10*48])
	h.Vectors(new(Memory), sums, n, got)
	for _, at := range []int{two, four} {
		if at > together() {
			continue
		}
		also := make([]float32, n*64)
		h.steps[1].product = newProduct(numbers, 64, scales, at)
		h.Vectors(new(Memory), sums, n, also)
		if !slices.Equal(got, also) {
			t.Errorf("a processor that multiplies %d numbers at once gives other vectors", at)
		}
	}
	for i := range n {
		row, want, norm := sums[i*48:][:48], make([]float64, 64), 0.0
		greatest := 1e-30
		for _, x := range row {
			greatest = max(greatest, float64(x))
		}
		for c := range want {
			for k, x := range row {
				want[c] += math.RoundToEven(max(0, float64(x))*127/greatest) * greatest * weights[k*64+c]
			}
			want[c] += math.Tanh(want[c])
			norm += want[c] * want[c]
		}
		for c := range want {
			if x := want[c] / max(math.Sqrt(norm), 1e-30); math.Abs(x-float64(got[i*64+c])) > 1e-4 {
				t.Fatalf("row %d, column %d: %g, want %g", i, c, got[i*64+c], x)
			}
		}
	}
}

// TestHeadMultiply: a product with a matrix of floating-point numbers is a sum in order, each of whose steps is
// rounded once.
func TestHeadMultiply(t *testing.T) {
	const rows, n = 40, 21
	r := rand.New(rand.NewPCG(4, 4))
	random := func(n int) []float32 {
		numbers := make([]float32, n)
		for i := range numbers {
			numbers[i] = float32(r.NormFloat64())
		}
		return numbers
	}
	packed, sums, got := random(rows*2*block), random(n*rows), make([]float32, n*2*block)
	for at := one; at <= together(); at *= 2 {
		h := &Head{columns: []int{rows, 2 * block}, steps: []step{{op: "MatMul", x: 0, out: 1, matrix: packed, at: at}}}
		h.Vectors(new(Memory), sums, n, got)
		for i := range got {
			want, column := 0.0, i%(2*block)
			for k := range rows {
				x, y := sums[i/(2*block)*rows+k], packed[column/block*rows*block+k*block+column%block]
				want = float64(float32(math.FMA(float64(x), float64(y), want)))
			}
			if float64(got[i]) != want {
				t.Fatalf("%d at once: row %d, column %d: %g, want %g", at, i/(2*block), column, got[i], want)
			}
		}
	}
}

// TestHeadRounds: a sum is rounded once where float64 would first round it to the middle of two float32, and below what
// these have all their bits for.
func TestHeadRounds(t *testing.T) {
	const middle, tiny = 0x1p-12, 0x1p-75
	for _, c := range []struct {
		x, w [2]float32
		want float32
	}{
		{[2]float32{1, middle * (1 + 0x1p-20)}, [2]float32{1 + 0x1p-23, middle * (1 - 0x1p-20)}, 1 + 0x1p-23},
		{[2]float32{tiny, tiny * (1 + 0x1p-22)}, [2]float32{0, tiny * (1 + 0x1p-22)}, 0x1p-149},
	} {
		for at := one; at <= together(); at *= 2 {
			weights, got := make([]float32, 2*block), make([]float32, block)
			weights[5], weights[block+5] = c.w[0], c.w[1]
			h := &Head{columns: []int{2, block}, steps: []step{{op: "MatMul", x: 0, out: 1, matrix: weights, at: at}}}
			h.Vectors(new(Memory), c.x[:], 1, got)
			if got[5] != c.want {
				t.Errorf("%d at once: %v times %v is %b, want %b", at, c.x, c.w, got[5], c.want)
			}
		}
	}
}

// FuzzFind: a damaged model gives a table whose rows can be read, or none.
func FuzzFind(f *testing.F) {
	f.Add([]byte{}, "sentence")
	f.Fuzz(func(_ *testing.T, data []byte, output string) {
		g, err := onnxgraph.Parse(data)
		if err != nil {
			return
		}
		if t := Find(g, output); t != nil {
			sums := make([]float32, 3*t.Dim())
			t.Sum([]int32{0, int32(t.Rows() - 1)}, sums[:t.Dim()])
			if h := FindHead(g, output, t); h != nil {
				h.Vectors(new(Memory), sums, 3, make([]float32, 3*h.Dim()))
			}
		}
	})
}

func BenchmarkSum(b *testing.B) {
	for _, bits := range []int{4, 8} {
		table, _ := random(118_000, 512, bits)
		r := rand.New(rand.NewPCG(2, 2))
		ids := make([]int32, 35)
		for i := range ids {
			ids[i] = int32(r.IntN(table.Rows()))
		}
		out := make([]float32, 512)
		b.Run(map[int]string{4: "4bits", 8: "8bits"}[bits], func(b *testing.B) {
			for b.Loop() {
				table.Sum(ids, out)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sentences/s")
		})
	}
}
