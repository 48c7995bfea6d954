package mine

import "slices"

// Contenders returns the pairs that a scorer decides between, by source, then target: those of which each sentence is among the
// other's K neighbours, and those that Candidates proposes, if their cosine is above the means of both neighbourhoods without
// the pair itself. The other pairs of a neighbour are eleven in twelve; on the shared sets a scorer that judged them all had the same
// best F1, to a tenth.
func (l *Lists) Contenders() []Candidate {
	forward := l.proposals(l.Source, l.sourceMeans, l.targetMeans)
	backward := l.proposals(l.Target, l.targetMeans, l.sourceMeans)
	// The targets whose best each source is, in ascending order.
	ends := make([]int, len(forward)+1)
	for _, p := range backward {
		if p.partner != None {
			ends[p.partner+1]++
		}
	}
	for x := range forward {
		ends[x+1] += ends[x]
	}
	named, at := make([]int32, ends[len(forward)]), append([]int(nil), ends...)
	for y, p := range backward {
		if p.partner != None {
			named[at[p.partner]] = int32(y)
			at[p.partner]++
		}
	}
	found := make([]Candidate, 0, len(forward)+len(backward))
	for x := range forward {
		found = l.contenders(found, int32(x), forward[x].partner, named[ends[x]:ends[x+1]], backward)
	}
	return found
}

// contenders adds x's pairs: the best of x, the neighbours that have x in their lists too, and the targets named, whose best is x.
func (l *Lists) contenders(found []Candidate, x, best int32, named []int32, backward []proposal) []Candidate {
	begin := len(found)
	ids, cosines := l.Source.Row(int(x))
	for j := 0; j < l.K && ids[j] != None; j++ {
		y := ids[j]
		c := l.candidate(x, y, cosines[j])
		c.Forward, c.Backward = y == best, backward[y].partner == x
		if c.TargetRank != Unranked || c.Forward && l.standsOut(&c) {
			found = insertByTarget(found, begin, c)
		}
	}
	for _, y := range named {
		if c := l.candidate(x, y, backward[y].cosine); c.SourceRank == Unranked && l.standsOut(&c) {
			c.Backward = true
			found = insertByTarget(found, begin, c)
		}
	}
	return found
}

// standsOut says whether a pair's cosine is above the means of both neighbourhoods without it.
func (l *Lists) standsOut(c *Candidate) bool {
	source, _ := rivals(l.Source, l.K, c.Source, c.SourceRank)
	target, _ := rivals(l.Target, l.K, c.Target, c.TargetRank)
	return Distance.Of(c.Cosine, source, target) > 0
}

// rivalsOf returns the pairs of the contenders' sentences with their other K neighbours, by their ranks alone: what a contender's
// coverage is set against. contenders are in Contenders' order.
func (l *Lists) rivalsOf(contenders []Candidate) []Candidate {
	begins := make([]int32, l.Source.Len()+1) // of a source's contenders
	targets := make([]bool, l.Target.Len())   // that have any
	for i := range contenders {
		begins[contenders[i].Source+1]++
		targets[contenders[i].Target] = true
	}
	for x := range l.Source.Len() {
		begins[x+1] += begins[x]
	}
	contends := func(x, y int32) bool {
		return slices.ContainsFunc(contenders[begins[x]:begins[x+1]], func(c Candidate) bool { return c.Target == y })
	}
	var found []Candidate
	for x := range int32(l.Source.Len()) {
		if begins[x] == begins[x+1] {
			continue
		}
		ids, _ := l.Source.Row(int(x))
		for j, y := range ids[:l.K] {
			if y != None && !contends(x, y) {
				found = append(found, Candidate{Source: x, Target: y, SourceRank: uint8(j), TargetRank: rank(l.Target, l.K, y, x)})
			}
		}
	}
	for y, there := range targets {
		if !there {
			continue
		}
		ids, _ := l.Target.Row(y)
		for j, x := range ids[:l.K] {
			if x == None || contends(x, int32(y)) {
				continue
			}
			at := rank(l.Source, l.K, x, int32(y))
			if at != Unranked && begins[x] < begins[x+1] {
				continue // found from the source
			}
			found = append(found, Candidate{Source: x, Target: int32(y), SourceRank: at, TargetRank: uint8(j)})
		}
	}
	return found
}

// insertByTarget keeps found[begin:], a few candidates, in ascending order of target.
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
