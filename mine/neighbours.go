package mine

import "cmp"

// None fills the end of a list with fewer than k entries. Its cosine is zero and has no meaning.
const None int32 = -1

// Neighbours holds, for each of n sentences, its nearest sentences on the other side.
type Neighbours struct {
	K       int
	IDs     []int32   // [n, k] row of the other side, or None
	Cosines []float32 // [n, k] descending; equal cosines in ascending order of the sentence's key
	// Read reads list i into k ids and cosines where the lists are not in memory: there are N then, and IDs and Cosines
	// are nil. It may be called concurrently.
	Read func(i int, ids []int32, cosines []float32)
	N    int
}

// NewNeighbours returns lists for n sentences, filled with None.
func NewNeighbours(n, k int) Neighbours {
	nb := Neighbours{K: k, IDs: make([]int32, n*k), Cosines: make([]float32, n*k)}
	for i := range nb.IDs {
		nb.IDs[i] = None
	}
	return nb
}

// Len returns n.
func (nb Neighbours) Len() int {
	switch {
	case nb.Read != nil:
		return nb.N
	case nb.K == 0:
		return 0
	}
	return len(nb.IDs) / nb.K
}

// Row returns sentence i's list.
func (nb Neighbours) Row(i int) ([]int32, []float32) {
	if nb.Read != nil {
		ids, cosines := make([]int32, nb.K), make([]float32, nb.K)
		nb.Read(i, ids, cosines)
		return ids, cosines
	}
	lo, hi := i*nb.K, (i+1)*nb.K
	return nb.IDs[lo:hi:hi], nb.Cosines[lo:hi:hi]
}

// Merger merges the lists that several cells found for the same sentences into one list of the best k for each
// sentence. The top k of a cell is exact and unique, so the merged top k is exact.
type Merger struct {
	lists Neighbours
}

// NewMerger returns a merger with n empty lists of k entries.
func NewMerger(n, k int) *Merger { return &Merger{NewNeighbours(n, k)} }

// Add merges a cell's lists: list i belongs to sentence rows[i], and neighbour j of the cell is sentence partners[j] of
// the other side. Both number sentences in key order, and a number may occur twice: a sentence in several shards counts
// once. The order in which cells are added does not change the result.
func (m *Merger) Add(cell Neighbours, rows, partners []int32) {
	for i, row := range rows {
		ids, cosines := cell.Row(i)
		for j, id := range ids {
			if id == None || !m.insert(int(row), partners[id], cosines[j]) {
				break // the rest of the list is worse
			}
		}
	}
}

// Neighbours returns the merged lists. The merger must not be used afterwards.
func (m *Merger) Neighbours() Neighbours { return m.lists }

// insert adds a neighbour to a list at its rank. It reports whether the list had room for a neighbour as good as this
// one.
func (m *Merger) insert(row int, id int32, cosine float32) bool {
	ids, cosines := m.lists.Row(row)
	at := 0
	for ; at < len(ids) && ids[at] != None; at++ {
		if ids[at] == id {
			return true // it is known from another cell, with the same cosine
		}
		if cmp.Or(cmp.Compare(cosine, cosines[at]), cmp.Compare(ids[at], id)) > 0 {
			break
		}
	}
	if at == len(ids) {
		return false
	}
	copy(ids[at+1:], ids[at:])
	copy(cosines[at+1:], cosines[at:])
	ids[at], cosines[at] = id, cosine
	return true
}
