package mine

import (
	"errors"
	"iter"
	"slices"
)

// Scored finds the pairs that a scorer evaluates. These are the mutual neighbours (each sentence is among the other's
// K) and, of the pairs that Candidates returns, those whose cosine is above the means of both neighbourhoods without
// the pair itself. This leaves out eleven of twelve neighbour pairs. On the shared sets a scorer that evaluated all of
// them had the same best F1 to a tenth. It may be used concurrently.
type Scored struct {
	lists *Lists
	// The targets that propose a source, ascending: the first of each source, and of each target the next one that
	// proposes the same source. Both count from 1, so that 0 is none.
	first, next []int32
}

// ScoredCandidates returns all pairs that a scorer evaluates, by source, then target.
func (l *Lists) ScoredCandidates() []Candidate {
	s, _ := l.Scored(nil) // slices can always be made
	found := make([]Candidate, 0, l.Source.Len()+l.Target.Len())
	for x := range int32(l.Source.Len()) {
		found = s.Append(found, x)
	}
	return found
}

// Scored prepares the finding of pairs, source by source. What it has of each sentence is in room.
func (l *Lists) Scored(room Room) (*Scored, error) {
	s := &Scored{lists: l}
	var failed [2]error
	s.first, failed[0] = roomOr(room).Ints(l.Source.Len())
	s.next, failed[1] = roomOr(room).Ints(l.Target.Len())
	if err := errors.Join(failed[:]...); err != nil {
		return nil, err
	}
	for y := l.Target.Len() - 1; y >= 0; y-- {
		if x := l.proposal(l.Target, l.targetMeans, l.sourceMeans, y).partner; x != None {
			s.next[y], s.first[x] = s.first[x], int32(y)+1
		}
	}
	return s, nil
}

// proposing yields the targets that propose source x, ascending.
func (s *Scored) proposing(x int32) iter.Seq[int32] {
	return func(yield func(y int32) bool) {
		for at := s.first[x]; at != 0 && yield(at-1); at = s.next[at-1] {
		}
	}
}

// Append adds the pairs of source x by target: with the target that it proposes, with the neighbours that also have x
// in their lists, and with the targets that propose x.
func (s *Scored) Append(found []Candidate, x int32) []Candidate {
	l := s.lists
	best := l.proposal(l.Source, l.sourceMeans, l.targetMeans, int(x)).partner
	begin := len(found)
	ids, cosines := l.Source.Row(int(x))
	for j := 0; j < l.K && ids[j] != None; j++ {
		y := ids[j]
		c := l.ranked(x, y, cosines[j], uint8(j))
		c.Forward = y == best
		for proposing := range s.proposing(x) {
			c.Backward = c.Backward || proposing == y
		}
		if c.TargetRank != Unranked || c.Forward && l.standsOut(&c) {
			found = insertByTarget(found, begin, c)
		}
	}
	for y := range s.proposing(x) {
		if slices.Contains(ids[:l.K], y) {
			continue
		}
		at := rank(l.Target, l.K, y, x)
		_, cosines := l.Target.Row(int(y))
		if c := l.ranked(x, y, cosines[at], Unranked); l.standsOut(&c) {
			c.Backward = true
			found = insertByTarget(found, begin, c)
		}
	}
	return found
}

// standsOut reports whether a pair's cosine is above the means of both neighbourhoods without the pair.
func (l *Lists) standsOut(c *Candidate) bool {
	source, _ := Others(l.Source, l.K, c.Source, c.SourceRank)
	target, _ := Others(l.Target, l.K, c.Target, c.TargetRank)
	return Distance.Of(c.Cosine, source, target) > 0
}

// Others returns the mean and the maximum of the cosines of i's first k neighbours, without the neighbour at rank or,
// if rank is not among them, without the last. Both are 0 if there is no other neighbour.
func Others(nb Neighbours, k int, i int32, rank uint8) (mean, best float32) {
	ids, cosines := nb.Row(int(i))
	n := 0
	for n < k && ids[n] != None {
		n++
	}
	left := min(int(rank), n-1)
	sum := 0.0
	for j := range n {
		if j != left {
			sum += float64(cosines[j])
		}
	}
	switch {
	case n < 2:
		return 0, 0
	case left == 0:
		best = cosines[1]
	default:
		best = cosines[0]
	}
	return float32(sum / float64(n-1)), best
}

// Pair is a pair of sentences, whether a candidate or not, without its margin.
type Pair struct {
	Source, Target         int32
	SourceRank, TargetRank uint8 // ranks of the Candidate
}

// Pair is the candidate without its margin.
func (c *Candidate) Pair() Pair { return Pair{c.Source, c.Target, c.SourceRank, c.TargetRank} }

// Rivals returns the pairs of the scored candidates' sentences with their other K neighbours. A candidate's token
// coverage is compared with theirs. scored must be in the order of ScoredCandidates. What it has of each sentence is in
// room.
func (l *Lists) Rivals(room Room, scored []Candidate) (iter.Seq[Pair], error) {
	begins, err := roomOr(room).Ints(l.Source.Len() + 1) // first candidate of each source
	return func(yield func(Pair) bool) { l.rivals(begins, scored, yield) }, err
}

func (l *Lists) rivals(begins []int32, scored []Candidate, yield func(Pair) bool) {
	clear(begins)
	targets := newBits(l.Target.Len()) // those that have a candidate
	for i := range scored {
		begins[scored[i].Source+1]++
		targets.add(scored[i].Target)
	}
	for x := range l.Source.Len() {
		begins[x+1] += begins[x]
	}
	isScored := func(x, y int32) bool {
		return slices.ContainsFunc(scored[begins[x]:begins[x+1]], func(c Candidate) bool { return c.Target == y })
	}
	for x := range int32(l.Source.Len()) {
		if begins[x] == begins[x+1] {
			continue
		}
		ids, _ := l.Source.Row(int(x))
		for j, y := range ids[:l.K] {
			if y != None && !isScored(x, y) && !yield(Pair{x, y, uint8(j), rank(l.Target, l.K, y, x)}) {
				return
			}
		}
	}
	for y := range int32(l.Target.Len()) {
		if !targets.has(y) {
			continue
		}
		ids, _ := l.Target.Row(int(y))
		for j, x := range ids[:l.K] {
			if x == None || isScored(x, y) {
				continue
			}
			at := rank(l.Source, l.K, x, y)
			if at != Unranked && begins[x] < begins[x+1] {
				continue // already found from the source
			}
			if !yield(Pair{x, y, at, uint8(j)}) {
				return
			}
		}
	}
}

// insertByTarget sorts c into found[begin:], a few candidates in ascending order of target.
func insertByTarget(found []Candidate, begin int, c Candidate) []Candidate {
	at := len(found)
	found = append(found, c)
	for at > begin && found[at-1].Target > c.Target {
		found[at] = found[at-1]
		at--
	}
	found[at] = c
	return found
}
