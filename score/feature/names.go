package feature

import (
	"math"
	"slices"

	"bitextmine/corpus/surface"
)

// maxNames is the number of a sentence's names that are compared. Only headlines and lists have more.
const maxNames = 16

// minUnlike is the smallest 1 - best cosine of a name that may be missing from the other sentence. Names are
// translated by words that are less alike than that only if they are rare.
const minUnlike = 0.4

// soundScale makes what is unlike by sound comparable with 1 - cosine.
const soundScale = 1.6

// Name is a name as features compare it.
type Name struct {
	Hash, Stem uint32 // hashes of the whole word and of its first five letters
	Acronym    uint32 // hash of an acronym's letters; 0: the name is no acronym
	Sounds     []surface.Sound
}

// namesFound counts the names of one sentence and those found in the other.
type namesFound struct {
	all, found   int     // names, and those that look or sound like a word of the other sentence
	sum, largest float32 // sum and maximum of how unlike the others are
}

// mean is the mean over all names.
func (f namesFound) mean() float32 { return f.sum / float32(max(1, f.all)) }

// names compares the names of two sentences. Its buffers are reused for each pair.
type names struct {
	finder  surface.Finder
	heard   [][]surface.Sound // the sounds of the names that are looked up by them
	unlike  []float32         // what the finder says of each
	missing [2][]int32        // names whose form the other sentence does not have
	sounds  [2][]float32      // how unlike by sound they are to the word that is most like them
	vectors [2][]int16        // their vectors, one row after the other
	sum     []int32           // sum of a name's token vectors
	rows    []int32           // padded to a multiple of dotBlock
	dots    []int32
}

// compareNames measures the names. A name that looks or sounds like a word of the other sentence has its counterpart
// there. Any other is also compared with the other sentence's names and tokens by its vector, the sum of its tokens',
// where tokens have vectors that do not depend on the sentence.
func (m *coverage) compareNames(d *describer, p *pair) {
	n := &m.names
	p.names[source] = n.find(source, &m.a, &m.b)
	p.names[target] = n.find(target, &m.b, &m.a)
	table := d.source.table
	if table != nil && len(n.missing[source])+len(n.missing[target]) > 0 {
		for side, s := range []*Side{d.source, d.target} {
			n.vectors[side] = n.vectors[side][:0]
			for _, name := range n.missing[side] {
				_, ids := [2]*loaded{&m.a, &m.b}[side].list.Of(name)
				n.add(side, table, n.rowsOf(s, ids))
			}
		}
		n.compareTokens(source, table, m.b.tokens)
		n.compareTokens(target, table, m.a.tokens)
	}
	for side := range p.names {
		for _, unlike := range n.sounds[side] {
			if unlike > minUnlike {
				scaled := (unlike - minUnlike) / (1 - minUnlike)
				p.names[side].sum += scaled
				p.names[side].largest = max(p.names[side].largest, scaled)
			}
		}
	}
}

// find looks up the names of a sentence in one of the other side.
func (n *names) find(at int, one, with *loaded) (f namesFound) {
	n.missing[at], n.sounds[at], n.heard = n.missing[at][:0], n.sounds[at][:0], n.heard[:0]
	for _, place := range one.names[:min(len(one.names), maxNames)] {
		name, _ := one.list.Of(place)
		f.all++
		if with.surface.HasForm(name.Hash, name.Stem) || hasAcronym(&name, with) {
			f.found++
			continue
		}
		n.missing[at], n.heard = append(n.missing[at], place), append(n.heard, name.Sounds)
	}
	n.unlike = n.finder.Unlike(n.unlike[:0], n.heard, with.sounds)
	missing := n.missing[at][:0]
	for i, place := range n.missing[at] {
		if n.unlike[i] <= surface.MaxUnlike {
			f.found++
			continue
		}
		missing, n.sounds[at] = append(missing, place), append(n.sounds[at], min(1, soundScale*n.unlike[i]))
	}
	n.missing[at] = missing
	return f
}

// hasAcronym reports whether a sentence has an acronym of the name's letters.
func hasAcronym(name *Name, with *loaded) bool {
	return name.Acronym != 0 && slices.ContainsFunc(with.names, func(i int32) bool { return with.list.entries[i].acronym == name.Acronym })
}

// rowsOf returns the rows of a side's table that ids have. They are valid until the next call.
func (n *names) rowsOf(s *Side, ids []int32) []int32 {
	n.rows = n.rows[:0]
	for _, id := range ids {
		n.rows = append(n.rows, s.rows[id])
	}
	return n.rows
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

// compareTokens lowers how unlike a side's missing names are to 1 - the best cosine with the other side's missing names
// and its tokens.
func (n *names) compareTokens(side int, table *TokenVectors, tokens []int32) {
	width := table.width
	others := make([]int32, 0, maxNames)
	for i := range n.missing[1-side] {
		others = append(others, int32(i))
	}
	for i := range n.missing[side] {
		name := n.vectors[side][i*width:][:width]
		best := max(n.best(name, table.values, tokens), n.best(name, n.vectors[1-side], others))
		n.sounds[side][i] = min(n.sounds[side][i], 1-float32(best)/(tokenScale*tokenScale))
	}
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
