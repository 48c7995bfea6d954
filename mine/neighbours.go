package mine

import (
	"cmp"
	"slices"
)

// None fills the end of a list with fewer than k entries. Its cosine is zero and has no meaning.
const None int32 = -1

// Neighbours holds, for each of n sentences, its nearest sentences on the other side.
type Neighbours struct {
	K       int
	IDs     []int32   // [n, k] row of the other side, or None
	Cosines []float32 // [n, k] descending; equal cosines in ascending order of the sentence's key
}

// NewNeighbours returns lists for n sentences, filled with None.
func NewNeighbours(n, k int) Neighbours {
	nb, _ := NewNeighboursIn(nil, n, k) // slices can always be made
	return nb
}

// NewNeighboursIn is NewNeighbours in a room.
func NewNeighboursIn(room Room, n, k int) (nb Neighbours, err error) {
	nb.K = k
	if nb.IDs, err = roomOr(room).Ints(n * k); err != nil {
		return nb, err
	}
	for i := range nb.IDs {
		nb.IDs[i] = None
	}
	nb.Cosines, err = roomOr(room).Floats(n * k)
	return nb, err
}

// Len returns n.
func (nb Neighbours) Len() int {
	if nb.K == 0 {
		return 0
	}
	return len(nb.IDs) / nb.K
}

// Row returns sentence i's list.
func (nb Neighbours) Row(i int) ([]int32, []float32) {
	lo, hi := i*nb.K, (i+1)*nb.K
	return nb.IDs[lo:hi:hi], nb.Cosines[lo:hi:hi]
}

// Drop takes a neighbour out of the list of i, if it is there. Those behind it move up.
func (nb Neighbours) Drop(i int, id int32) {
	ids, cosines := nb.Row(i)
	at := slices.Index(ids, id)
	if at < 0 {
		return
	}
	last := len(ids) - 1
	copy(ids[at:], ids[at+1:])
	copy(cosines[at:], cosines[at+1:])
	ids[last], cosines[last] = None, 0
}

// Merger merges the lists that several cells found for the same sentences into one list of the best k for each
// sentence. The top k of a cell is exact and unique, so the merged top k is exact.
type Merger struct {
	lists Neighbours
}

// NewMerger returns a merger with n empty lists of k entries.
func NewMerger(n, k int) *Merger { return &Merger{NewNeighbours(n, k)} }

// NewMergerIn is NewMerger with the lists in a room.
func NewMergerIn(room Room, n, k int) (*Merger, error) {
	lists, err := NewNeighboursIn(room, n, k)
	return &Merger{lists}, err
}

// AddAll merges a cell's lists, of which there is one for each of the merger's, as Add does.
func (m *Merger) AddAll(cell Neighbours, partners []int32) {
	for row := range cell.Len() {
		m.add(cell, row, row, partners)
	}
}

// Add merges a cell's lists: list i belongs to sentence rows[i], and neighbour j of the cell is sentence partners[j] of
// the other side. Both number sentences in key order, and a number may occur twice: a sentence in several shards counts
// once. The order in which cells are added does not change the result.
func (m *Merger) Add(cell Neighbours, rows, partners []int32) {
	for i, row := range rows {
		m.add(cell, i, int(row), partners)
	}
}

// add merges list i of a cell into list row.
func (m *Merger) add(cell Neighbours, i, row int, partners []int32) {
	ids, cosines := cell.Row(i)
	for j, id := range ids {
		if id == None || !m.insert(row, partners[id], cosines[j]) {
			break // the rest of the list is worse
		}
	}
}

// Neighbours returns the merged lists. The merger must not be used afterwards.
func (m *Merger) Neighbours() Neighbours { return m.lists }

// insert adds a neighbour to a list at its rank. It reports whether the list had room for a neighbour as good as this
// one.
func (m *Merger) insert(row int, id int32, cosine float32) bool {
	ids, cosines := m.lists.Row(row)
	at := 0
	for ; at < len(ids) && ids[at] != None; at++ {
		if ids[at] == id {
			return true // it is known from another cell, with the same cosine
		}
		if cmp.Or(cmp.Compare(cosine, cosines[at]), cmp.Compare(ids[at], id)) > 0 {
			break
		}
	}
	if at == len(ids) {
		return false
	}
	copy(ids[at+1:], ids[at:])
	copy(cosines[at+1:], cosines[at:])
	ids[at], cosines[at] = id, cosine
	return true
}

// Retrieval is the way in which bitext is chosen among candidates.
type Retrieval string

// The retrieval modes of LASER's mine_bitexts and stopes.
const (
	Max       Retrieval = "max"       // best first, each sentence at most once
	Intersect Retrieval = "intersect" // proposed by both sentences; always one-to-one
	Union     Retrieval = "union"     // proposed by either sentence (stopes); not one-to-one
	Forward   Retrieval = "forward"   // proposed by the source sentence; a target may repeat
	Backward  Retrieval = "backward"  // proposed by the target sentence; a source may repeat
)

// Retrievals lists every retrieval mode by name.
var Retrievals = []Retrieval{Max, Intersect, Union, Forward, Backward}

// ParseRetrieval finds a retrieval mode by its name.
func ParseRetrieval(name string) (Retrieval, error) { return parse("retrieval", name, Retrievals) }

// Verdict says whether a candidate is in the bitext, and if not, why.
type Verdict uint8

// A candidate whose sentence was taken and whose score is too low counts as Taken.
const (
	Kept           Verdict = iota
	BelowThreshold         // the score is not above the threshold
	Taken                  // a better candidate has one of its sentences (max)
	NotProposed            // not proposed by the side or sides that this retrieval mode requires
	BelowFloor             // the margin is too low for the strong encoder to see the pair (two-stage mining)
	Rejected               // Candidate.Rejected
)

func (v Verdict) String() string {
	return [...]string{"kept", "below_threshold", "taken", "not_proposed", "below_floor", "rejected"}[v]
}

// Judge returns each candidate's verdict. candidates must be sorted best first, as Lists.Candidates returns them.
// sources and targets are the numbers of sentences of the two sides. With Max, a pair uses up both its sentences before
// the threshold is applied, as in LASER. A rejected pair uses up none.
func Judge(candidates []Candidate, sources, targets int, retrieval Retrieval, threshold float64) []Verdict {
	verdicts := make([]Verdict, len(candidates))
	sourceTaken, targetTaken := newBits(sources), newBits(targets)
	for i, c := range candidates {
		switch {
		case c.Rejected:
			verdicts[i] = Rejected
			continue
		case !retrieval.Asks(c):
			verdicts[i] = NotProposed
		case retrieval == Max && (sourceTaken.has(c.Source) || targetTaken.has(c.Target)):
			verdicts[i] = Taken
		case float64(c.Score) <= threshold:
			verdicts[i] = BelowThreshold
		}
		if verdicts[i] != Taken {
			sourceTaken.add(c.Source)
			targetTaken.add(c.Target)
		}
	}
	return verdicts
}

// bits is a set of sentences, a bit for each.
type bits []uint64

func newBits(n int) bits         { return make(bits, (n+63)/64) }
func (b bits) has(at int32) bool { return b[at>>6]>>(at&63)&1 != 0 }
func (b bits) add(at int32)      { b[at>>6] |= 1 << (at & 63) }

// Asks reports whether the sides that the mode requires proposed a candidate.
func (r Retrieval) Asks(c Candidate) bool {
	switch r {
	case Intersect:
		return c.Forward && c.Backward
	case Forward:
		return c.Forward
	case Backward:
		return c.Backward
	default:
		return true
	}
}

// Pairs returns the candidates in the bitext, best first.
func Pairs(candidates []Candidate, sources, targets int, retrieval Retrieval, threshold float64) []Candidate {
	kept := candidates[:0:0]
	for i, v := range Judge(candidates, sources, targets, retrieval, threshold) {
		if v == Kept {
			kept = append(kept, candidates[i])
		}
	}
	return kept
}

// NotRefined stands for the strong cosine of a pair that the strong encoder has not seen. No cosine is as low.
const NotRefined float32 = -2

// Refined are candidates of two-stage mining, best first: a fast encoder proposed them, and a strong one compared the
// sentences of those that are promising.
type Refined struct {
	Candidates []Candidate // Score is the product of margin and strong cosine; 0 where there is no strong cosine
	Cosines    []float32   // strong encoder's cosines, or NotRefined
}

// Refine multiplies the margins of candidates by their strong cosines and sorts them.
func Refine(candidates []Candidate, cosines []float32) Refined {
	type both struct {
		Candidate
		cosine float32
	}
	all := make([]both, len(candidates))
	for i, c := range candidates {
		c.Score *= cosines[i]
		if cosines[i] == NotRefined {
			c.Score = 0
		}
		all[i] = both{c, cosines[i]}
	}
	slices.SortFunc(all, func(a, b both) int { return a.Compare(b.Candidate) })
	r := Refined{make([]Candidate, len(all)), make([]float32, len(all))}
	for i, one := range all {
		r.Candidates[i], r.Cosines[i] = one.Candidate, one.cosine
	}
	return r
}

// Judge is the Judge of candidates that are all refined. One that is not, and whose sentences no better pair took, is
// BelowFloor.
func (r Refined) Judge(sources, targets int, retrieval Retrieval, threshold float64) []Verdict {
	verdicts := Judge(r.Candidates, sources, targets, retrieval, threshold)
	for i, v := range verdicts {
		if r.Cosines[i] == NotRefined && (v == Kept || v == BelowThreshold) {
			verdicts[i] = BelowFloor
		}
	}
	return verdicts
}
