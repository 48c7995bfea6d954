// Package mine turns nearest neighbours into translation pairs. It is pure: no I/O, no cgo, and no imports from the
// rest of the program.
//
// Terms. A sentence is a row number of its side. Rows are in the order of their sentence keys, so breaking a tie by row
// number breaks it by key. The neighbours of a sentence are its k nearest rows of the other side by cosine. The margin
// of a pair compares its cosine with the neighbourhoods of both sentences (Artetxe & Schwenk 2019). A candidate is a
// pair that one of its two sentences proposes: a sentence proposes its neighbour with the highest margin. Retrieval
// chooses among the candidates.
package mine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Unranked is the rank of a partner that is not in a sentence's list.
const Unranked uint8 = 255

// Candidate is a pair that at least one of its two sentences proposes.
type Candidate struct {
	Source, Target         int32
	Score                  float32 // the margin
	Cosine                 float32
	SourceMean, TargetMean float32 // mean cosines of the neighbourhoods, A(x) and A(y)
	SourceRank             uint8   // the target's rank in the source's list, from 0, or Unranked
	TargetRank             uint8
	Forward, Backward      bool // proposed by the source, by the target
	Rejected               bool // rejected by a rule that ignores scores: matching leaves it out
}

// Compare orders candidates by score, best first, then by source and by target row, which is key order.
func (c Candidate) Compare(other Candidate) int {
	return cmp.Or(cmp.Compare(other.Score, c.Score), cmp.Compare(c.Source, other.Source),
		cmp.Compare(c.Target, other.Target))
}

// Lists is one mining problem: the neighbours of both sides, and the number of them that count.
type Lists struct {
	Source, Target Neighbours
	K              int // number of neighbours that count, at most the K of the lists
	Margin         Margin

	sourceMeans, targetMeans []float32
}

// Room gives lists of numbers, all zero, to what has some of each sentence: of a large corpus they are too many for
// memory. Nil makes slices.
type Room interface {
	Ints(n int) ([]int32, error)
	Floats(n int) ([]float32, error)
}

// heap is the Room that makes slices.
type heap struct{}

func (heap) Ints(n int) ([]int32, error)     { return make([]int32, n), nil }
func (heap) Floats(n int) ([]float32, error) { return make([]float32, n), nil }

func roomOr(room Room) Room {
	if room == nil {
		return heap{}
	}
	return room
}

// NewLists checks that the two sides fit together and computes the neighbourhood means.
func NewLists(source, target Neighbours, k int, margin Margin) (*Lists, error) {
	return NewListsIn(nil, source, target, k, margin)
}

// NewListsIn is NewLists with the means in a room.
func NewListsIn(room Room, source, target Neighbours, k int, margin Margin) (*Lists, error) {
	if k < 1 || k > source.K || k > target.K {
		return nil, fmt.Errorf("k = %d must be from 1 to the %d and %d neighbours found", k, source.K, target.K)
	}
	if k > int(Unranked) {
		return nil, fmt.Errorf("k = %d must be at most %d", k, Unranked)
	}
	if err := errors.Join(inRange(source, target.Len()), inRange(target, source.Len())); err != nil {
		return nil, err
	}
	l := &Lists{Source: source, Target: target, K: k, Margin: margin}
	var failed [2]error
	l.sourceMeans, failed[0] = means(room, source, k)
	l.targetMeans, failed[1] = means(room, target, k)
	return l, errors.Join(failed[:]...)
}

func inRange(nb Neighbours, n int) error {
	for i := range nb.Len() {
		ids, _ := nb.Row(i)
		for j, id := range ids {
			if id < None || int(id) >= n {
				return fmt.Errorf("neighbour %d of sentence %d is row %d, but the other side has %d rows", j, i, id, n)
			}
		}
	}
	return nil
}

// Candidates returns every pair that a sentence of either side proposes, each once, best first. A sentence proposes the
// neighbour with the highest margin, the first if several are equal (LASER's forward and backward bests).
func (l *Lists) Candidates() []Candidate {
	forward := l.proposals(l.Source, l.sourceMeans, l.targetMeans)
	backward := l.proposals(l.Target, l.targetMeans, l.sourceMeans)
	found := make([]Candidate, 0, len(forward)+len(backward))
	for x, p := range forward {
		if p.partner != None {
			c := l.Candidate(int32(x), p.partner, p.cosine)
			c.Forward, c.Backward = true, backward[p.partner].partner == int32(x)
			found = append(found, c)
		}
	}
	for y, p := range backward {
		if p.partner != None && forward[p.partner].partner != int32(y) {
			c := l.Candidate(p.partner, int32(y), p.cosine)
			c.Backward = true
			found = append(found, c)
		}
	}
	slices.SortFunc(found, Candidate.Compare)
	return found
}

type proposal struct {
	partner int32 // or None
	cosine  float32
}

// proposals returns every sentence's proposal.
func (l *Lists) proposals(nb Neighbours, own, other []float32) []proposal {
	best := make([]proposal, nb.Len())
	for i := range best {
		best[i] = l.proposal(nb, own, other, i)
	}
	return best
}

// proposal returns the one of sentence i's first K neighbours with the highest margin.
func (l *Lists) proposal(nb Neighbours, own, other []float32, i int) proposal {
	best, bestMargin := proposal{partner: None}, float32(0)
	ids, cosines := nb.Row(i)
	for j := 0; j < l.K && ids[j] != None; j++ {
		// The order of the two means does not matter: float64 addition commutes.
		margin := l.Margin.Of(cosines[j], own[i], other[ids[j]])
		if best.partner == None || margin > bestMargin {
			best, bestMargin = proposal{ids[j], cosines[j]}, margin
		}
	}
	return best
}

// Candidate returns any pair of this cosine as a candidate that neither sentence proposes.
func (l *Lists) Candidate(x, y int32, cosine float32) Candidate {
	return l.ranked(x, y, cosine, rank(l.Source, l.K, x, y))
}

// ranked is Candidate for a pair of which the target's rank in the source's list is known.
func (l *Lists) ranked(x, y int32, cosine float32, sourceRank uint8) Candidate {
	return Candidate{
		Source: x, Target: y,
		Score:  l.Margin.Of(cosine, l.sourceMeans[x], l.targetMeans[y]),
		Cosine: cosine, SourceMean: l.sourceMeans[x], TargetMean: l.targetMeans[y],
		SourceRank: sourceRank, TargetRank: rank(l.Target, l.K, y, x),
	}
}

// rank returns j's rank among i's first k neighbours, or Unranked.
func rank(nb Neighbours, k int, i, j int32) uint8 {
	ids, _ := nb.Row(int(i))
	if at := slices.Index(ids[:k], j); at >= 0 {
		return uint8(at)
	}
	return Unranked
}

// Margin is the way in which a pair's cosine is compared with b = (A(x) + A(y)) / 2. A is the mean of the cosines of a
// sentence's k nearest neighbours, including the candidate.
type Margin string

// The margins of Artetxe & Schwenk (2019), "Margin-based Parallel Corpus Mining with Multilingual Sentence Embeddings".
const (
	Ratio    Margin = "ratio"    // cos / b
	Distance Margin = "distance" // cos - b
	Absolute Margin = "absolute" // cos
)

// Margins lists every margin by name.
var Margins = []Margin{Ratio, Distance, Absolute}

// ParseMargin finds a margin by its name.
func ParseMargin(name string) (Margin, error) { return parse("margin", name, Margins) }

// Of returns the margin of a pair from its cosine and the means of its two neighbourhoods. A ratio with b = 0 is
// defined as 0, and a negative b divides as it is: -0.2 / -0.1 is 2, as in the reference program. A cosine of float16
// vectors may be 1.0001 and enters as it is.
func (m Margin) Of(cosine, sourceMean, targetMean float32) float32 {
	b := (float64(sourceMean) + float64(targetMean)) / 2
	switch m {
	case Distance:
		return float32(float64(cosine) - b)
	case Absolute:
		return cosine
	default:
		if b == 0 {
			return 0
		}
		return float32(float64(cosine) / b)
	}
}

// means returns, for every sentence, the mean of the cosines of its first k neighbours, or of all if it has fewer; 0 if
// it has none.
func means(room Room, nb Neighbours, k int) ([]float32, error) {
	all, err := roomOr(room).Floats(nb.Len())
	for i := range all {
		ids, cosines := nb.Row(i)
		sum, n := 0.0, 0
		for j := 0; j < min(k, nb.K) && ids[j] != None; j++ {
			sum += float64(cosines[j])
			n++
		}
		if n > 0 {
			all[i] = float32(sum / float64(n))
		}
	}
	return all, err
}

func parse[T ~string](what, name string, known []T) (T, error) {
	names := make([]string, len(known))
	for i, one := range known {
		if string(one) == name {
			return one, nil
		}
		names[i] = string(one)
	}
	return "", fmt.Errorf("%s %q is not known; choose one of %s", what, name, strings.Join(names, ", "))
}
