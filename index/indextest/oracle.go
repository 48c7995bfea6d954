// Package indextest has vectors to search in tests, and the brute force that searches are compared with.
package indextest

import (
	"cmp"
	"slices"
	"testing"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/mine"
)

// BruteForce computes every cosine of the cell and sorts. This defines the correct result. The sides must be valid.
func BruteForce(src, tgt index.Side, k int) index.Result {
	a, b := floats(src.Vectors), floats(tgt.Vectors)
	dim, n, m := src.Vectors.Dim, src.Vectors.N, tgt.Vectors.N
	cosines := make([]float32, n*m)
	turned := make([]float32, n*m)
	for i := range n {
		for j := range m {
			// The result is bit-identical whichever side a row is on, because products commute.
			c := embedding.Dot(a[i*dim:(i+1)*dim], b[j*dim:(j+1)*dim])
			cosines[i*m+j], turned[j*n+i] = c, c
		}
	}
	return index.Result{Source: nearest(cosines, tgt, k), Target: nearest(turned, src, k)}
}

// nearest chooses the k first of each row's cosines [n, base rows], by (cosine descending, place ascending).
func nearest(cosines []float32, base index.Side, k int) mine.Neighbours {
	m := base.Vectors.N
	out := mine.NewNeighbours(len(cosines)/m, k)
	best := make([]int32, 0, k+1)
	for q := range out.Len() {
		row := cosines[q*m : (q+1)*m]
		first := func(x, y int32) int {
			return cmp.Or(cmp.Compare(row[y], row[x]), cmp.Compare(place(base, x), place(base, y)))
		}
		best = best[:0]
		for id := range int32(m) {
			if len(best) == k && first(best[k-1], id) < 0 {
				continue
			}
			at, _ := slices.BinarySearchFunc(best, id, first)
			best = slices.Insert(best, at, id)
			best = best[:min(len(best), k)]
		}
		ids, listCosines := out.Row(q)
		for i, id := range best {
			ids[i], listCosines[i] = id, row[id]
		}
	}
	return out
}

func place(s index.Side, row int32) int32 {
	if s.Order == nil {
		return row
	}
	return s.Order[row]
}

func floats(m embedding.Matrix) []float32 {
	if m.F32 != nil {
		return m.F32
	}
	wide := make([]float32, len(m.F16))
	for i, h := range m.F16 {
		wide[i] = widen(h)
	}
	return wide
}

// Same fails the test at the first list that differs in an id or in a bit of a cosine.
func Same(t *testing.T, side string, got, want mine.Neighbours) {
	t.Helper()
	if got.K != want.K || len(got.IDs) != len(want.IDs) || len(got.Cosines) != len(want.Cosines) {
		t.Fatalf("%s lists: k %d with %d ids and %d cosines, want k %d with %d and %d", side,
			got.K, len(got.IDs), len(got.Cosines), want.K, len(want.IDs), len(want.Cosines))
	}
	for i := range want.Len() {
		gotIDs, gotCosines := got.Row(i)
		wantIDs, wantCosines := want.Row(i)
		if !slices.Equal(gotIDs, wantIDs) || !slices.Equal(gotCosines, wantCosines) {
			t.Fatalf("%s row %d:\n got %v %v\nwant %v %v", side, i, gotIDs, gotCosines, wantIDs, wantCosines)
		}
	}
}
