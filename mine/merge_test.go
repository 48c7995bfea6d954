package mine

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMergedCellsEqualOneCell cuts both sides of one problem into parts, some of which share rows, and merges the
// parts' lists in a random order.
func TestMergedCellsEqualOneCell(t *testing.T) {
	const n, m, k = 60, 50, 4
	_, cosines := randomLists(t, 11, n, m, 6, k)
	for i := range n { // ties across cells
		cosines[i][7], cosines[i][31] = 0.8, 0.8
	}
	cosine := func(i, j int) float64 { return cosines[i][j] }
	want := nearest(n, m, k, cosine)
	parts := [][]int32{span(0, 20), span(15, 33), span(33, 50)} // 15 to 19 are in two parts
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 0))
		rng.Shuffle(len(parts), func(a, b int) { parts[a], parts[b] = parts[b], parts[a] })
		merger := NewMerger(n, k)
		for _, part := range parts {
			for _, rows := range [][]int32{span(0, 31), span(29, n)} { // 29 and 30 are in two source shards
				merger.Add(nearest(len(rows), len(part), k, func(i, j int) float64 { return cosine(int(rows[i]), int(part[j])) }), rows, part)
			}
		}
		got := merger.Neighbours()
		if !slices.Equal(got.IDs, want.IDs) || !slices.Equal(got.Cosines, want.Cosines) {
			t.Fatalf("seed %d: merged lists differ from one cell's", seed)
		}
	}
}

func TestMergeOfShortLists(t *testing.T) {
	merger := NewMerger(1, 4)
	merger.Add(nearest(1, 2, 4, func(_, j int) float64 { return float64(j) / 4 }), []int32{0}, []int32{9, 5})
	merger.Add(nearest(1, 1, 4, func(_, _ int) float64 { return 0.25 }), []int32{0}, []int32{3})
	got := merger.Neighbours()
	if want := []int32{3, 5, 9, None}; !slices.Equal(got.IDs, want) {
		t.Errorf("ids %v, want %v (3 before 5: equal cosines in key order)", got.IDs, want)
	}
}

func span(lo, hi int32) []int32 {
	rows := make([]int32, 0, hi-lo)
	for i := lo; i < hi; i++ {
		rows = append(rows, i)
	}
	return rows
}
