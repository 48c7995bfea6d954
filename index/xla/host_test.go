package xla

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/index/indextest"
	"bitextmine/internal/badinput"
	"bitextmine/internal/pjrt"
	"bitextmine/internal/pjrt/pjrttest"
	"bitextmine/mine"
)

func TestOpenBadInput(t *testing.T) {
	t.Setenv(pjrt.Env, "")
	for name, c := range map[string]struct {
		search string
		opts   Options
		says   string
	}{
		"threads":          {CUDA, Options{Threads: -1}, "-1 threads"},
		"a tile of 1000":   {CUDA, Options{Tile: 1000}, "power of two"},
		"a tiny tile":      {CUDA, Options{Tile: 64}, "power of two"},
		"no plugin":        {CUDA, Options{}, pjrt.Env},
		"no such plugin":   {"xla:/absent.so", Options{}, "/absent.so"},
		"nothing after it": {"xla:", Options{}, "names no plugin"},
	} {
		if _, err := Open(c.search, c.opts); !badinput.Is(err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	plugin := pjrttest.Plugin(t)
	t.Setenv(pjrt.Env, plugin)
	if _, err := Open(CUDA, Options{}); !badinput.Is(err) || !strings.Contains(err.Error(), "a plugin for the CPU") {
		t.Errorf("a CPU's plugin for CUDA: %v", err)
	}
	if _, err := Open(Prefix+plugin, Options{Devices: 1000}); !badinput.Is(err) || !strings.Contains(err.Error(), "1000 devices") {
		t.Errorf("too many devices: %v", err)
	}
}

// TestLossesAreBounded: products of the rounded rows are as near the true ones as the bound says, sums apart.
func TestLossesAreBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	const dim, n = 33, 60
	for name, value := range hardRows {
		rows := make([]float32, 2*n*dim)
		for i := range rows {
			rows[i] = value(rng, i/dim, i%dim)
		}
		a, b := indextest.Float32(rows[:n*dim], dim), indextest.Float32(rows[n*dim:], dim)
		cell, err := index.NewCell(t.Context(), a, b, 1)
		if err != nil {
			t.Fatal(err)
		}
		forward, _ := cell.Halves()
		queries, base := newOperand(forward.Queries), newOperand(forward.Base)
		left, right := rounded(t, queries), rounded(t, base)
		bound := slack(queries, base)
		for i := range queries.rows.Len() {
			for j := range base.rows.Len() {
				x, y := queries.rows.Block(i, i+1, make([]float32, dim)), base.rows.Block(j, j+1, make([]float32, dim))
				var want, got float64
				for d := range dim {
					want += float64(x[d]) * float64(y[d])
					got += float64(left[i*dim+d]) * float64(right[j*dim+d]) / float64(queries.scale) / float64(base.scale)
				}
				if off := math.Abs(got - want); !(off <= bound) {
					t.Fatalf("%s: rows %d and %d: %v instead of %v, farther off than %v", name, i, j, got, want, bound)
				}
			}
		}
		cell.Close()
	}
}

// rounded is a side in float16, widened again.
func rounded(t *testing.T, o *operand) []float32 {
	t.Helper()
	n, dim := o.rows.Len(), o.rows.Dim()
	half, wide := make([]uint16, (n+2)*dim), make([]float32, n*dim)
	for i := range half {
		half[i] = 0x7e00
	}
	if err := o.float16(t.Context(), 2, 0, n, half); err != nil {
		t.Fatal(err)
	}
	for _, h := range half[n*dim:] {
		if h != 0 {
			t.Fatal("what is beyond the rows is not zero")
		}
	}
	embedding.Matrix{N: n, Dim: dim, F16: half[:n*dim]}.Float32(wide, 0, n)
	return wide
}

// TestFloat16RowsLoseNothing: embeddings are stored so.
func TestFloat16RowsLoseNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	side := indextest.Float16(indextest.Random(rng, 50, 16), 16)
	cell, err := index.NewCell(t.Context(), side, side, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer cell.Close()
	o := newOperand(cell.Source)
	rounded(t, o)
	if o.loss() != 0 {
		t.Errorf("float16 rows lose %v", o.loss())
	}
}

func TestMerge(t *testing.T) {
	low := float32(math.Inf(-1))
	all := newLists(2, 3)
	all.merge(1, 2, lists{3, []float32{0.5, 0.2, low}, []int32{7, 8, 99}})
	all.merge(1, 2, lists{})
	all.merge(1, 2, lists{3, []float32{0.9, 0.3, 0.1}, []int32{1, 2, 3}})
	row := all.part(1, 2)
	if row.ids[0] != 1 || row.ids[1] != 7 || row.ids[2] != 2 || row.scores[2] != 0.3 || all.ids[0] != mine.None {
		t.Errorf("merged %v %v", all.ids, all.scores)
	}
}

// TestCheckFindsWrongScores: a device whose scores are not the products of the rows is noticed.
func TestCheckFindsWrongScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	side := indextest.Float32(indextest.Random(rng, 30, 16), 16)
	cell, err := index.NewCell(t.Context(), side, side, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer cell.Close()
	half, _ := cell.Halves()
	found := newLists(1, 3)
	copy(found.ids, []int32{5, 0, 9})
	if err := half.RefineExact(t.Context(), 1, 0, 1, []int64{5, 0, 9}, []float64{-2}); err != nil {
		t.Fatal(err)
	}
	ids, cosines := half.List(0)
	for i, id := range found.ids {
		found.scores[i] = -1
		for j := range ids {
			if ids[j] == id {
				found.scores[i] = cosines[j]
			}
		}
	}
	if err := found.check(half, 0, 1, 1e-6); err != nil {
		t.Errorf("right scores: %v", err)
	}
	found.scores[1] += 0.01
	if err := found.check(half, 0, 1, 1e-6); err == nil || !strings.Contains(err.Error(), "farther off") {
		t.Errorf("a wrong score: %v", err)
	}
}

func TestSmaller(t *testing.T) {
	z, steps := size{16384, 65536}, 0
	for {
		smaller, ok := z.smaller()
		if !ok {
			break
		}
		if smaller.tile*smaller.resident >= z.tile*z.resident || smaller.resident%smaller.tile != 0 {
			t.Fatalf("%+v after %+v", smaller, z)
		}
		z = smaller
		steps++
	}
	if z.tile != minTile || z.resident != minTile || steps < 5 {
		t.Errorf("ends at %+v after %d steps", z, steps)
	}
}
