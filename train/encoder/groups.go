package encoder

import "gonum.org/v1/gonum/blas/blas32"

// groups are concatenated lists: list i is members[ends[i-1]:ends[i]].
type groups struct {
	ends    []int
	members []int32
}

func (g groups) of(i int) []int32 {
	if i == 0 {
		return g.members[:g.ends[0]]
	}
	return g.members[g.ends[i-1]:g.ends[i]]
}

// group adds member(k) to list place[k] of n lists, in the order of k.
func group(place []int32, n int, member func(k int) int32) groups {
	g := groups{ends: make([]int, n), members: make([]int32, len(place))}
	for _, p := range place {
		g.ends[p]++
	}
	sum := 0
	for i, c := range g.ends {
		g.ends[i] = sum
		sum += c
	}
	for k, p := range place {
		g.members[g.ends[p]] = member(k)
		g.ends[p]++
	}
	return g
}

// number lists the distinct values, all below limit, in ascending order, and for each value its index in that list.
func number(values []int32, limit int) (distinct, places []int32) {
	at := make([]int32, limit)
	for _, v := range values {
		at[v] = 1
	}
	for v, seen := range at {
		if seen == 1 {
			at[v] = int32(len(distinct))
			distinct = append(distinct, int32(v))
		}
	}
	places = make([]int32, len(values))
	for k, v := range values {
		places[k] = at[v]
	}
	return distinct, places
}

// axpy adds a times x to y.
func axpy(y, x []float32, a float32) {
	blas32.Axpy(a, blas32.Vector{N: len(y), Inc: 1, Data: x}, blas32.Vector{N: len(y), Inc: 1, Data: y})
}
