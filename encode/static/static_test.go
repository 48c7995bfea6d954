package static

import (
	"math"
	"math/rand/v2"
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
				got[0] = 1e9 // what stood there must not count
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

// FuzzFind: a damaged model gives a table whose rows can be read, or none.
func FuzzFind(f *testing.F) {
	f.Add([]byte{}, "sentence")
	f.Fuzz(func(_ *testing.T, data []byte, output string) {
		g, err := onnxgraph.Parse(data)
		if err != nil {
			return
		}
		if t := Find(g, output); t != nil {
			t.Sum([]int32{0, int32(t.Rows() - 1)}, make([]float32, t.Dim()))
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
