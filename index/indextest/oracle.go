// Package indextest is the conformance suite that every search implementation passes, and the brute force it is held against.
package indextest

import (
	"cmp"
	"slices"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/mine"
)

// BruteForce computes every cosine of the cell and sorts: the definition of a right answer. Sides must be valid.
func BruteForce(src, tgt index.Side, k int) index.Result {
	return index.Result{Source: nearest(src, tgt, k), Target: nearest(tgt, src, k)}
}

func nearest(queries, base index.Side, k int) mine.Neighbours {
	out := mine.NewNeighbours(queries.Vectors.N, k)
	a, b := floats(queries.Vectors), floats(base.Vectors)
	dim := queries.Vectors.Dim
	ids := make([]int32, base.Vectors.N)
	cosines := make([]float32, len(ids))
	for q := range queries.Vectors.N {
		for i := range ids {
			ids[i] = int32(i)
			cosines[i] = embedding.Dot(a[q*dim:(q+1)*dim], b[i*dim:(i+1)*dim])
		}
		slices.SortFunc(ids, func(x, y int32) int {
			return cmp.Or(cmp.Compare(cosines[y], cosines[x]), cmp.Compare(place(base, x), place(base, y)))
		})
		listIDs, listCosines := out.Row(q)
		for i, id := range ids[:min(k, len(ids))] {
			listIDs[i], listCosines[i] = id, cosines[id]
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
