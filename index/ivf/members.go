package ivf

import (
	"context"
	"math"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"bitextmine/index/kernel"
)

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

// members returns the lists [rows, membersOf] of all rows of a side. found holds the nearest centroids of each row, and
// unit is the unit of their products.
func (s *searcher) members(ctx context.Context, centroids *kernel.Side, found near, unit float64) ([]int32, error) {
	if found.n == 1 {
		return found.ids, nil
	}
	first := make([]int32, len(found.counts))
	for row := range first {
		ids, products := found.of(row)
		best := 0
		for i, id := range ids {
			if products[i] > products[best] || products[i] == products[best] && id < ids[best] {
				best = i
			}
		}
		first[row] = ids[best]
	}
	out := make([]int32, 2*len(first))
	start, rows := grouped(first, s.lists)
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range s.opts.Threads {
		g.Go(func() error {
			between := make([]float32, s.lists) // product of a list's centroid with each candidate
			wanted := make([]int32, s.lists)    // the last list whose rows may choose it, from 1 on
			for {
				list := int(next.Add(1) - 1)
				if list >= s.lists || ctx.Err() != nil {
					return ctx.Err()
				}
				if start[list] == start[list+1] {
					continue
				}
				var others []int32
				for _, row := range rows[start[list]:start[list+1]] {
					ids, _ := found.of(int(row))
					for _, id := range ids {
						if wanted[id] != int32(list)+1 {
							wanted[id] = int32(list) + 1
							others = append(others, id)
						}
					}
				}
				cosines := make([]float32, len(others))
				s.kernel.Dots(centroids, []int32{int32(list)}, centroids, others, len(others), cosines)
				for i, id := range others {
					between[id] = cosines[i]
				}
				for _, row := range rows[start[list]:start[list+1]] {
					ids, products := found.of(int(row))
					out[2*row], out[2*row+1] = int32(list), second(int32(list), ids, products, unit, between)
				}
			}
		})
	}
	return out, g.Wait()
}

// second returns the second list of a row of length 1 whose first is known, of ids. The row's products with their
// centroids are given, and the cosines of the first list's centroid with all. Each product is rounded: a fused sum
// would differ between CPUs.
func second(first int32, ids []int32, products []float32, unit float64, between []float32) int32 {
	var cosine float64
	for i, id := range ids {
		if id == first {
			cosine = float64(products[i]) / unit
		}
	}
	// Distance of the row from the line through the first centroid.
	distance := math.Sqrt(max(1-float64(cosine*cosine), 0))
	list, least := int32(-1), 0.0
	for i, id := range ids {
		if id == first {
			continue
		}
		near := float64(products[i]) / unit
		loss := -2 * near // and what is the same for all centroids
		if distance > 1e-6 {
			part := distance - (near-float64(cosine*float64(between[id])))/distance
			loss += float64(apart * float64(part*part))
		}
		if list < 0 || loss < least || loss == least && id < list {
			list, least = id, loss
		}
	}
	return list
}
