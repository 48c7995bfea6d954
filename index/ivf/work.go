package ivf

import (
	"cmp"

	"bitextmine/index/approximate"
	"bitextmine/index/kernel"
)

// Work is the number of comparisons that a search makes, in pairs of exact search's: a cell of n x m rows takes Fixed +
// Row (n + m) + Pair n m. In a lopsided cell one of the few rows takes Few more than one of the many.
type Work struct{ Fixed, Row, Few, Pair float64 }

// Of is the number of comparisons of a cell of n x m rows.
func (w Work) Of(n, m int) float64 {
	return w.Fixed + w.Row*(float64(n)+float64(m)) + w.Few*float64(min(n, m)) + w.Pair*float64(n)*float64(m)
}

// Whole says whether a cell of n x m rows is compared whole, by an exact search, as lists would take longer or a side
// has too few rows for them. Results depend on it, so it is the same on every machine: products of whole numbers take
// three quarters of the time of others, which is between the kernels.
func Whole(lists string, nprobe, n, m int) bool {
	return divided(n, m) < MinRows(lists) ||
		float64(n)*float64(m) <= comparisons(lists, nprobe, Lopsided(n, m), 0.75).Of(n, m)
}

// divided is the number of rows of the smaller side, of a cell of n x m rows, that is divided into lists.
func divided(n, m int) int {
	if Lopsided(n, m) {
		return max(n, m)
	}
	return min(n, m)
}

// Comparisons returns the work of a search with so many lists, in digits. A row is compared with the centroids of its
// own side and, for its visits, with those of the other; both are trained; each visit compares it with a list; and the
// recall of a sample of rows is measured. In an uneven cell (Lopsided) the few rows visit for both sides, and the many
// have lists that earlier cells made.
func Comparisons(lists string, nprobe int, uneven bool) Work {
	return comparisons(lists, nprobe, uneven, kernel.Best.WholeTime())
}

func comparisons(lists string, nprobe int, uneven bool, whole float64) Work {
	n := MinRows(lists)
	nprobe = cmp.Or(nprobe, DefaultNProbe(n))
	l := float64(max(n, 1))
	if uneven {
		visits := float64((moreVisits + takers) * nprobe)
		return Work{
			Row:  whole*approximate.RecallRows + visitCost*float64(membersOf(n)) + lopsidedRowCost,
			Few:  whole*2*l + visitCost*visits,
			Pair: whole * float64(membersOf(n)) * visits / l,
		}
	}
	return Work{
		Fixed: whole * 2 * trainRows * trainRounds * l * l,
		Row:   whole*(2*l+approximate.RecallRows) + visitCost*float64(nprobe+membersOf(n)) + rowCost,
		Pair:  whole * 2 * float64(membersOf(n)*nprobe) / l,
	}
}

// visitCost is the time in comparisons of exact search in which a row is fetched and packed for a visit, or for a list
// that it is in, and its neighbour list is opened and closed. rowCost is what is done once for a row: copies are found,
// and its nearest are chosen of its proposals. Of embeddings of 512 values and kernel vnni a row took, besides
// products, 4,700 with 12 visits (100,000 rows of each side), 5,400 with 12 (300,000) and 4,900 with 6 (400,000, 1,024
// lists).
//
// In a lopsided cell rows took less: with 800 for each, eight cells of 10,000 x 250,000 rows and one of 40,000 x
// 1,000,000 (kernel avx2, 1,024 lists) come to about a tenth more than was measured.
const (
	visitCost       = 300
	rowCost         = 1500
	lopsidedRowCost = 800
)
