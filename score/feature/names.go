package feature

import (
	"math"
	"slices"
)

// maxNames is the number of a sentence's names that are compared. Only headlines and lists have more.
const maxNames = 16

// minUnlike is the smallest 1 - best cosine of a name that may be missing from the other sentence. Names are
// translated by words that are less alike than that only if they are rare.
const minUnlike = 0.4

// names compares the names of two sentences. Its buffers are reused for each pair.
type names struct {
	missing [2][]int32 // names whose form the other sentence does not have
	vectors [2][]int16 // their vectors, one row after the other
	sum     []int32    // of a name's token vectors
	rows    []int32    // padded to a multiple of dotBlock
	dots    []int32
}

// compareNames sets names_conflict. A name that looks or sounds like a word of the other sentence has its counterpart
// there. Any other is compared with the other sentence's names and tokens by its vector, the sum of its tokens'.
func (m *coverage) compareNames(d *describer, v []float32) {
	m.names.missing[0] = missing(m.names.missing[0][:0], d.source, d.target, &m.a, &m.b)
	if len(m.names.missing[0]) == 0 {
		return
	}
	m.names.missing[1] = missing(m.names.missing[1][:0], d.target, d.source, &m.b, &m.a)
	if len(m.names.missing[1]) == 0 {
		return
	}
	table := d.source.table
	for side, s := range []*Side{d.source, d.target} {
		m.names.vectors[side] = m.names.vectors[side][:0]
		for _, name := range m.names.missing[side] {
			m.names.add(side, table, s.Names.Rows[name])
		}
	}
	unlike := min(m.names.unlike(0, table, m.b.tokens), m.names.unlike(1, table, m.a.tokens))
	if unlike > minUnlike {
		v[atNamesConflict] = (unlike - minUnlike) / (1 - minUnlike)
	}
}

// missing appends the names of a sentence whose form a sentence of the other side does not have.
func missing(list []int32, side, other *Side, one, with *loaded) []int32 {
	theirs := &with.surface
	for _, at := range one.names {
		name := &side.Names.All[at]
		_, word := slices.BinarySearch(theirs.Capitals, name.Hash)
		_, stem := slices.BinarySearch(theirs.Stems, name.Stem)
		sounds := slices.ContainsFunc(with.names, func(n int32) bool { return other.Names.All[n].Sound == name.Sound })
		if !word && !stem && !sounds && len(list) < maxNames {
			list = append(list, at)
		}
	}
	return list
}

// add appends the direction of the sum of rows of a table.
func (n *names) add(side int, table *TokenVectors, rows []int32) {
	if len(rows) == 1 {
		n.vectors[side] = append(n.vectors[side], table.row(rows[0])...)
		return
	}
	if n.sum == nil {
		n.sum = make([]int32, table.width)
	}
	sum := n.sum
	clear(sum)
	for _, row := range rows {
		for i, x := range table.row(row)[:len(sum)] {
			sum[i] += int32(x)
		}
	}
	squares := int64(0)
	for _, x := range sum {
		squares += int64(x) * int64(x)
	}
	scale := float32(0)
	if squares > 0 {
		scale = float32((tokenScale - math.Sqrt(float64(table.dim))/2) / math.Sqrt(float64(squares)))
	}
	at := len(n.vectors[side])
	n.vectors[side] = slices.Grow(n.vectors[side], len(sum))[:at+len(sum)]
	for i, x := range sum {
		n.vectors[side][at+i] = int16(float32(x) * scale) // towards zero, so that the length stays below tokenScale
	}
}

// unlike is the largest 1 - best cosine of a side's missing names, over the other side's missing names and its
// tokens.
func (n *names) unlike(side int, table *TokenVectors, tokens []int32) float32 {
	count, width := len(n.missing[side]), table.width
	others := make([]int32, 0, maxNames)
	for i := range n.missing[1-side] {
		others = append(others, int32(i))
	}
	smallest := int32(math.MaxInt32)
	for i := range count {
		name := n.vectors[side][i*width:][:width]
		best := max(n.best(name, table.values, tokens), n.best(name, n.vectors[1-side], others))
		smallest = min(smallest, best)
	}
	return min(1, 1-float32(smallest)/(tokenScale*tokenScale))
}

// best is the highest dot product of a vector with rows of a table.
func (n *names) best(vector, table []int16, rows []int32) int32 {
	best := int32(math.MinInt32)
	if len(rows) == 0 {
		return best
	}
	n.rows = append(n.rows[:0], rows...)
	for len(n.rows)%dotBlock != 0 {
		n.rows = append(n.rows, rows[0])
	}
	if len(n.dots) < len(n.rows) {
		n.dots = make([]int32, len(n.rows))
	}
	dots := n.dots[:len(n.rows)]
	dotRows(dots, dots, vector, vector, table, n.rows)
	return max(best, slices.Max(dots))
}
