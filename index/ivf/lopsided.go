package ivf

import (
	"context"
	"math"
	"slices"

	"bitextmine/index"
	"bitextmine/index/kernel"
)

// A cell is lopsided if a side has fewer than 1/lopsided of the other's rows, as a night's new rows have beside the old
// ones. Then only the few rows visit lists, and more of them, and lists of the many rows take the few rows that are
// nearest to their centroids, too: it is for the many rows what their own visits are in other cells. So the many are
// neither compared with centroids nor packed for visits, which takes most of the time otherwise, and the few are not
// divided into lists.
const lopsided = 8

// moreVisits is how many times as many lists one of the few rows visits in a lopsided cell as in another, and takers
// how many times as many take it as it would visit elsewhere.
const (
	moreVisits = 4
	takers     = 2
)

// Lopsided says whether a cell of n x m rows is.
func Lopsided(n, m int) bool { return lopsided*min(n, m) < max(n, m) }

// smaller is the place of the side of a lopsided cell that has few rows; -1: the cell is not lopsided.
func smaller(cell *index.Cell) int {
	n, m := cell.Source.Len(), cell.Target.Len()
	switch {
	case !Lopsided(n, m):
		return -1
	case n < m:
		return 0
	}
	return 1
}

// ofSmaller makes the pass that of the few rows of a lopsided cell.
func (p *pass) ofSmaller() {
	sized := *p.searcher
	sized.opts.NProbe = min(moreVisits*p.opts.NProbe, p.searcher.lists)
	p.taken = min(takers*p.opts.NProbe, p.searcher.lists)
	p.searcher = &sized
}

// mostTaken bounds the number of rows that a list takes of those among which it chooses at a time, and choiceRows the
// number of these.
const (
	mostTaken  = 128
	choiceRows = 2048
)

// take lets every list take the nearest of some visitors, so that a row is taken by so many lists on average, and a
// list takes several times as many as its rows propose. It takes as many of each part of the visitors.
func (p *pass) take(ctx context.Context, v *visits) error {
	lists, centroids := p.searcher.lists, p.lists.centroids
	share := min(max(float64(p.taken)/float64(lists), 4*float64(p.visitors.K)/float64(len(v.rows))), 1)
	part := min(max(int(mostTaken/share), 1), choiceRows)
	all := between(0, lists)
	v.taken = make([][]int32, lists)
	for list := range v.taken {
		v.taken[list] = make([]int32, 0, int(share*float64(len(v.rows)))+len(v.rows)/part+1)
	}
	for lo := 0; lo < len(v.rows); lo += part {
		at := kernel.All(v.rows[lo:min(lo+part, len(v.rows))])
		n := min(int(math.Ceil(share*float64(at.Hi))), at.Hi, mostTaken)
		_, err := p.nearest(ctx, centroids, all, p.visitors.Queries.Kernel, at, n, math.Inf(1),
			func(first int, found near) {
				for i := range found.counts {
					ids, _ := found.of(i)
					v.taken[first+i] = append(v.taken[first+i], ids...)
				}
			})
		if err != nil {
			return err
		}
		p.progress.Add(float64(at.Hi) * float64(lists))
	}
	for list, rows := range v.taken {
		slices.Sort(rows)
		v.sizes[list] += int32(len(rows))
	}
	return nil
}

// withTaken appends to the visitors of each list from one on, which end where the room for them does not, the rows that
// it takes, and leaves each row once.
func (v *visits) withTaken(from int, start, ends, visitors []int32) []int32 {
	at := int32(0)
	for i := range len(start) - 1 {
		rows := visitors[start[i]:start[i+1]]
		copy(rows[ends[i]-start[i]:], v.taken[from+i])
		slices.Sort(rows)
		rows = slices.Compact(rows)
		start[i] = at
		at += int32(copy(visitors[at:], rows))
	}
	start[len(start)-1] = at
	return visitors[:at]
}

// visitedAgain compares some of the many rows once more, exactly, with the rows that visit the lists that they are in,
// for their lists of chosen. The lists of the others are not changed.
func (p *pass) visitedAgain(ctx context.Context, chosen, others *index.Half, rows []int32) error {
	wanted := make([]bool, chosen.Queries.Len())
	for _, row := range rows {
		wanted[row] = true
	}
	mirror := *p
	mirror.visitors, mirror.visited, mirror.exactly, mirror.longest = chosen, others, true, others.Queries.Len()
	return p.visit(ctx, &mirror, others.Queries.Len(), between, func(list int, visitors []int32) (base, queries []int32) {
		for _, row := range p.lists.rowsOf(list) {
			if wanted[row] {
				queries = append(queries, row)
			}
		}
		return visitors, queries
	})
}
