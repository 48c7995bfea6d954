package ivf

import "math"

// members is the number of lists that a row is in: a row between two of them is found in either. Two lists and half as
// many visits compare as many pairs, find more of the neighbours and pack half as many visitors.
const members = 2

func membersOf(lists int) int { return min(members, lists) }

// The second list is one of the memberChoice nearest. It is for the visitors that the first centroid misleads: those
// that are near to the row on the side of the centroid on which the row lies. So the loss of a list is the square of
// the distance between row and centroid plus apart times the square of its part along the line from the first centroid
// to the row (Sun and others, SOAR: Improved Indexing for Approximate Nearest Neighbor Search, 2023).
const (
	memberChoice = 8
	apart        = 2
)

// choose writes the lists of rows to out [rows, membersOf]. ids [rows, n] are their nearest as f found them.
func (f *finder) choose(rows, ids, out []int32) {
	if f.n == 1 {
		copy(out, ids)
		return
	}
	cosines, between := make([]float32, len(ids)), make([]float32, len(ids))
	squares, first := make([]float32, len(rows)), make([]int32, len(rows))
	f.kernel.Dots(f.side, rows, f.side, rows, 1, squares)
	f.kernel.Dots(f.side, rows, f.centroids, ids, f.n, cosines)
	for i := range rows {
		best := i * f.n
		for at := best; at < (i+1)*f.n; at++ {
			if cosines[at] > cosines[best] || cosines[at] == cosines[best] && ids[at] < ids[best] {
				best = at
			}
		}
		first[i] = ids[best]
	}
	f.kernel.Dots(f.centroids, first, f.centroids, ids, f.n, between)
	for i, list := range first {
		lo, hi := i*f.n, (i+1)*f.n
		out[2*i] = list
		out[2*i+1] = second(float64(squares[i]), list, ids[lo:hi], cosines[lo:hi], between[lo:hi])
	}
}

// second returns the second list of a row whose first is known. square is that of the row's length, cosines are those
// of the row with the centroids of ids, and between those of the first list's centroid with them. Each product is
// rounded: a fused sum would differ between CPUs.
func second(square float64, first int32, ids []int32, cosines, between []float32) int32 {
	var cosine float64
	for i, id := range ids {
		if id == first {
			cosine = float64(cosines[i])
		}
	}
	distance := math.Sqrt(max(square-float64(cosine*cosine), 0)) // of the row from the line through the first centroid
	list, least := int32(-1), 0.0
	for i, id := range ids {
		if id == first {
			continue
		}
		loss := -2 * float64(cosines[i]) // and what is the same for all centroids
		if distance > 1e-6 {
			part := distance - (float64(cosines[i])-float64(cosine*float64(between[i])))/distance
			loss += float64(apart * float64(part*part))
		}
		if list < 0 || loss < least || loss == least && id < list {
			list, least = id, loss
		}
	}
	return list
}
