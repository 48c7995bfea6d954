package mine

import "cmp"

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
