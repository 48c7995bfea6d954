package bead

import "math"

// linkTable holds the common weight of the sentence pairs of a piece near the places of a band. Distant pairs count as
// 0.
type linkTable struct {
	first []int       // first target sentence by source sentence
	rows  [][]float32 // common weight by source sentence
	mass  [2][]float32
}

func newLinkTable(l *links, source, target Span, b *band) *linkTable {
	t := &linkTable{first: make([]int, source.Count), rows: make([][]float32, source.Count)}
	t.mass = [2][]float32{l.mass[0][source.First:source.End()], l.mass[1][target.First:target.End()]}
	for i := range t.rows {
		from, to := max(b.first[i]-1, 0), min(b.last(i+1)+1, target.Count)
		t.first[i], t.rows[i] = from, make([]float32, to-from)
		for j := from; j < to; j++ {
			t.rows[i][j-from] = l.shared(source.First+i, target.First+j)
		}
	}
	return t
}

// sum returns the common weight of source sentences [i, iEnd) and target sentences [j, jEnd).
func (t *linkTable) sum(i, iEnd, j, jEnd int) (sum float32) {
	for i := max(i, 0); i < min(iEnd, len(t.rows)); i++ {
		row, first := t.rows[i], t.first[i]
		for k := max(j-first, 0); k < min(jEnd-first, len(row)); k++ {
			sum += row[k]
		}
	}
	return sum
}

// linkReach is the number of sentences beside a span whose links with the other span count against a bead.
const linkReach = 2

// smallLink is the common weight in a usual case: a number or a few letters.
const smallLink = 10

// leak returns the weight that the spans of a bead have in common with the sentences next to the other span, divided by
// the maximum possible. The bead has x source sentences before i and y target sentences before j.
func (t *linkTable) leak(i, x, j, y int) float32 {
	sum := t.sum(i-x, i, j-y-linkReach, j-y) + t.sum(i-x, i, j, j+linkReach) + t.sum(i-x-linkReach, i-x, j-y, j) +
		t.sum(i, i+linkReach, j-y, j)
	if sum == 0 {
		return 0
	}
	mass := [2]float32{smallLink, smallLink}
	for _, m := range t.mass[0][i-x : i] {
		mass[0] += m
	}
	for _, m := range t.mass[1][j-y : j] {
		mass[1] += m
	}
	return sum / float32(math.Sqrt(float64(mass[0]*mass[1])))
}

// crossing returns the common weight across either end of a bead, at most 1 for each end.
func (t *linkTable) crossing(i, x, j, y int) float32 {
	end := t.sum(i-1, i, j, j+1) + t.sum(i, i+1, j-1, j)
	begin := t.sum(i-x, i-x+1, j-y-1, j-y) + t.sum(i-x-1, i-x, j-y, j-y+1)
	return end/(end+smallLink) + begin/(begin+smallLink)
}
