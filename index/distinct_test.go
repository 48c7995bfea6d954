package index

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/embedding"
)

func TestDistinctFoldsEqualRows(t *testing.T) {
	// Rows by letter: a b a c b a. The order makes the third a the first of its group.
	letters := map[byte][]float32{'a': {1, 0}, 'b': {0, 1}, 'c': {0.6, 0.8}}
	var rows []float32
	for _, l := range []byte("abacba") {
		rows = append(rows, letters[l]...)
	}
	side := Side{Vectors: embedding.FromFloat32(rows, 2), Order: []int32{5, 4, 3, 2, 1, 0}}
	d, err := newDistinct(t.Context(), nil, "source", side)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	if d.Len() != 3 {
		t.Fatalf("%d distinct rows, want 3", d.Len())
	}
	for i, want := range [][]int32{{5, 2, 0}, {4, 1}, {3}} {
		if got := d.rows(i); !slices.Equal(got, want) || d.row(i) != int(want[0]) {
			t.Errorf("distinct row %d: rows %v, first %d; want %v", i, got, d.row(i), want)
		}
	}
	if got := d.Block(0, 3, make([]float32, 6)); !slices.Equal(got, []float32{1, 0, 0, 1, 0.6, 0.8}) {
		t.Errorf("Block = %v", got)
	}
}

func TestDistinctWithoutRepeatsCopiesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	rows := make([]float32, 1000*3)
	for i := range rows {
		rows[i] = rng.Float32()
	}
	d, err := newDistinct(t.Context(), nil, "source", Side{Vectors: embedding.FromFloat32(rows, 3)})
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	if d.Len() != 1000 || d.first != nil || &d.Block(10, 20, nil)[0] != &rows[30] {
		t.Errorf("%d distinct rows, first %v", d.Len(), d.first)
	}
}

// Rows are looked at in parts on several cores; the first bad one is told, whichever part is done first.
func TestDistinctNamesTheFirstBadRow(t *testing.T) {
	rows := make([]float32, 60000*2)
	for i := range rows {
		rows[i] = 0.5
	}
	for _, bad := range []int{59999, 41000, 40999, 8192} {
		rows[2*bad] = float32(math.NaN())
		_, err := newDistinct(t.Context(), nil, "source", Side{Vectors: embedding.FromFloat32(rows, 2)})
		if want := fmt.Sprintf("row %d of the source embeddings", bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// Compared with a map, on rows with many and with few repetitions.
func TestDistinctCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, values := range []int{1, 2, 7, 300, 100000} {
		rows := make([]uint16, 5000)
		seen := map[[2]uint16]bool{}
		for i := 0; i < len(rows); i += 2 {
			rows[i], rows[i+1] = uint16(rng.IntN(values)%0x7c00), uint16(rng.IntN(2))
			seen[[2]uint16(rows[i:])] = true
		}
		d, err := newDistinct(t.Context(), nil, "target", Side{Vectors: embedding.Matrix{N: 2500, Dim: 2, F16: rows}})
		if err != nil {
			t.Fatal(err)
		}
		if d.Len() != len(seen) {
			t.Errorf("%d values: %d distinct rows, want %d", values, d.Len(), len(seen))
		}
		var members []int32
		for i := range d.Len() {
			members = append(members, d.rows(i)...)
		}
		slices.Sort(members)
		for i, m := range members {
			if int(m) != i {
				t.Fatalf("%d values: row %d is missing or repeated", values, i)
			}
		}
		d.close()
	}
}

func TestDigest(t *testing.T) {
	digest := func(rows ...float32) string {
		d, err := newDistinct(t.Context(), nil, "source", Side{Vectors: embedding.FromFloat32(rows, 2)})
		if err != nil {
			t.Fatal(err)
		}
		defer d.close()
		return d.Digest()
	}
	if digest(1, 0, 0, 1) != digest(1, 0, 0, 1, 1, 0) {
		t.Error("a repeated row changes the digest")
	}
	if digest(1, 0, 0, 1) == digest(0, 1, 1, 0) {
		t.Error("the order of rows does not change the digest")
	}
}

func TestProgress(t *testing.T) {
	var seen []float64
	p := NewProgress(4, func(f float64) { seen = append(seen, f) })
	for range 4 {
		p.Add(1)
	}
	p.Finish()
	if !slices.Equal(seen, []float64{0.25, 0.5, 0.75, 0.999, 1}) {
		t.Errorf("progress %v", seen)
	}
	NewProgress(1, nil).Add(1) // no listener
}
