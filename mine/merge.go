package mine

import "cmp"

// Merger joins the lists that several cells found for the same sentences into one list each, of the best k. A cell's
// top-k is exact and unique, so the merged top-k is exact.
type Merger struct {
	lists Neighbours
}

// NewMerger starts with n empty lists of k places.
func NewMerger(n, k int) *Merger { return &Merger{NewNeighbours(n, k)} }

// Add joins a cell's lists: list i belongs to sentence rows[i], and a neighbour j of the cell is sentence partners[j]
// of the other side. Both number sentences in key order and may give the same number twice: a sentence that stands in
// several shards counts once. The order in which cells are added does not show.
func (m *Merger) Add(cell Neighbours, rows, partners []int32) {
	for i, row := range rows {
		ids, cosines := cell.Row(i)
		for j, id := range ids {
			if id == None || !m.insert(int(row), partners[id], cosines[j]) {
				break // the rest of the list is worse still
			}
		}
	}
}

// Neighbours returns the joined lists. The merger must not be used after.
func (m *Merger) Neighbours() Neighbours { return m.lists }

// insert puts a neighbour in its place and reports whether the list still had room for one as good.
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
