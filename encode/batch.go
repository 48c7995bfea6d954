package encode

import (
	"cmp"
	"slices"
)

// fewest is the least number of rows that the graph is given. ONNX Runtime drops axes of one element before it reduces, and
// then sums in another order: a batch of one would give other last bits than the same row in company. A row that is
// alone of its length is given twice.
const fewest = 2

// batch is some rows of a window, all of the same number of tokens, so that no row is padded for another's sake.
type batch struct {
	rows   []int32 // places in the window, at least fewest; a row may stand twice
	length int     // tokens of each
	size   int     // different rows
}

// batches groups a window's rows by token count and cuts the groups to at most budget tokens each (but at
// least two rows; or exactly one, given twice, if rows must be alone), longest first, so that the last batches to run are the short ones and the workers end together.
func batches(w *window, budget int, alone bool) []batch {
	n := len(w.texts)
	order, lengths := make([]int32, n), make([]int32, n)
	for i := range order {
		order[i], lengths[i] = int32(i), int32(len(w.tokens(i)))
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(lengths[b], lengths[a]), cmp.Compare(a, b))
	})
	var all []batch
	for lo := 0; lo < n; {
		l := lengths[order[lo]]
		end := min(n, lo+max(fewest, budget/int(l)))
		if alone {
			end = lo + 1
		}
		hi := lo + 1
		for hi < end && lengths[order[hi]] == l {
			hi++
		}
		rows := order[lo:hi]
		for len(rows) < fewest {
			rows = append(rows[:len(rows):len(rows)], rows[0])
		}
		all = append(all, batch{rows: rows, length: int(l), size: hi - lo})
		lo = hi
	}
	return all
}
