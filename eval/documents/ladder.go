// Package documents measures alignments of documents against gold standards, and makes documents whose gold is known.
//
// # Collections
//
// The package also makes collections of documents of which it is known which are translations of each other, and
// measures how many of them are found.
package documents

import "bitextmine/align/bead"

// Ladder is the beads of a pair of documents: the numbers of their sentences, counted from 0. Unlike those of package
// align/bead, a gold standard's need not follow each other.
type Ladder []Rung

// Rung is a bead of a ladder.
type Rung struct{ Source, Target []int }

// LadderOf makes a ladder of beads.
func LadderOf(beads []bead.Bead) Ladder {
	out := make(Ladder, len(beads))
	for i, b := range beads {
		out[i] = Rung{numbers(b.Source), numbers(b.Target)}
	}
	return out
}

func numbers(s bead.Span) []int {
	out := make([]int, s.Count)
	for i := range out {
		out[i] = s.First + i
	}
	return out
}
