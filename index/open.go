package index

import (
	"cmp"
	"slices"

	"bitextmine/mine"
)

type neighbour struct {
	row, place int32
	cosine     float32
}

// openList appends the k nearest rows of distinct query q. The list of q holds the k nearest distinct rows, ordered by
// the place of their first row, so the k nearest rows are among the first k rows of each of these.
func (h *Half) openList(q int, to []neighbour) []neighbour {
	ids, cosines := h.List(q)
	for i, id := range ids {
		if id == mine.None {
			break
		}
		rows := h.Base.rows(int(id))
		for _, row := range rows[:min(len(rows), h.K)] {
			to = append(to, neighbour{row, h.Base.place(row), cosines[i]})
		}
	}
	slices.SortFunc(to, func(a, b neighbour) int {
		return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.place, b.place))
	})
	return to[:min(len(to), h.K)]
}
