package mine

import (
	"iter"
	"slices"
)

// Scored finds the pairs that a scorer evaluates. These are the mutual neighbours (each sentence is among the other's
// K) and, of the pairs that Candidates returns, those whose cosine is above the means of both neighbourhoods without
// the pair itself. This leaves out eleven of twelve neighbour pairs. On the shared sets a scorer that evaluated all of
// them had the same best F1 to a tenth. It may be used concurrently.
type Scored struct {
	lists     *Lists
	backward  []proposal
	proposing []int32 // targets that propose each source, ascending
	ends      []int32 // [sources + 1] ends of these
}

// ScoredCandidates returns all pairs that a scorer evaluates, by source, then target.
func (l *Lists) ScoredCandidates() []Candidate {
	s := l.Scored()
	found := make([]Candidate, 0, l.Source.Len()+l.Target.Len())
	for x := range int32(l.Source.Len()) {
		found = s.Append(found, x)
	}
	return found
}

// Scored prepares the finding of pairs, source by source.
func (l *Lists) Scored() *Scored {
	s := &Scored{lists: l, backward: l.proposals(l.Target, l.targetMeans, l.sourceMeans)}
	s.ends = make([]int32, l.Source.Len()+1)
	for _, p := range s.backward {
		if p.partner != None {
			s.ends[p.partner+1]++
		}
	}
	for x := range l.Source.Len() {
		s.ends[x+1] += s.ends[x]
	}
	s.proposing = make([]int32, s.ends[l.Source.Len()])
	at := slices.Clone(s.ends)
	for y, p := range s.backward {
		if p.partner != None {
			s.proposing[at[p.partner]] = int32(y)
			at[p.partner]++
		}
	}
	return s
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
		c.Forward, c.Backward = y == best, s.backward[y].partner == x
		if c.TargetRank != Unranked || c.Forward && l.standsOut(&c) {
			found = insertByTarget(found, begin, c)
		}
	}
	for _, y := range s.proposing[s.ends[x]:s.ends[x+1]] {
		if slices.Contains(ids[:l.K], y) {
			continue
		}
		if c := l.ranked(x, y, s.backward[y].cosine, Unranked); l.standsOut(&c) {
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

// Rivals yields the pairs of the scored candidates' sentences with their other K neighbours. A candidate's token
// coverage is compared with theirs. scored must be in the order of ScoredCandidates.
func (l *Lists) Rivals(scored []Candidate) iter.Seq[Pair] {
	return func(yield func(Pair) bool) { l.rivals(scored, yield) }
}

func (l *Lists) rivals(scored []Candidate, yield func(Pair) bool) {
	begins := make([]int32, l.Source.Len()+1) // first candidate of each source
	targets := make([]bool, l.Target.Len())   // targets that have a candidate
	for i := range scored {
		begins[scored[i].Source+1]++
		targets[scored[i].Target] = true
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
	for y, there := range targets {
		if !there {
			continue
		}
		ids, _ := l.Target.Row(y)
		for j, x := range ids[:l.K] {
			if x == None || isScored(x, int32(y)) {
				continue
			}
			at := rank(l.Source, l.K, x, int32(y))
			if at != Unranked && begins[x] < begins[x+1] {
				continue // already found from the source
			}
			if !yield(Pair{x, int32(y), at, uint8(j)}) {
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
