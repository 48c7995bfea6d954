package encode

import (
	"cmp"
	"slices"

	"bitextmine/encode/session"
)

const minRows = session.MinRows

// batch is a set of rows of one window.
type batch struct {
	rows   []int32 // indices into the window, at least minRows; a row may occur twice
	length int     // tokens in each row; in the longest, for a table
	size   int     // distinct rows
}

// newBatch repeats the first of distinct rows where there are fewer than minRows.
func newBatch(rows []int32, length int) batch {
	b := batch{rows: rows, length: length, size: len(rows)}
	for len(b.rows) < minRows {
		b.rows = append(b.rows, b.rows[0])
	}
	return b
}

// batches groups a window's rows by token count, so that no row is padded, and cuts each group into batches of at
// most budget tokens and most rows (0: any number), but at least minRows rows. If single is set, every batch holds
// one row, given twice. Batches are sorted longest first, so the last ones to run are short and all workers finish
// at about the same time.
func batches(w *window, budget, most int, single bool) []batch {
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
		size := budget / int(l)
		if most > 0 {
			size = min(size, most)
		}
		end := min(n, lo+max(minRows, size))
		if single {
			end = lo + 1
		}
		hi := lo + 1
		for hi < end && lengths[order[hi]] == l {
			hi++
		}
		all = append(all, newBatch(order[lo:hi:hi], int(l)))
		lo = hi
	}
	return all
}

// tableRows is how many rows' sums a static encoder's graph takes at once.
const tableRows = 64

// inOrder cuts a window's rows into batches for a table's sums, which rows of any lengths may share.
func inOrder(w *window) []batch {
	var all []batch
	for lo := 0; lo < len(w.texts); lo += tableRows {
		var rows []int32
		longest := 0
		for row := lo; row < min(lo+tableRows, len(w.texts)); row++ {
			rows, longest = append(rows, int32(row)), max(longest, len(w.tokens(row)))
		}
		all = append(all, newBatch(rows, longest))
	}
	return all
}
